// Reads mails back from the mailbox of the local host (Mailpit's REST calls).

export class Inbox {
  constructor(base) {
    this.base = base;
    this.waited = new Map();
  }

  async get(path) {
    const answer = await fetch(this.base + path);
    if (!answer.ok) throw new Error(`${answer.status} for ${path}: ${await answer.text()}`);
    return answer;
  }

  async json(path) {
    return (await this.get(path)).json();
  }

  search(query, limit) {
    return this.json(`/api/v1/search?limit=${limit}&query=${encodeURIComponent(query)}`);
  }

  async count(query) {
    return (await this.search(query, 1)).messages_count;
  }

  /**
   * The copies that match, oldest first, as soon as there are `count` of them. The mailbox tells
   * of every change, so nothing here sleeps and asks again. With `light`, only lines of the list.
   */
  async wait(query, count, { patience = 60, light = false } = {}) {
    this.waited.set(query, count);
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), patience * 1000);
    let found = 0;
    try {
      const live = await fetch(`${this.base}/live`, { signal: stop.signal });
      const changes = live.body.getReader();
      found = await this.count(query);
      while (found < count) {
        await changes.read();
        found = await this.count(query);
      }
    } catch (why) {
      if (!stop.signal.aborted) throw why;
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
    if (found !== count) throw new Error(`${found} mails came for ${query}, wanted ${count}`);
    const { messages } = await this.search(query, 0);
    if (light) return messages;
    return Promise.all(messages.reverse().map((line) => Copy.load(this, line.ID)));
  }

  /** What was waited for has not become more since. */
  async checkAgain() {
    for (const [query, count] of this.waited) {
      const found = await this.count(query);
      if (found !== count) throw new Error(`${found} mails by now for ${query}, wanted ${count}`);
    }
  }
}

/** One recipient's copy: headers, bodies and files as they arrived. */
export class Copy {
  static async load(inbox, id) {
    const copy = new Copy();
    copy.inbox = inbox;
    copy.id = id;
    const path = `/api/v1/message/${id}`;
    copy.message = await inbox.json(path);
    copy.headers = await inbox.json(`${path}/headers`);
    const { Envelope } = await inbox.json(`${path}/events`);
    copy.recipient = Envelope.To[0];
    copy.subject = copy.message.Subject;
    copy.text = lines(copy.message.Text);
    copy.html = lines(copy.message.HTML);
    return copy;
  }

  /** Name and address of `From`, `To`, `Cc`, `Bcc` or `ReplyTo`. */
  people(field) {
    return [this.message[field]].flat().map(({ Name, Address }) => [Name, Address]);
  }

  async part(number) {
    const answer = await this.inbox.get(`/api/v1/message/${this.id}/part/${number}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** File name → type, content id, bytes. */
  async files(field = "Attachments") {
    const files = {};
    for (const part of this.message[field]) {
      const { ContentType: type, ContentID: cid } = part;
      files[part.FileName] = { type, cid, data: await this.part(part.PartID) };
    }
    return files;
  }
}

/** Mail ends its lines with CR LF; what was sent had LF. */
function lines(text) {
  return text.replaceAll("\r\n", "\n");
}
