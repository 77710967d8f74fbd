// Cases with names; a line for each, and one at the end.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

import { MailService } from "@sendgrid/mail";
import { Client } from "@sendgrid/client";

const cases = [];

/** Keeps a case. It gets a `Bench`. */
export function test(name, run) {
  cases.push({ name, run });
}

/** What a case works with: clients, the mailbox, and addresses nobody else uses. */
export class Bench {
  constructor(options, inbox) {
    Object.assign(this, { api: options.api, key: options.key, inbox });
    this.domain = `${randomBytes(6).toString("hex")}.node.example.com`;
    this.client = client(this.api, this.key);
    this.mail = mailer(this.client);
  }

  address(local) {
    return `${local}@${this.domain}`;
  }

  /** Sends, and checks that the mail was taken; the id of the message. */
  async send(mail, multiple = false) {
    const [answer] = await this.mail.send(mail, multiple);
    assert.equal(answer.statusCode, 202);
    assert.equal(answer.body, "");
    assert.equal(answer.headers["x-message-id"].length, 22);
    return answer.headers["x-message-id"];
  }

  /** All copies for this case's domain, by recipient. */
  async copies(count) {
    const copies = await this.inbox.wait(`rcpt:@${this.domain}`, count);
    return Object.fromEntries(copies.map((copy) => [copy.recipient, copy]));
  }

  async only() {
    const [copy] = Object.values(await this.copies(1));
    return copy;
  }
}

/** The official client with only its host changed (`setApiKey` resets the host, so it is first). */
export function client(api, key) {
  const made = new Client();
  made.setApiKey(key);
  made.setDefaultRequest("baseUrl", `${api}/`);
  return made;
}

export function mailer(client) {
  const made = new MailService();
  made.setClient(client);
  return made;
}

/** Equality that says where two long texts or buffers part. */
export function same(got, want, what) {
  const long = (value) => typeof value === "string" || Buffer.isBuffer(value);
  if (!long(got) || !long(want)) return assert.deepEqual(got, want);
  if (Buffer.from(got).equals(Buffer.from(want))) return undefined;
  let at = 0;
  while (at < got.length && got[at] === want[at]) at += 1;
  const near = (value) => JSON.stringify(value.slice(Math.max(0, at - 30), at + 60).toString());
  const sizes = `(lengths ${got.length} and ${want.length})`;
  return assert.fail(`${what} differs at ${at}: got ${near(got)}, want ${near(want)} ${sizes}`);
}

/** Runs the cases whose name holds `options.case`; the number that failed. */
export async function run(options, inbox) {
  let failed = 0;
  const chosen = cases.filter(({ name }) => name.includes(options.case));
  chosen.push({ name: "no mail came twice", run: () => inbox.checkAgain() });
  for (const { name, run } of chosen) {
    const start = performance.now();
    try {
      await run(new Bench(options, inbox));
      console.log(`ok ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (why) {
      failed += 1;
      const answer = why.response ? ` ${why.code} ${JSON.stringify(why.response.body)}` : "";
      console.log(`FAIL ${name}: ${String(why.message).slice(0, 2000).replaceAll("\n", " ")}${answer}`);
      console.error(why.stack);
    }
  }
  console.log(`end ${failed} failed`);
  return failed;
}
