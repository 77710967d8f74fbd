// Who is not written to: groups, the global list, lists taken off with a body.

import { same, test } from "./harness.mjs";

const ask = async (b, method, url, body, qs) => {
  const [answer, data] = await b.client.request({ method, url, body, qs });
  return { status: answer.statusCode, data, headers: answer.headers };
};

const GLOBAL = "/v3/asm/suppressions/global";
const LEFT = "/v3/suppression/unsubscribes";

const mail = (b, local, more) => ({
  to: b.address(local),
  from: "from@sender.example",
  subject: "Hello",
  text: "Hello",
  ...more,
});

test("who left everything is not written to until they come back", async (b) => {
  const left = ["Ann", "Bob"].map(b.address, b);
  const added = await ask(b, "POST", GLOBAL, { recipient_emails: left });
  same([added.status, added.data.recipient_emails], [201, left]);
  const path = `${GLOBAL}/${encodeURIComponent(left[1])}`;
  same((await ask(b, "GET", path)).data, { recipient_email: b.address("bob") });
  same((await ask(b, "DELETE", path)).status, 204);
  // A JSON content type without a body, as this client sends it, and an answer without members.
  same((await ask(b, "GET", path)).data, {});
  for (const local of ["ann", "bob"]) await b.send(mail(b, local));
  same(Object.keys(await b.copies(1)), [b.address("bob")]);
});

test("who left a group gets the other mails", async (b) => {
  const body = { name: b.domain.slice(0, 30), description: "of a test" };
  const group = (await ask(b, "POST", "/v3/asm/groups", body)).data;
  const path = `/v3/asm/groups/${group.id}/suppressions`;
  const ann = b.address("ann");
  const emails = { recipient_emails: [ann, b.address("bob")] };
  same((await ask(b, "POST", path, emails)).status, 201);
  const search = { recipient_emails: [ann, b.address("carl")] };
  same((await ask(b, "POST", `${path}/search`, search)).data, [ann]);
  const one = await ask(b, "GET", `/v3/asm/suppressions/${encodeURIComponent(ann)}`);
  const standing = one.data.suppressions.find(({ id }) => id === group.id);
  same([standing.name, standing.suppressed], [body.name, true]);
  same((await ask(b, "GET", `/v3/asm/groups/${group.id}`)).data.unsubscribes, 2);

  await b.send(mail(b, "ann", { asm: { groupId: group.id, groupsToDisplay: [group.id] } }));
  await b.send(mail(b, "ann", { subject: "Without a group" }));
  same((await b.only()).subject, "Without a group", "subject");
  const bob = encodeURIComponent(b.address("bob"));
  same((await ask(b, "DELETE", `${path}/${bob}`)).status, 204);
  same((await ask(b, "GET", path)).data, [ann]);
});

test("addresses leave a list by name, in the body of a DELETE", async (b) => {
  const emails = ["ann", "bob", "carl"].map(b.address, b);
  await ask(b, "POST", GLOBAL, { recipient_emails: emails });
  const page = await ask(b, "GET", LEFT, undefined, { email: "ann@", limit: 1 });
  same([page.data.length, page.headers.link.includes('rel="first"')], [1, true]);
  same((await ask(b, "DELETE", LEFT, { emails: emails.slice(0, 2) })).status, 204);
  const left = async (email) => (await ask(b, "GET", `${LEFT}/${email}`)).data.length;
  same(await Promise.all(emails.map(left)), [0, 0, 1]);
  const neither = await ask(b, "DELETE", LEFT, {}).catch((error) => error);
  same([neither.code, neither.response.body.errors[0].field], [400, "delete_all"]);
  same((await ask(b, "DELETE", `${LEFT}/${emails[2]}`)).status, 204);
});
