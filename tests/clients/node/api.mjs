// Other calls through `@sendgrid/client`.

import assert from "node:assert/strict";

import { same, test } from "./harness.mjs";

const ask = async (b, method, url, body) => {
  const [answer, data] = await b.client.request({ method, url, body });
  return { status: answer.statusCode, headers: answer.headers, data };
};

test("scopes and keys are listed, made, changed and deleted", async (b) => {
  const { data: { scopes } } = await ask(b, "GET", "/v3/scopes");
  assert.ok(scopes.includes("mail.send"));
  const wanted = { name: "from node", scopes: ["mail.send"] };
  const made = await ask(b, "POST", "/v3/api_keys", wanted);
  same(made.status, 201);
  same(made.data.api_key.length, 69);
  const { data: { result } } = await ask(b, "GET", "/v3/api_keys");
  assert.ok(result.some((key) => key.api_key_id === made.data.api_key_id));
  const path = `/v3/api_keys/${made.data.api_key_id}`;
  const renamed = await ask(b, "PATCH", path, { name: "renamed" });
  same(renamed.data.name, "renamed", "name");
  same((await ask(b, "DELETE", path)).status, 204);
  const gone = await ask(b, "GET", path).catch((error) => error);
  same(gone.code, 404);
});

test("a cancelled batch is not sent", async (b) => {
  const made = await ask(b, "POST", "/v3/mail/batch");
  same(made.status, 201);
  const batchId = made.data.batch_id;
  const known = await ask(b, "GET", `/v3/mail/batch/${batchId}`);
  same(known.data, { batch_id: batchId });
  const mail = { from: "f@sender.example", subject: "s", text: "x" };
  const sendAt = Math.floor(Date.now() / 1000) + 3600;
  await b.send({ ...mail, to: b.address("later"), sendAt, batchId });
  const state = { batch_id: batchId, status: "cancel" };
  same((await ask(b, "POST", "/v3/user/scheduled_sends", state)).status, 201);
  const now = await ask(b, "GET", `/v3/user/scheduled_sends/${batchId}`);
  same(now.data, [state]);
  await b.send({ ...mail, to: b.address("now") });
  same(Object.keys(await b.copies(1)), [b.address("now")]);
});

test("every answer tells the rate limit", async (b) => {
  const { headers } = await ask(b, "GET", "/v3/scopes");
  for (const name of ["limit", "remaining", "reset"]) {
    assert.match(headers[`x-ratelimit-${name}`], /^\d+$/);
  }
});
