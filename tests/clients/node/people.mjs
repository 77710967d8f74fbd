// Who gets what: recipients, copies, names in every script.

import assert from "node:assert/strict";

import { same, test } from "./harness.mjs";

test("a plain mail arrives as it was written", async (b) => {
  const id = await b.send({
    to: b.address("ann"),
    from: "from@sender.example",
    subject: "Sending with the client is fun",
    text: "and easy to do anywhere, even with Node.js\n",
    html: "<strong>and easy to do anywhere, even with Node.js</strong>",
  });
  const copy = await b.only();
  same(copy.people("From"), [["", "from@sender.example"]]);
  same(copy.people("To"), [["", b.address("ann")]]);
  same(copy.subject, "Sending with the client is fun", "subject");
  same(copy.text.trimEnd(), "and easy to do anywhere, even with Node.js", "text");
  same(copy.html, "<strong>and easy to do anywhere, even with Node.js</strong>", "html");
  assert.ok(copy.message.MessageID.startsWith(id), copy.message.MessageID);
  same([...copy.message.Attachments, ...copy.message.Inline], []);
});

test("recipients of one mail see each other", async (b) => {
  const names = ["Ann", "Bob", "Carl"];
  const to = names.map((name) => ({ name, email: b.address(name.toLowerCase()) }));
  await b.send({ to, from: "from@sender.example", subject: "To all", text: "Hello all" });
  const copies = await b.copies(3);
  same(Object.keys(copies).sort(), to.map(({ email }) => email).sort());
  for (const copy of Object.values(copies)) {
    same(copy.people("To"), to.map(({ name, email }) => [name, email]));
  }
});

test("recipients of separate mails do not", async (b) => {
  const to = ["ann", "bob", "carl"].map(b.address, b);
  const mail = { to, from: "from@sender.example", subject: "To each", text: "Hello you" };
  const [answer] = await b.mail.sendMultiple(mail);
  assert.equal(answer.statusCode, 202);
  const copies = await b.copies(3);
  for (const email of to) same(copies[email].people("To"), [["", email]]);
});

test("an array of mails is sent as so many requests", async (b) => {
  const mails = ["one", "two", "three"].map((name) => ({
    to: b.address(name),
    from: "from@sender.example",
    subject: `Mail ${name}`,
    text: name,
  }));
  const answers = await b.mail.send(mails);
  same(answers.map(([answer]) => answer.statusCode), [202, 202, 202]);
  const copies = await b.copies(3);
  for (const { to, subject } of mails) same(copies[to].subject, subject, "subject");
});

test("cc is seen by all and bcc by nobody", async (b) => {
  await b.send({
    to: b.address("to"),
    cc: { email: b.address("cc"), name: "Carbon" },
    bcc: [b.address("hidden")],
    from: "from@sender.example",
    replyTo: { email: "answers@sender.example", name: "Answers" },
    subject: "Copies",
    text: "Hello",
  });
  const copies = await b.copies(3);
  same(Object.keys(copies).sort(), ["to", "cc", "hidden"].map(b.address, b).sort());
  for (const [recipient, copy] of Object.entries(copies)) {
    same(copy.people("To"), [["", b.address("to")]]);
    same(copy.people("Cc"), [["Carbon", b.address("cc")]]);
    same(copy.people("ReplyTo"), [["Answers", "answers@sender.example"]]);
    assert.equal(copy.headers.Bcc, undefined);
    const hidden = recipient === b.address("hidden") ? [["", recipient]] : [];
    same(copy.people("Bcc"), hidden);
  }
});

test("a reply-to list keeps its order", async (b) => {
  const list = [
    { email: "one@sender.example", name: "One" },
    { email: "two@sender.example", name: "Zwei, Ä" },
  ];
  const mail = { to: b.address("ann"), from: "from@sender.example", subject: "s", text: "x" };
  await b.send({ ...mail, replyToList: list });
  const copy = await b.only();
  same(copy.people("ReplyTo"), list.map(({ name, email }) => [name, email]));
});

test("names in every script and with every mark survive", async (b) => {
  const names = [
    'Quote "inner" mark',
    "Comma, Inc.",
    "Semi; colon: <angle>",
    "Zoë Müller",
    "Party 🎉 Person",
    "يوسف الأحمد",
    "田中 文",
    "back\\slash",
  ];
  const to = names.map((name, number) => ({ name, email: b.address(`n${number}`) }));
  const from = { email: "from@sender.example", name: names[4] };
  await b.send({ to, from, subject: "سلام – 你好 – 🎉", html: "<p>x</p>" });
  for (const copy of Object.values(await b.copies(names.length))) {
    same(copy.people("To"), to.map(({ name, email }) => [name, email]));
    same(copy.people("From"), [[names[4], "from@sender.example"]]);
    same(copy.subject, "سلام – 你好 – 🎉", "subject");
  }
});

test("an address in the form `Name <address>` is read", async (b) => {
  const mail = { from: "Sender Name <from@sender.example>", subject: "s", text: "x" };
  await b.send({ ...mail, to: `Ann Example <${b.address("ann")}>` });
  const copy = await b.only();
  same(copy.people("From"), [["Sender Name", "from@sender.example"]]);
  same(copy.people("To"), [["Ann Example", b.address("ann")]]);
});

test("each personalization has its own subject, headers and substitutions", async (b) => {
  const rows = [
    { local: "ann", name: "Ann", sum: "5 €" },
    { local: "bob", name: "Bob & Co", sum: "7 €", subject: "Own subject for %name%" },
  ];
  await b.send({
    from: "from@sender.example",
    subject: "Common subject",
    text: "Dear %name%, you owe %sum%.",
    html: "<p>Dear <b>%name%</b>, you owe %sum%.</p>",
    substitutionWrappers: ["%", "%"],
    personalizations: rows.map(({ local, name, sum, subject }) => ({
      to: { email: b.address(local), name },
      subject,
      headers: { "X-Row": local },
      substitutions: { name, sum },
    })),
  });
  const copies = await b.copies(2);
  for (const { local, name, sum, subject } of rows) {
    const copy = copies[b.address(local)];
    same(copy.subject, subject?.replace("%name%", name) ?? "Common subject", "subject");
    same(copy.text, `Dear ${name}, you owe ${sum}.`, "text");
    same(copy.html, `<p>Dear <b>${name}</b>, you owe ${sum}.</p>`, "html");
    same(copy.headers["X-Row"], [local]);
  }
});

test("a thousand personalizations are a thousand mails", async (b) => {
  const numbers = [...Array(1000).keys()];
  await b.send({
    from: "from@sender.example",
    subject: "Row {{n}}",
    text: "This is row {{n}}.",
    personalizations: numbers.map((n) => ({
      to: b.address(`r${n}`),
      substitutions: { n: String(n) },
    })),
  });
  const options = { patience: 120, light: true };
  const found = await b.inbox.wait(`rcpt:@${b.domain}`, 1000, options);
  const rows = (field) => new Set(found.map((line) => line[field]));
  same(rows("Subject"), new Set(numbers.map((n) => `Row ${n}`)));
  same(rows("Snippet"), new Set(numbers.map((n) => `This is row ${n}.`)));
});
