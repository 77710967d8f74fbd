// Pages are complete without this file. With it, forms change things by calls of the API, times are local, and what is
// shown once can be copied.
//
// Attributes of a form that calls:
//   data-call="METHOD /path/{field}"  the call; {field} is the value of that field, percent-encoded
//   data-then="reload"                what follows: "reload" (when left out), "show", "file" (the download that the answer
//                                     leads to), or an address of a page,
//                                     in which {member} is one of the answer; of a button, for its own call
//   data-each="name"                  one call for each checked box of this name, with its value as {name}
//   data-chosen="name"                a box of this name is to be checked
//   data-show="id"                    with "show": the element that appears, whose [data-of=member] get the answer's;
//                                     "a.b" is a member of a member; the form disappears, unless it has data-keep
// Of a field: data-as="list" (lines, or all checked boxes of its name; with data-item="member" each line is an object with
// that member), "number", "flag", "time" (seconds since 1970 of a local time) or "none" (it is not sent). An empty field is
// left out, unless it has data-empty. A button with data-call and data-leave-out makes another call of its form. Of a radio button: data-check="a b" checks these
// boxes of the form, data-leave-out="name" leaves that field out. data-chooses="id": a change in there chooses that button.
// Elsewhere: data-copy="id" copies the text of an element; data-all="name" checks all boxes of a name.
"use strict";

const doc = document;
const all = (selector, root = doc) => [...root.querySelectorAll(selector)];

/** The value of one field, as the API expects it. */
function valueOf(field) {
  switch (field.dataset.as) {
    case "list": {
      const items = field.value.split(/[\s,;]+/).filter(Boolean);
      const { item } = field.dataset;
      return item ? items.map((value) => ({ [item]: value })) : items;
    }
    case "number": return Number(field.value);
    case "flag": return field.checked;
    case "time": return Math.floor(new Date(field.value).getTime() / 1000);
    default: return field.value;
  }
}

/** The members of a form, without the names that it or this button leaves out. */
function membersOf(form, button) {
  const members = {};
  const checked = all("[data-leave-out]:checked", form);
  const out = new Set(checked.map((field) => field.dataset.leaveOut));
  out.add(button?.dataset.leaveOut);
  for (const field of form.elements) {
    const { name, type, dataset } = field;
    if (!name || field.disabled || dataset.as === "none" || out.has(name) || field.tagName === "BUTTON") continue;
    if (type === "checkbox" && dataset.as === "list") {
      members[name] ??= [];
      if (field.checked) members[name].push(field.value);
    } else if (type === "radio" || (type === "checkbox" && dataset.as !== "flag")) {
      if (field.checked) members[name] = valueOf(field);
    } else if (field.value !== "" || dataset.as === "flag" || "empty" in dataset) {
      members[name] = valueOf(field);
    }
  }
  return members;
}

/** Where a form says what became of it. */
function statusOf(form) {
  let status = form.querySelector("[role=alert]");
  if (!status) {
    status = doc.createElement("p");
    status.className = "notice bad";
    status.setAttribute("role", "alert");
    form.append(status);
  }
  return status;
}

function show(form, answer) {
  const shown = doc.getElementById(form.dataset.show);
  for (const place of all("[data-of]", shown)) {
    const value = place.dataset.of.split(".").reduce((at, name) => at?.[name], answer) ?? "";
    place.textContent = typeof value === "object" ? JSON.stringify(value, null, 2) : value;
    if (typeof value !== "boolean") continue;
    place.textContent = value ? WORDS.valid : WORDS.notValid;
    place.className = value ? "pill good" : "pill warn";
  }
  shown.hidden = false;
  form.hidden = !("keep" in form.dataset);
  shown.tabIndex = -1;
  shown.focus();
}

/** Calls the API. What it refuses is an error with its status, its single errors, and the seconds to wait. */
async function callApi(method, path, members = {}) {
  const options = { method, headers: { "x-posthaste-console": "1" }, credentials: "same-origin" };
  const { acting } = doc.body.dataset;
  if (acting) options.headers["on-behalf-of"] = acting;
  if (Object.keys(members).length || !["GET", "DELETE"].includes(method)) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(members);
  }
  const answer = await fetch(path, options);
  const text = await answer.text();
  const body = text && answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : {};
  if (answer.status === 401) location.reload();
  if (!answer.ok) {
    const errors = body.errors ?? [{ message: `${answer.status} ${answer.statusText}` }];
    const lines = errors.map(({ field, message }) => (field ? `${field}: ${message}` : message));
    const wait = Number(answer.headers.get("retry-after"));
    throw Object.assign(new Error(lines.join("\n")), { status: answer.status, errors, wait });
  }
  body.location = answer.headers.get("location");
  // The address of a page may be another one than that of the service.
  const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link"))?.[1];
  if (Array.isArray(body) && next) body.next = next.replace(/^\w+:\/\/[^/]+/, "");
  return body;
}

/** Makes a call of a form: the fields that its path names are no members of the body. */
function callForm(method, pattern, members) {
  const rest = { ...members };
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => {
    delete rest[name];
    return encodeURIComponent(members[name] ?? "");
  });
  return callApi(method, path, rest);
}

/** Calls the API for a form, once or for each checked box. */
async function send(form, button) {
  const [method, pattern] = (button?.dataset.call ?? form.dataset.call).split(" ");
  const members = membersOf(form, button);
  const { each, chosen, then } = form.dataset;
  const values = members[each ?? chosen];
  if ((each || chosen) && !values?.length) throw new Error(WORDS.choose);
  if (!each) {
    const answer = await callForm(method, pattern, members);
    return then === "file" && answer.location ? callApi("GET", answer.location) : answer;
  }
  const failed = [];
  for (const value of new Set(values)) {
    try {
      await callForm(method, pattern, { ...members, [each]: value });
    } catch (error) {
      failed.push(`${value}: ${error.message}`);
    }
  }
  if (failed.length) throw new Error([WORDS.failed(values.length - failed.length), ...failed].join("\n"));
  return {};
}

doc.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.call) return;
  event.preventDefault();
  const buttons = all("button", form);
  for (const button of buttons) button.disabled = true;
  form.querySelector("[role=alert]")?.remove();
  try {
    const answer = await send(form, event.submitter);
    const then = event.submitter?.dataset.then ?? form.dataset.then ?? "reload";
    if (then === "show") show(form, answer);
    else if (then === "file") location.assign(answer.presigned_url);
    else if (then === "reload") location.reload();
    else location.assign(then.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(answer[name])));
  } catch (error) {
    statusOf(form).textContent = error.message;
  }
  for (const button of buttons) button.disabled = false;
});

doc.addEventListener("change", ({ target }) => {
  for (const box of all(`input[name="${target.dataset.all}"]`, target.form ?? doc)) box.checked = target.checked;
  const chosen = target.closest("[data-chooses]")?.dataset.chooses;
  if (chosen) doc.getElementById(chosen).checked = true;
  const wanted = target.dataset.check?.split(" ");
  if (!wanted) return;
  for (const box of all("input[type=checkbox][data-as=list]", target.form)) box.checked = wanted.includes(box.value);
});

doc.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(doc.getElementById(button.dataset.copy).textContent);
    button.textContent = WORDS.copied;
  } catch {
    // Without permission the text is selected, to be copied by hand.
    getSelection().selectAllChildren(doc.getElementById(button.dataset.copy));
    button.textContent = WORDS.selected;
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});

for (const field of all("[data-needs-script]")) field.disabled = false;
localTimes(doc);
