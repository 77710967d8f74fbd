// `@sendgrid/inbound-mail-parser` on the posts of a running host: `--api`, `--key`, `--smtp-host`,
// `--smtp-port`.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import Parse from "@sendgrid/inbound-mail-parser";
import nodemailer from "nodemailer";

const RAW = [
  "From: Ann <ann@sender.example>",
  "To: box@in.node.example",
  "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
  "References: <first@sender.example>",
  " <second@sender.example>",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="b1"',
  "",
  "--b1",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Hello",
  "--b1",
  "Content-Type: application/octet-stream",
  'Content-Disposition: attachment; filename="list.bin"',
  "Content-Transfer-Encoding: base64",
  "",
  "AAEC",
  "--b1--",
  "",
].join("\r\n");

const { values: options } = parseArgs({
  options: {
    api: { type: "string" },
    key: { type: "string" },
    mailbox: { type: "string" },
    "smtp-host": { type: "string" },
    "smtp-port": { type: "string" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "posthaste-parser-"));

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${options.key}`, "content-type": "application/json" };
  const answer = await fetch(options.api + path, { method, headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.text()}`);
}

/** What the middleware of a web framework hands over: texts in `body`, files on the disk. */
async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = { "content-type": request.headers["content-type"] };
  const form = await new Response(Buffer.concat(chunks), { headers }).formData();
  const [body, files] = [{}, []];
  for (const [name, value] of form) {
    if (typeof value === "string") {
      body[name] = value;
      continue;
    }
    const path = join(folder, name);
    await writeFile(path, Buffer.from(await value.arrayBuffer()));
    files.push({ path, originalname: value.name, mimetype: value.type });
  }
  return { body, files };
}

const posts = [];
let arrived = () => {};
const server = createServer((request, response) => {
  read(request).then((post) => {
    posts.push(post);
    arrived();
    response.end();
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

/** Hands the mail in, and gives back its post. */
async function received(to) {
  const next = new Promise((done) => (arrived = done));
  await transport.sendMail({ envelope: { from: "ann@sender.example", to }, raw: RAW });
  await next;
  return posts.pop();
}

const transport = nodemailer.createTransport({
  host: options["smtp-host"],
  port: Number(options["smtp-port"]),
  ignoreTLS: true,
});

const cases = {
  "a parsed post gives its fields and its attachments": async () => {
    const keys = ["headers", "to", "from", "subject", "text", "envelope", "attachments", "SPF"];
    const parse = new Parse({ keys }, await received("box@in.node.example"));
    const found = parse.keyValues();
    assert.equal(found.from, "Ann <ann@sender.example>");
    assert.equal(found.subject, "Grüße");
    assert.equal(found.text.trim(), "Hello");
    assert.equal(found.attachments, "1");
    assert.deepEqual(JSON.parse(found.envelope), { from: "ann@sender.example", to: ["box@in.node.example"] });
    // As the official Go parser reads them: a line is a field.
    const lines = found.headers.trimEnd().split("\n");
    assert.ok(lines.every((line) => line.split(": ").length > 1), found.headers);
    assert.ok(lines.includes("References: <first@sender.example> <second@sender.example>"), found.headers);
    assert.match(lines[0], /^Received: from .* with E?SMTP /);
    assert.equal(parse.hasRawEmail(), false);
    const files = await new Promise((done) => parse.attachments(done));
    const wanted = { content: "AAEC", filename: "list.bin", type: "application/octet-stream" };
    assert.deepEqual(files.map((file) => file.toJSON()), [wanted]);
  },
  // Release 8.0.0 of the parser looks for the mail's text under `rawEmail`, a name that no post has.
  "a raw post is known, and its mail is what was handed in": async () => {
    const parse = new Parse({ keys: ["email", "to", "envelope"] }, await received("box@raw.node.example"));
    assert.equal(parse.hasRawEmail(), true);
    assert.equal(parse.keyValues().email, RAW);
  },
};

let failed = 0;
try {
  await call("POST", "/v3/whitelabel/domains", { domain: "node.example" });
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const [hostname, send_raw] of [["in.node.example", false], ["raw.node.example", true]]) {
    await call("POST", "/v3/user/webhooks/parse/settings", { hostname, url, send_raw });
  }
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      console.log(`ok ${name}`);
    } catch (why) {
      failed += 1;
      console.log(`FAIL ${name}: ${String(why.message).slice(0, 2000).replaceAll("\n", " ")}`);
    }
  }
} finally {
  server.close();
  server.closeAllConnections();
  transport.close();
  await rm(folder, { recursive: true });
}
process.exitCode = failed ? 1 : 0;
