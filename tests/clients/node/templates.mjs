// Templates and account-wide settings, made and used through the clients.

import assert from "node:assert/strict";

import { same, test } from "./harness.mjs";

const ask = async (b, method, url, body, qs) => {
  const [answer, data] = await b.client.request({ method, url, body, qs });
  return { status: answer.statusCode, data };
};

const VERSION = {
  name: "first",
  subject: "Order {{order.number}}",
  html_content:
    "<p>Dear {{name}},</p><ul>{{#each order.items}}<li>{{@index}}: {{this}}</li>{{/each}}</ul>" +
    "{{#if gift}}<p>A gift!</p>{{else}}<p>{{insert note \"default=No note\"}}</p>{{/if}}",
  active: 1,
};

/** A template with one version; its path and id. */
const made = async (b, generation, version) => {
  const body = { name: `from node ${b.domain}`.slice(0, 100), generation };
  const template = await ask(b, "POST", "/v3/templates", body);
  same(template.status, 201);
  const path = `/v3/templates/${template.data.id}`;
  const first = await ask(b, "POST", `${path}/versions`, version);
  same(first.status, 201);
  return { id: template.data.id, path, version: first.data };
};

test("a dynamic template is made, previewed, sent and deleted", async (b) => {
  const { id, path, version } = await made(b, "dynamic", VERSION);
  assert.match(id, /^d-[0-9a-f]{32}$/);
  const data = { name: "Ann & Bob", order: { number: 7, items: ["pen", "ink <blue>"] } };
  const preview = { dynamic_template_data: data };
  const shown = await ask(b, "POST", `${path}/versions/${version.id}/preview`, preview);
  same(shown.data.subject, "Order 7", "subject");
  same(shown.data.missing, ["gift"]);
  await b.mail.send({
    from: "from@sender.example",
    templateId: id,
    personalizations: [
      { to: b.address("ann"), dynamicTemplateData: data },
      { to: b.address("bob"), dynamicTemplateData: { ...data, gift: true } },
    ],
  });
  const copies = await b.copies(2);
  const list = "<ul><li>0: pen</li><li>1: ink &lt;blue&gt;</li></ul>";
  const dear = "<p>Dear Ann &amp; Bob,</p>";
  same(copies[b.address("ann")].html, `${dear}${list}<p>No note</p>`, "html");
  same(copies[b.address("bob")].html, `${dear}${list}<p>A gift!</p>`, "html");
  same(copies[b.address("ann")].subject, "Order 7", "subject");
  same(copies[b.address("ann")].html, shown.data.html_content, "preview");
  same((await ask(b, "DELETE", path)).status, 204);
  const gone = await ask(b, "GET", path).catch((error) => error);
  same(gone.code, 404);
});

test("a version that cannot be compiled is refused with its line", async (b) => {
  const { path } = await made(b, "dynamic", VERSION);
  const broken = { ...VERSION, html_content: "<p>\n{{#if a}}</p>" };
  const refused = await ask(b, "POST", `${path}/versions`, broken).catch((error) => error);
  same(refused.code, 400);
  const [problem] = refused.response.body.errors;
  same(problem.field, "html_content");
  assert.match(problem.message, /^line 2: /);
  await ask(b, "DELETE", path);
});

test("a legacy template goes around what the mail brings", async (b) => {
  const version = {
    name: "first",
    subject: "[shop] <%subject%>",
    html_content: "<h1>Shop</h1><%body%>",
    plain_content: "Shop\n<%body%>",
    generate_plain_content: false,
  };
  const { id, path } = await made(b, "legacy", version);
  await b.send({
    to: b.address("ann"),
    from: "from@sender.example",
    templateId: id,
    subject: "Hello -name-",
    text: "plain -name-",
    html: "<p>html -name-</p>",
    substitutions: { name: "Ann" },
    substitutionWrappers: ["-", "-"],
  });
  const copy = await b.only();
  same(copy.subject, "[shop] Hello Ann", "subject");
  same(copy.html, "<h1>Shop</h1><p>html Ann</p>", "html");
  same(copy.text.trim(), "Shop\nplain Ann", "text");
  await ask(b, "DELETE", path);
});

test("templates are paged in both forms", async (b) => {
  const all = [await made(b, "dynamic", VERSION), await made(b, "dynamic", VERSION)];
  const qs = { generations: "dynamic", page_size: 1 };
  const page = await ask(b, "GET", "/v3/templates", undefined, qs);
  same(page.data.result.length, 1);
  assert.ok(page.data._metadata.count >= 2 && page.data._metadata.next, "a next page");
  const old = await ask(b, "GET", "/v3/templates", undefined, { generations: "dynamic" });
  const ids = old.data.templates.map(({ id }) => id);
  assert.ok(all.every(({ id }) => ids.includes(id)));
  for (const { path } of all) await ask(b, "DELETE", path);
});

test("account-wide settings are listed and changed", async (b) => {
  const { data: { result } } = await ask(b, "GET", "/v3/mail_settings");
  assert.ok(result.some(({ name }) => name === "footer"));
  const footer = { enabled: false, html_content: "<i>us</i>", plain_content: "us" };
  same((await ask(b, "PATCH", "/v3/mail_settings/footer", footer)).data, footer);
  same((await ask(b, "GET", "/v3/mail_settings/footer")).data, footer);
  const path = "/v3/tracking_settings/click";
  same((await ask(b, "PATCH", path, { enabled: false })).data.enabled, false);
  const refused = await ask(b, "PATCH", "/v3/mail_settings/bounce_purge", { hard_bounces: 0 })
    .catch((error) => error);
  same(refused.code, 400);
  same(refused.response.body.errors[0].field, "hard_bounces");
});
