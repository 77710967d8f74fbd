// The editor of a template: what the renderer makes of what is written, and a test mail of it.

/** Time after the last key before a preview. */
const PAUSE = 500;

function startEditor(form) {
  const { template, version, generation } = form.dataset;
  const isDynamic = generation === "dynamic";
  const path = `/v3/templates/${template}/versions/${version}`;
  const field = (name) => form.elements[name];
  const place = (name) => doc.querySelector(`[data-preview=${name}]`);
  const problem = doc.getElementById("preview-problem");
  let latest = 0;
  let seen = null;
  let stored = null;

  const texts = () => {
    const { name, version_id, test_data, ...change } = membersOf(form);
    return change;
  };

  /** The data of the form. */
  function data() {
    let read;
    try {
      read = JSON.parse(field(isDynamic ? "test_data" : "substitutions").value || "{}");
    } catch (error) {
      throw new Error(WORDS.json(error.message));
    }
    if (typeof read !== "object" || !read || Array.isArray(read)) throw new Error(WORDS.json(WORDS.notAnObject));
    return read;
  }

  /** The members of a mail that stand beside its template. */
  const mail = () => (isDynamic ? {} : {
    subject: field("mail_subject").value,
    content: [{ type: "text/html", value: field("mail_text").value || " " }],
  });

  /** The frame gets its content by a form, and is another each time, so that it makes no entries in the history. */
  function showHtml(request, html) {
    const before = place("html").firstElementChild;
    if (html === null) {
      const none = doc.createElement("p");
      none.className = "none";
      none.textContent = WORDS.noHtml;
      place("html").replaceChildren(none);
      return;
    }
    const frame = doc.createElement("iframe");
    frame.className = "mail";
    frame.title = WORDS.frame;
    frame.setAttribute("sandbox", "");
    frame.name = `preview-${latest}`;
    const post = doc.createElement("form");
    Object.assign(post, { method: "post", action: "/console/template-part", target: frame.name, hidden: true });
    for (const [name, value] of Object.entries({ template, version, preview: JSON.stringify(request) })) {
      const input = doc.createElement("textarea");
      Object.assign(input, { name, value });
      post.append(input);
    }
    frame.hidden = true;
    place("html").append(frame);
    frame.addEventListener("load", () => {
      frame.hidden = false;
      before?.remove();
    });
    doc.body.append(post);
    post.submit();
    post.remove();
  }

  async function preview() {
    latest += 1;
    const own = latest;
    try {
      const given = data();
      const request = { version: texts(), ...(isDynamic ? { dynamic_template_data: given } : { substitutions: given, ...mail() }) };
      const answer = await callApi("POST", `${path}/preview`, request);
      if (own !== latest) return;
      seen = answer;
      place("subject").textContent = answer.subject ?? "";
      place("plain").textContent = answer.plain_content ?? "";
      place("missing").hidden = !answer.missing.length;
      place("missing").textContent = WORDS.lacking + answer.missing.join(", ");
      showHtml(request, answer.html_content);
      doc.getElementById("preview").hidden = false;
      problem.hidden = true;
    } catch (error) {
      if (own !== latest) return;
      seen = null;
      problem.textContent = error.message;
      problem.hidden = false;
    }
  }

  /** The mail: by the template, where mails get what is written; or else with the texts of the preview. */
  async function sendTest(test) {
    await preview();
    if (!seen) throw new Error(problem.textContent);
    const person = { to: [{ email: test.elements.to.value }] };
    const body = { from: { email: test.elements.from.value }, personalizations: [person] };
    if ("active" in form.dataset && JSON.stringify(texts()) === stored) {
      Object.assign(body, mail(), { template_id: template });
      person[isDynamic ? "dynamic_template_data" : "substitutions"] = data();
    } else {
      const parts = { "text/plain": seen.plain_content, "text/html": seen.html_content };
      body.subject = seen.subject || " ";
      body.content = Object.entries(parts).filter(([, value]) => value).map(([type, value]) => ({ type, value }));
      // The preview has the footer already.
      body.mail_settings = { footer: { enable: false } };
    }
    await callApi("POST", "/v3/mail/send", body);
  }

  async function load() {
    const whole = await callApi("GET", path);
    for (const name of ["html_content", "plain_content", "test_data"]) {
      if (field(name) && !(name === "plain_content" && "madePlain" in form.dataset)) field(name).value = whole[name] ?? "";
    }
  }

  let timer;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(preview, PAUSE);
  });
  doc.getElementById("test-mail")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const test = event.target;
    const done = test.querySelector("[data-done]");
    done.hidden = true;
    run(test.querySelector("button"), test, async () => {
      await sendTest(test);
      done.hidden = false;
    });
  });
  const ready = "load" in form.dataset ? load() : Promise.resolve();
  ready.then(() => {
    stored = JSON.stringify(texts());
    if (!isDynamic || "load" in form.dataset) preview();
  }, (error) => { statusOf(form).textContent = error.message; });
}

const editorForm = doc.getElementById("editor");
if (editorForm) startEditor(editorForm);
