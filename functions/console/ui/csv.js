// Lists as files, out and in.
//
//   button data-export="/v3/path"     downloads all entries of a list; data-columns names their members, data-file the file
//   button data-table="id"            downloads the table of this id as it stands, as data-file
//   form data-import="/v3/path"       posts the addresses of its file in batches; what was not taken is in the element
//                                     data-report names
//
// A file is read here and its addresses are judged by the API alone.

const LARGEST_FILE = 10 * 1024 * 1024;
const MOST_LINES = 100_000;
/** Addresses of one call. The API takes 1,000, but a gateway waits 30 seconds for what each of them writes. */
const BATCH = 200;
/** Entries of one answer. */
const PAGE = 500;
const MOST_ENTRIES = 1_000_000;
/** Lines that the page shows; the file has all. */
const MOST_SHOWN = 200;
const ATTEMPTS = 4;
const HEADINGS = ["email", "e-mail", "email address", "email_address", "recipient_email", "address"];

/** A cell. A spreadsheet runs what begins like a formula: an apostrophe before it makes it text. */
function cell(value) {
  const text = String(value ?? "");
  const isFormula = /^[=+\-@\t\r\n]/.test(text);
  if (!isFormula && !/["',;\r\n\t]/.test(text)) return text;
  return `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

function download(name, lines) {
  const link = doc.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Calls the API, and again after a throttle or a failure that passes. */
async function callPatiently(...call) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callApi(...call);
    } catch (error) {
      const passes = error.status === 429 || error.status >= 500 || error instanceof TypeError;
      if (!passes || attempt === ATTEMPTS) throw error;
      const seconds = Math.min(Math.max(error.wait || attempt, 1), 60);
      await new Promise((done) => { setTimeout(done, seconds * 1000); });
    }
  }
}

/** All entries of a list, latest first. Each page begins behind the last entry of the one before, so that each costs the
 *  same, and what comes or goes meanwhile moves none. */
async function* entriesOf(path) {
  let next = `${path}?limit=${PAGE}&after=`;
  while (next) {
    const page = await callPatiently("GET", next);
    yield page;
    next = page.next;
  }
}

async function exportList(button, status) {
  const columns = button.dataset.columns.split(" ");
  const lines = [`${columns.join(",")}\r\n`];
  const value = (entry, name) => (name === "created" ? new Date(entry.created * 1000).toISOString() : entry[name]);
  for await (const page of entriesOf(button.dataset.export)) {
    for (const entry of page) {
      const cells = typeof entry === "string" ? [entry] : columns.map((name) => value(entry, name));
      lines.push(`${cells.map(cell).join(",")}\r\n`);
    }
    status.textContent = WORDS.entries(lines.length - 1);
    if (lines.length > MOST_ENTRIES) throw new Error(WORDS.tooMany);
  }
  download(button.dataset.file, lines);
}

/** The rows of a file (RFC 4180), each with its line; cells are separated as they are in its first line. */
function rowsOf(text) {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [";", "\t"].find((one) => head.includes(one) && !head.includes(",")) ?? ",";
  const rows = [];
  let row = { line: 1, cells: [] };
  let line = 1;
  let at = 0;
  while (at <= text.length) {
    let value;
    if (text[at] === '"') {
      const parts = [];
      let from = at + 1;
      for (;;) {
        const end = text.indexOf('"', from);
        if (end < 0) throw new Error(WORDS.quote(row.line));
        parts.push(text.slice(from, end));
        at = end + 1;
        if (text[at] !== '"') break;
        parts.push('"');
        from = at + 1;
      }
      value = parts.join("");
      line += value.split("\n").length - 1;
    } else {
      value = "";
    }
    const from = at;
    while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at += 1;
    row.cells.push(value + text.slice(from, at));
    if (text[at] === separator) {
      at += 1;
      continue;
    }
    if (row.cells.some((one) => one.trim())) rows.push(row);
    // One more for the headings.
    if (rows.length > MOST_LINES + 1) throw new Error(WORDS.long);
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    line += 1;
    row = { line, cells: [] };
  }
  return rows;
}

/** The addresses of a file: each once with its line, how many repeat others, and the lines without one. */
function addressesOf(text) {
  const rows = rowsOf(text);
  if (!rows.length) throw new Error(WORDS.empty);
  const first = rows[0].cells.map((one) => one.trim().toLowerCase());
  let column = first.findIndex((one) => HEADINGS.includes(one));
  if (column >= 0) rows.shift();
  else column = first.findIndex((one) => one.includes("@"));
  if (column < 0) throw new Error(WORDS.none);
  if (rows.length > MOST_LINES) throw new Error(WORDS.long);
  const found = { addresses: [], repeats: 0, refused: [] };
  const seen = new Set();
  for (const { line, cells } of rows) {
    // Without the apostrophe that a file of this page has before what would be a formula.
    const email = (cells[column] ?? "").trim().replace(/^'(?=[=+\-@])/, "");
    const folded = email.toLowerCase();
    if (!email) found.refused.push({ line, email, reason: WORDS.noAddress });
    else if (seen.has(folded)) found.repeats += 1;
    else found.addresses.push({ line, email });
    seen.add(folded);
  }
  if (!found.addresses.length && !found.refused.length) throw new Error(WORDS.empty);
  return found;
}

/** Posts one batch, without what the API refuses of it. What was refused, with reasons. */
async function postBatch(path, rows) {
  const refused = [];
  let rest = rows;
  while (rest.length) {
    try {
      await callPatiently("POST", path, { recipient_emails: rest.map(({ email }) => email) });
      return refused;
    } catch (error) {
      const reasons = new Map();
      for (const { field, message } of error.errors ?? []) {
        const place = /^recipient_emails\.(\d+)$/.exec(field ?? "");
        if (place) reasons.set(Number(place[1]), message);
      }
      if (error.status !== 400 || !reasons.size) throw error;
      rest.forEach((row, i) => { if (reasons.has(i)) refused.push({ ...row, reason: reasons.get(i) }); });
      rest = rest.filter((_, i) => !reasons.has(i));
    }
  }
  return refused;
}

async function importFile(form, status) {
  const file = form.elements.file.files[0];
  if (file.size > LARGEST_FILE) throw new Error(WORDS.large);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(WORDS.encoding);
  }
  const { addresses, repeats, refused } = addressesOf(text);
  let taken = 0;
  for (let at = 0; at < addresses.length; at += BATCH) {
    const rows = addresses.slice(at, at + BATCH);
    status.textContent = WORDS.progress(at, addresses.length);
    try {
      const left = await postBatch(form.dataset.import, rows);
      taken += rows.length - left.length;
      refused.push(...left);
    } catch (error) {
      // What fails for a whole batch fails for the next, too.
      for (const row of addresses.slice(at)) refused.push({ ...row, reason: WORDS.notSent(error.message) });
      break;
    }
  }
  refused.sort((a, b) => a.line - b.line);
  return { taken, repeats, refused };
}

function report(form, { taken, repeats, refused }) {
  const shown = doc.getElementById(form.dataset.report);
  const part = (name) => shown.querySelector(`[data-report-of=${name}]`);
  part("summary").textContent = WORDS.summary(taken, repeats, refused.length, MOST_SHOWN);
  part("refused").hidden = !refused.length;
  const rows = refused.slice(0, MOST_SHOWN).map(({ line, email, reason }) => {
    const row = doc.createElement("tr");
    for (const value of [line, email, reason]) row.insertCell().textContent = value;
    row.cells[0].className = "n";
    return row;
  });
  part("refused").querySelector("tbody").replaceChildren(...rows);
  part("file").onclick = () => download("not-taken.csv", [
    "line,email,reason\r\n",
    ...refused.map(({ line, email, reason }) => `${[line, email, reason].map(cell).join(",")}\r\n`),
  ]);
  shown.hidden = false;
  shown.focus();
}

/** Runs what takes a while: the button waits, its progress is shown beside it, and so is what fails. */
async function run(button, place, work) {
  const status = place.querySelector("[role=status]");
  button.disabled = true;
  place.querySelector("[role=alert]")?.remove();
  try {
    await work(status);
  } catch (error) {
    statusOf(place).textContent = error.message;
  }
  status.textContent = "";
  button.disabled = false;
}

/** A table's rows, without its cells of pictures. */
function tableLines(table) {
  const cells = (row) => [...row.cells].filter((one) => !one.classList.contains("bar-of"));
  return [...table.rows].map((row) => `${cells(row).map((one) => cell(one.textContent.trim())).join(",")}\r\n`);
}

doc.addEventListener("click", ({ target }) => {
  const table = target.closest?.("[data-table]");
  if (table) download(table.dataset.file, tableLines(doc.getElementById(table.dataset.table)));
  const button = target.closest?.("[data-export]");
  if (button) run(button, button.parentElement, (status) => exportList(button, status));
});

doc.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.import) return;
  event.preventDefault();
  run(form.querySelector("button"), form, async (status) => report(form, await importFile(form, status)));
});
