// Every call of `mailpit-api` against a running host: MAILBOX API KEY SMTP_PORT PAGES. Its events are those of its
// version 1: version 2 has none.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { createInterface } from "node:readline";

import { MailpitClient } from "mailpit-api";
import { MailpitClient as MailpitEvents } from "mailpit-api-1";

import { Shapes } from "./shapes.mjs";

const [mailbox, api, key, smtpPort, pages] = process.argv.slice(2);
const auth = { username: "tester", password: "secret" };
const require = createRequire(import.meta.url);
const shapes = new Shapes(require.resolve("mailpit-api").replace(/\.cjs$/, ".d.cts"));
const called = new Set();

/** A client that notes which of its methods are called. */
const client = new Proxy(new MailpitClient(mailbox, { auth }), {
  get(target, name) {
    if (typeof target[name] === "function") called.add(name);
    return typeof target[name] === "function" ? target[name].bind(target) : target[name];
  },
});
const events = new MailpitEvents(mailbox, auth);

const cases = [];
const test = (name, run) => cases.push({ name, run });

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** A mail of every field that the client has. */
const MAIL = {
  From: { Email: "ann@x.example", Name: "Ann" },
  To: [{ Email: "bob@y.example", Name: "Bob" }],
  Cc: [{ Email: "cat@y.example" }],
  Bcc: ["hid@y.example"],
  ReplyTo: [{ Email: "desk@x.example" }],
  Subject: "All of it",
  Text: `See ${pages}/fine and ${pages}/gone`,
  HTML: `<p style="display:grid">Hello</p><a href="${pages}/moved">x</a><img src="cid:dot">`,
  Headers: { "X-Campaign": "7" },
  Tags: ["first", "second"],
  Attachments: [
    { Content: PNG, Filename: "dot.png", ContentType: "image/png", ContentID: "dot" },
    { Content: Buffer.from("hello").toString("base64"), Filename: "a.txt", ContentType: "text/plain" },
  ],
};

async function sent(changes = {}) {
  const answer = await client.sendMessage({ ...MAIL, ...changes });
  shapes.check(answer, "MailpitSendMessageConfirmationResponse");
  return answer.ID;
}

/** The client's error for a refused request. */
async function refused(call, status, why) {
  await assert.rejects(call, (error) => {
    assert.match(error.message, new RegExp(`^Mailpit API Error: ${status} `));
    assert.match(error.message, why);
    return true;
  });
}

test("getInfo and getConfiguration say what the host is set up for", async () => {
  const info = await client.getInfo();
  shapes.check(info, "MailpitInfoResponse");
  assert.match(info.Version, /^posthaste\//);
  const configuration = await client.getConfiguration();
  shapes.check(configuration, "MailpitConfigurationResponse");
  assert.equal(configuration.ChaosEnabled, true);
  assert.equal(configuration.SpamAssassin, true);
  assert.equal(configuration.MessageRelay.Enabled, true);
});

test("sendMessage, and the calls that read a message", async () => {
  const id = await sent();
  const message = await client.getMessageSummary(id);
  shapes.check(message, "MailpitMessageSummaryResponse");
  assert.deepEqual(message.Tags, ["first", "second"]);
  assert.deepEqual(message.Bcc, [{ Name: "", Address: "hid@y.example" }]);
  assert.equal(message.Username, "tester");
  const [text] = message.Attachments;
  assert.equal(text.Checksums.MD5, "5d41402abc4b2a76b9719d911017c592");
  assert.equal(text.Checksums.SHA1, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
  const file = await client.getMessageAttachment(id, text.PartID);
  assert.equal(await file.text(), "hello");
  const thumb = await client.getAttachmentThumbnail(id, message.Inline[0].PartID);
  assert.equal(thumb.type, "image/jpeg");
  const headers = await client.getMessageHeaders();
  shapes.check(headers, "MailpitMessageHeadersResponse");
  assert.deepEqual(headers["X-Campaign"], ["7"]);
  assert.match(await client.getMessageSource(id), /^X-Campaign: 7\r$/m);
  assert.match(await client.renderMessageHTML(id, 1), /<p style="display:grid">Hello/);
  assert.match(await client.renderMessageText(id), /^See /);
  await refused(() => client.getMessageSummary("unknown"), 404, /not found/);
  await refused(() => client.sendMessage({ ...MAIL, To: [{ Email: "bob" }] }), 400, /invalid To address/);
});

test("listMessages, searchMessages and both waits find it", async () => {
  const list = await client.listMessages(0, 1);
  shapes.check(list, "MailpitMessagesSummaryResponse");
  assert.equal(list.messages.length, 1);
  const found = await client.searchMessages({ query: "tag:first subject:all", limit: 5 });
  shapes.check(found, "MailpitMessagesSummaryResponse");
  assert.equal(found.messages_count, 1);
  const one = await client.waitForMessage({ query: "subject:all" }, { timeout: 5_000, interval: 10 });
  shapes.check(one, "MailpitMessageSummaryResponse");
  const some = await client.waitForMessages({ query: "subject:all", count: 1 }, { interval: 10 });
  assert.equal(some.messages_count, 1);
  await refused(() => client.searchMessages({ query: "" }), 400, /no search query/);
});

test("a mail of the API has its categories as tags and the name of its key", async () => {
  const answer = await fetch(`${api}/v3/mail/send`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      personalizations: [{ to: [{ email: "api@y.example" }] }],
      from: { email: "shop@x.example" },
      subject: "By the API",
      content: [{ type: "text/plain", value: "hi" }],
      categories: ["receipts", "shop"],
    }),
  });
  assert.equal(answer.status, 202);
  const message = await client.waitForMessage({ query: "rcpt:api@y.example" }, { timeout: 30_000, interval: 10 });
  assert.deepEqual(message.Tags, ["receipts", "shop"]);
  assert.notEqual(message.Username, "");
});

