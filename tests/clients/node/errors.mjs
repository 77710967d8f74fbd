// What goes wrong, and how the client tells it.

import assert from "node:assert/strict";

import { client, mailer, same, test } from "./harness.mjs";

/** The errors of the answer with this status; each has `message`, `field` and `help`. */
async function refused(status, call) {
  const why = await call().then(
    () => assert.fail("the request was accepted"),
    (error) => error,
  );
  assert.equal(why.code, status, JSON.stringify(why.response?.body ?? why.message));
  const { errors } = why.response.body;
  assert.ok(errors.length > 0);
  for (const error of errors) {
    same(Object.keys(error).sort(), ["field", "help", "message"]);
    if (error.help !== null) same(Object.keys(error.help), ["text"]);
  }
  return errors;
}

const sound = (b) => ({ to: b.address("ann"), from: "f@sender.example", subject: "s", text: "x" });

const post = (b, body) => () => b.client.request({ method: "POST", url: "/v3/mail/send", body });

test("a mail without a sender is refused with the field that is missing", async (b) => {
  const { from, ...mail } = sound(b);
  const errors = await refused(400, () => b.mail.send(mail));
  const error = errors.find(({ field }) => field === "from.email");
  assert.match(error.message, /^The from object must be provided/);
});

test("every problem of a mail is told at once", async (b) => {
  const body = { personalizations: [{ to: [{ email: "not an address" }] }], from: { email: "" } };
  const errors = await refused(400, post(b, body));
  const fields = errors.map(({ field }) => field);
  for (const field of ["personalizations.0.to.0.email", "subject", "content"]) {
    assert.ok(fields.includes(field), `${field} is not in ${fields}`);
  }
});

test("wrong types are bad requests", async (b) => {
  const body = {
    personalizations: [{ to: [{ email: b.address("ann") }] }],
    from: { email: "f@sender.example" },
    subject: "s",
    content: [{ type: "text/plain", value: "x" }],
  };
  for (const wrong of [
    [],
    {},
    { ...body, personalizations: "x" },
    { ...body, custom_args: { a: 1 } },
    { ...body, subject: 7 },
  ]) {
    await refused(400, post(b, wrong));
  }
  const [answer] = await post(b, body)();
  same(answer.statusCode, 202);
});

test("a wrong key is unauthorized", async (b) => {
  const last = b.key.endsWith("a") ? "b" : "a";
  for (const key of [b.key.slice(0, -1) + last, "SG.x.y", "SG.nonsense"]) {
    const mail = mailer(client(b.api, key));
    const errors = await refused(401, () => mail.send(sound(b)));
    const message = "The provided authorization grant is invalid, expired, or revoked";
    same(errors, [{ message, field: null, help: null }]);
  }
});

test("the sandbox takes a mail and sends nothing", async (b) => {
  const [answer] = await b.mail.send({ ...sound(b), mailSettings: { sandboxMode: { enable: true } } });
  same([answer.statusCode, answer.body], [200, ""]);
  // Once a mail that was sent afterwards is there, the other would be too.
  await b.send({ ...sound(b), to: b.address("bob") });
  same(Object.keys(await b.copies(1)), [b.address("bob")]);
});

test("what was refused was not sent", async (b) => {
  const mail = { ...sound(b), to: [b.address("ann"), "broken.example.com"] };
  const errors = await refused(400, () => b.mail.send(mail));
  same(errors.map(({ field }) => field), ["personalizations.0.to.1.email"]);
  await b.send({ ...sound(b), to: b.address("bob") });
  same(Object.keys(await b.copies(1)), [b.address("bob")]);
});

test("a key without the scope is forbidden", async (b) => {
  const body = { name: "narrow", scopes: ["mail.batch.read"] };
  const [, made] = await b.client.request({ method: "POST", url: "/v3/api_keys", body });
  const mail = mailer(client(b.api, made.api_key));
  const why = await mail.send(sound(b)).catch((error) => error);
  assert.equal(why.code, 403);
  assert.ok(why.response.body.errors.length > 0);
});
