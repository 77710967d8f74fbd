// What a mail holds: files, pictures, long lines, newsletters, everything at once.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

import { same, test } from "./harness.mjs";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const attached = (data, filename, type, disposition = "attachment", contentId = undefined) => ({
  content: data.toString("base64"),
  filename,
  type,
  disposition,
  content_id: contentId,
});

const to = (b, rest) => ({ to: b.address("ann"), from: "from@sender.example", ...rest });

test("attachments keep name, type and every byte", async (b) => {
  const sent = {
    "notes.txt": ["text/plain", Buffer.from("Zeile eins\nZeile zwei – ü\n")],
    "latin.csv": ["text/csv", Buffer.from("größe;1\r\n", "latin1")],
    "every byte.bin": ["application/octet-stream", Buffer.from([...Array(256).keys()])],
    "größe 🎉.pdf": ["application/pdf", Buffer.concat([Buffer.from("%PDF-1.4\n"), randomBytes(2000)])],
    "one.dat": ["application/octet-stream", Buffer.from([0])],
    "page.html": ["text/html", Buffer.from("<script>alert(1)</script>\n")],
  };
  const attachments = Object.entries(sent).map(([name, [type, data]]) => attached(data, name, type));
  await b.send(to(b, { subject: "Files", text: "See the files.", attachments }));
  const copy = await b.only();
  const got = await copy.files();
  same(Object.keys(got).sort(), Object.keys(sent).sort());
  for (const [name, [type, data]] of Object.entries(sent)) {
    same(got[name].type, type, name);
    same(got[name].data, data, name);
  }
  same(copy.text, "See the files.", "text");
});

test("five megabytes of PDF and ten of picture arrive whole", async (b) => {
  const document = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(5 << 20)]);
  const picture = Buffer.concat([PNG, randomBytes(10 << 20)]);
  const attachments = [
    attached(document, "report.pdf", "application/pdf"),
    attached(picture, "photo.png", "image/png"),
  ];
  await b.send(to(b, { subject: "Large", text: "Two large files.", attachments }));
  const got = await (await b.only()).files();
  same(got["report.pdf"].data, document, "the PDF");
  same(got["photo.png"].data, picture, "the picture");
});

test("an inline picture is found by its content id", async (b) => {
  const html = '<p>Look: <img src="cid:logo-1" alt="logo"></p>';
  const attachments = [attached(PNG, "logo.png", "image/png", "inline", "logo-1")];
  await b.send(to(b, { subject: "Inline", html, attachments }));
  const copy = await b.only();
  const inline = await copy.files("Inline");
  same(Object.keys(inline), ["logo.png"]);
  same([inline["logo.png"].type, inline["logo.png"].cid], ["image/png", "logo-1"]);
  same(inline["logo.png"].data, PNG, "the picture");
  same(copy.message.Attachments, []);
  same(copy.html, html, "html");
  const shown = await (await b.inbox.get(`/view/${copy.id}.html`)).text();
  assert.match(shown, /src="\/api\/v1\/message\/\w+\/part\/[\d.]+"/);
});

test("a subject of 900 letters and lines of 5,000 with lone dots survive", async (b) => {
  const subject = "A rather long subject – mit Ümlaut 🎉 ".repeat(30).slice(0, 900).trim();
  const text = [".", "..", "x".repeat(5000), ".x", "", "From here", "ü".repeat(5000), "."].join("\n");
  const html = `<p>${"word ".repeat(1000)}</p>\n.\n<b>${"y".repeat(5000)}</b>`;
  await b.send(to(b, { subject, text, html }));
  const copy = await b.only();
  same(copy.subject, subject, "subject");
  same(copy.text.trimEnd(), text, "text");
  same(copy.html, html, "html");
});

/** A hundred kilobytes of nested tables with inline styles, as the tools of the field make. */
function newsletter() {
  const style = "font-family:Ubuntu,Helvetica,Arial,sans-serif;font-size:13px;line-height:1.5";
  const row = (n) =>
    '<!--[if mso | IE]><table align="center" border="0" style="width:600px;"><tr><td><![endif]-->' +
    '<div style="margin:0px auto;max-width:600px;"><table align="center" border="0" cellpadding="0" ' +
    'cellspacing="0" role="presentation" style="width:100%;"><tbody><tr>' +
    '<td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">' +
    `<div style="${style};text-align:left;color:#000000;">Story ${n}: grüße &amp; 花 ` +
    `<a href="https://news.example/story/${n}?utm_source=mail&amp;x=${n}">read on</a></div>` +
    "</td></tr></tbody></table></div><!--[if mso | IE]></td></tr></table><![endif]-->\n";
  const head =
    "<!doctype html><html><head><title>News</title><style>@media only screen and " +
    "(min-width:480px) { .mj-column-per-100 { width:100% !important; } }</style></head><body>\n";
  return `${head}${[...Array(170).keys()].map(row).join("")}</body></html>`;
}

test("a newsletter of 100 KB arrives to the letter", async (b) => {
  const html = newsletter();
  assert.ok(Buffer.byteLength(html) > 100_000);
  await b.send(to(b, { subject: "News", text: "Story 0: read on", html }));
  same((await b.only()).html, html, "html");
});

test("the kitchen sink: settings, headers, categories, further content", async (b) => {
  const id = await b.send(
    to(b, {
      cc: { name: "Some One", email: b.address("cc") },
      subject: "Kitchen sink",
      content: [
        { type: "text/plain", value: "Hello plain world!" },
        { type: "text/html", value: "<p>Hello HTML world!</p>" },
        { type: "text/calendar", value: "BEGIN:VCALENDAR\nEND:VCALENDAR" },
      ],
      attachments: [attached(Buffer.from("some text\n"), "some-attachment.txt", "text/plain")],
      headers: { "X-Test1": "test1", "X-CustomHeader": "wert ä" },
      categories: ["transactional", "sale & more"],
      customArgs: { user_id: "343", batch: "3" },
      mailSettings: {
        footer: { enable: true, text: "the text footer", html: "<p>the HTML footer</p>" },
      },
      trackingSettings: {
        clickTracking: { enable: false, enableText: false },
        openTracking: { enable: false },
      },
    }),
  );
  const copies = await b.copies(2);
  for (const copy of Object.values(copies)) {
    same(copy.people("Cc"), [["Some One", b.address("cc")]]);
    same(copy.headers["X-Test1"], ["test1"]);
    assert.match(copy.text, /^Hello plain world![^]*the text footer\s*$/);
    assert.match(copy.html, /^<p>Hello HTML world!<\/p>[^]*<p>the HTML footer<\/p>/);
    const calendar = copy.message.Inline.filter(({ ContentType }) => ContentType === "text/calendar");
    same(calendar.length, 1);
    const body = (await copy.part(calendar[0].PartID)).toString().replaceAll("\r\n", "\n");
    same(body.trimEnd(), "BEGIN:VCALENDAR\nEND:VCALENDAR", "calendar");
    same((await copy.files())["some-attachment.txt"].data, Buffer.from("some text\n"), "file");
    const raw = await (await b.inbox.get(`/api/v1/message/${copy.id}/raw`)).text();
    assert.ok(!raw.includes("user_id") && !raw.includes("transactional"));
    assert.ok(raw.includes(id));
  }
});