test("setReadStatus", async () => {
  const id = await sent({ Subject: "Unread" });
  assert.equal(await client.setReadStatus({ IDs: [id], Read: true }), "ok");
  const unread = () => client.searchMessages({ query: "is:unread subject:Unread" });
  assert.equal((await unread()).messages_count, 0);
  assert.equal(await client.setReadStatus({ Search: "subject:Unread", Read: false }, { tz: "UTC" }), "ok");
  assert.equal((await unread()).messages_count, 1);
  await refused(() => client.setReadStatus({ IDs: [id], Search: "x" }), 400, /not both/);
});

test("tags are set, renamed and deleted", async () => {
  const id = await sent({ Tags: [] });
  assert.equal(await client.setTags({ IDs: [id], Tags: ["a/b", "keep"] }), "ok");
  const tags = await client.getTags();
  shapes.check(tags, "string[]");
  assert.ok(tags.includes("a b") && tags.includes("keep"), String(tags));
  assert.equal(await client.renameTag("a b", "renamed"), "ok");
  assert.equal(await client.deleteTag("keep"), "ok");
  assert.deepEqual((await client.getMessageSummary(id)).Tags, ["renamed"]);
  await refused(() => client.deleteTag("keep"), 400, /tag not found: keep/);
  await refused(() => client.renameTag("renamed", "!"), 400, /invalid tag name/);
});

test("htmlCheck, linkCheck and spamAssassinCheck", async () => {
  const id = await sent();
  const html = await client.htmlCheck(id);
  shapes.check(html, "MailpitHTMLCheckResponse");
  assert.ok(html.Warnings.some((one) => one.Slug === "css-display-grid"));
  const codes = async (follow) => {
    const links = await client.linkCheck(id, follow);
    shapes.check(links, "MailpitLinkCheckResponse");
    return Object.fromEntries(links.Links.map((one) => [one.URL.slice(pages.length), one.StatusCode]));
  };
  assert.deepEqual(await codes(false), { "/moved": 302, "/fine": 200, "/gone": 404 });
  assert.deepEqual(await codes(true), { "/moved": 200, "/fine": 200, "/gone": 404 });
  const spam = await client.spamAssassinCheck(id);
  shapes.check(spam, "MailpitSpamAssassinResponse");
  assert.deepEqual([spam.IsSpam, spam.Score], [true, 6.1]);
  assert.deepEqual(
    spam.Rules.map((rule) => [rule.Score, rule.Name]),
    [[7.1, "GTUBE"], [-1, "ALL_TRUSTED"]],
  );
});

test("releaseMessage hands the mail to the relay", async () => {
  const id = await sent({ Subject: "Released" });
  assert.equal(await client.releaseMessage(id, { To: ["eve@z.example", "joe@z.example"] }), "ok");
  const taken = await (await fetch(`${pages}/taken`)).json();
  assert.deepEqual(taken.map((mail) => mail.to.length), [1, 1]);
  assert.match(taken[0].to[0], /<eve@z\.example>/);
  assert.match(taken[0].from, /<ann@x\.example>/);
  assert.match(taken[0].text, /^Subject: Released\r$/m);
  await refused(() => client.releaseMessage(id, { To: ["a@refused.example"] }), 400, /550 5\.1\.1 no such person/);
  await refused(() => client.releaseMessage(id, { To: [] }), 400, /between 1 and 100/);
});

