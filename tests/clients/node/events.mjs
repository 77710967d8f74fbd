// Signed events at a webhook of ours, checked with `@sendgrid/eventwebhook`.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

import { EventWebhook, EventWebhookHeader } from "@sendgrid/eventwebhook";

import { same, test } from "./harness.mjs";

/** Takes posts on a free port of this machine and keeps them in order. */
class Receiver {
  constructor() {
    this.posts = [];
    this.server = createServer(async (request, response) => {
      const chunks = await request.toArray();
      this.posts.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
      this.server.emit("post");
    });
  }

  async listen() {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${this.server.address().port}/events`;
  }

  /** The next post, or a failure after a minute. */
  async next() {
    if (this.posts.length === 0) {
      await once(this.server, "post", { signal: AbortSignal.timeout(60_000) });
    }
    return this.posts.shift();
  }
}

test("events are posted with a signature the official verifier accepts", async (b) => {
  const ask = (method, path, body) =>
    b.client.request({ method, url: `/v3/user/webhooks/event/settings${path}`, body });
  const receiver = new Receiver();
  const url = await receiver.listen();
  const wanted = { enabled: true, url, processed: true, delivered: true };
  const [answer, { id }] = await ask("POST", "", wanted);
  same(answer.statusCode, 201);
  const events = {};
  let message;
  try {
    const [, signed] = await ask("PATCH", `/signed/${id}`, { enabled: true });
    const verifier = new EventWebhook();
    const key = verifier.convertPublicKeyToECDSA(signed.public_key);
    message = await b.send({
      to: b.address("ann"),
      from: "f@sender.example",
      subject: "Events ü",
      text: "x",
      categories: ["node"],
      customArgs: { order: "ä 17" },
    });
    while (!(events.processed && events.delivered)) {
      const { headers, body } = await receiver.next();
      const signature = headers[EventWebhookHeader.SIGNATURE().toLowerCase()];
      const at = headers[EventWebhookHeader.TIMESTAMP().toLowerCase()];
      assert.ok(verifier.verifySignature(key, body, signature, at), "the signature is wrong");
      const altered = Buffer.from(body);
      altered[altered.length - 5] ^= 1;
      assert.ok(!verifier.verifySignature(key, altered, signature, at), "anything passes");
      for (const event of JSON.parse(body.toString())) {
        if (event.email === b.address("ann")) events[event.event] = event;
      }
    }
  } finally {
    const [gone] = await ask("DELETE", `/${id}`);
    same(gone.statusCode, 204);
    receiver.server.close();
  }
  for (const event of Object.values(events)) {
    assert.ok(event.sg_message_id.startsWith(message), event.sg_message_id);
    same(event.category, ["node"]);
    same(event.order, "ä 17", "custom argument");
    assert.ok(event.sg_event_id && event.timestamp);
  }
  assert.match(events.delivered.response, /^250/);
});