/** Says lines to the port without a login; the code of each reply. */
async function smtp(lines) {
  const socket = connect(Number(smtpPort), "127.0.0.1");
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]();
  const codes = [];
  for (const line of ["", ...lines]) {
    if (line) socket.write(`${line}\r\n`);
    let reply = "";
    do reply = (await replies.next()).value ?? "";
    while (/^\d{3}-/.test(reply));
    codes.push(Number(reply.slice(0, 3)));
  }
  socket.destroy();
  return codes.slice(1);
}

test("chaos refuses steps of SMTP sessions with its codes", async () => {
  const none = await client.setChaosTriggers();
  shapes.check(none, "MailpitChaosTriggersResponse");
  const session = ["EHLO x.example", "MAIL FROM:<ann@x.example>", "RCPT TO:<bob@y.example>"];
  assert.deepEqual(await smtp(session), [250, 250, 250]);
  const always = (ErrorCode) => ({ ErrorCode, Probability: 100 });
  await client.setChaosTriggers({ Sender: always(452) });
  assert.deepEqual(await smtp(session.slice(0, 2)), [250, 452]);
  const set = await client.setChaosTriggers({ Recipient: always(550), Authentication: always(454) });
  assert.deepEqual(await client.getChaosTriggers(), set);
  assert.deepEqual(await smtp(session), [250, 250, 550]);
  const login = Buffer.from("\0user\0pass").toString("base64");
  assert.deepEqual(await smtp(["EHLO x.example", `AUTH PLAIN ${login}`]), [250, 454]);
  await refused(() => client.setChaosTriggers({ Sender: always(200) }), 400, /between 400 and 599/);
  await client.setChaosTriggers({});
  assert.deepEqual(await smtp(["EHLO x.example", `AUTH PLAIN ${login}`]), [250, 235]);
});

test("events come by a WebSocket", async () => {
  const all = [];
  const stop = events.onEvent("*", (event) => all.push(event.Type));
  await new Promise((opened) => events.webSocket.addEventListener("open", opened));
  const arrives = events.waitForEvent("new", 30_000);
  const counted = events.waitForEvent("stats", 30_000);
  const id = await sent({ Subject: "Watched" });
  const { Data: arrived } = await arrives;
  shapes.check(arrived, "MailpitMessageListItem");
  assert.deepEqual([arrived.ID, arrived.Subject], [id, "Watched"]);
  assert.equal(typeof (await counted).Data.Total, "number");
  const tagged = events.waitForEvent("update", 30_000);
  await client.setTags({ IDs: [id], Tags: ["seen"] });
  assert.deepEqual((await tagged).Data, { ID: id, Tags: ["seen"] });
  const deleted = events.waitForEvent("delete", 30_000);
  await client.deleteMessages({ IDs: [id] });
  assert.deepEqual((await deleted).Data, { ID: id });
  const emptied = events.waitForEvent("truncate", 30_000);
  await sent({ Subject: "Searched" });
  assert.equal(await client.deleteMessagesBySearch({ query: "subject:Searched" }), "ok");
  assert.equal(await client.deleteMessages(), "ok");
  assert.equal((await emptied).Data, null);
  stop();
  events.disconnect();
  assert.ok(all.includes("prune"), String(all));
  assert.equal((await client.listMessages()).total, 0);
});

test("another login is refused", async () => {
  const stranger = new MailpitClient(mailbox, { auth: { ...auth, password: "other" } });
  await refused(() => stranger.getInfo(), 401, /requires a login/);
});

test("every method of the client was called", () => {
  const methods = Object.getOwnPropertyNames(MailpitClient.prototype);
  const missing = methods.filter((name) => !["constructor", "request"].includes(name) && !called.has(name));
  assert.deepEqual(missing, []);
  assert.ok(called.size >= 27, `${called.size} methods`);
});

let failed = 0;
for (const { name, run } of cases) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (why) {
    failed += 1;
    console.log(`FAIL ${name}: ${String(why.message).slice(0, 2000).replaceAll("\n", " ")}`);
    console.error(why.stack);
  }
}
console.log(`end ${failed} failed`);
process.exitCode = failed ? 1 : 0;
