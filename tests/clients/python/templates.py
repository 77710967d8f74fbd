"""Templates and account-wide settings, made and used through the client."""

from python_http_client.exceptions import BadRequestsError, NotFoundError
from sendgrid.helpers.mail import Mail, To

from harness import case, same

VERSION = {
    "name": "first",
    "subject": "Order {{order.number}}",
    "html_content": "<p>Dear {{name}},</p><ul>{{#each order.items}}<li>{{@index}}: {{this}}</li>"
    '{{/each}}</ul>{{#if gift}}<p>A gift!</p>{{else}}<p>{{insert note "default=No note"}}</p>{{/if}}',
    "active": 1,
}


def made(b, generation, version):
    """A template with one version: its id, its endpoint, the version."""
    api = b.client.client
    body = {"name": f"from python {b.domain}"[:100], "generation": generation}
    template = api.templates.post(request_body=body)
    same(template.status_code, 201, "status")
    identity = template.to_dict["id"]
    one = api.templates._(identity)
    first = one.versions.post(request_body=version)
    same(first.status_code, 201, "status")
    return identity, one, first.to_dict


@case("a dynamic template is made, previewed, sent and deleted")
def dynamic(b):
    identity, one, version = made(b, "dynamic", VERSION)
    data = {"name": "Ann & Bob", "order": {"number": 7, "items": ["pen", "ink <blue>"]}}
    preview = one.versions._(version["id"]).preview
    shown = preview.post(request_body={"dynamic_template_data": data}).to_dict
    same(shown["subject"], "Order 7", "subject")
    same(shown["missing"], ["gift"], "missing")
    to = [
        To(b.address("ann"), dynamic_template_data=data),
        To(b.address("bob"), dynamic_template_data={**data, "gift": True}),
    ]
    mail = Mail("from@sender.example", to, is_multiple=True)
    mail.template_id = identity
    same(b.client.send(mail).status_code, 202, "status")
    copies = b.copies(2)
    items = "<ul><li>0: pen</li><li>1: ink &lt;blue&gt;</li></ul>"
    dear = "<p>Dear Ann &amp; Bob,</p>"
    same(copies[b.address("ann")].html, f"{dear}{items}<p>No note</p>", "html")
    same(copies[b.address("bob")].html, f"{dear}{items}<p>A gift!</p>", "html")
    same(copies[b.address("ann")].subject, "Order 7", "subject")
    same(copies[b.address("ann")].html, shown["html_content"], "preview")
    same(one.delete().status_code, 204, "status")
    try:
        one.get()
    except NotFoundError as why:
        assert why.to_dict["errors"], why.body
    else:
        raise AssertionError("the template is still there")


@case("a version that cannot be compiled is refused with its line")
def broken(b):
    _, one, version = made(b, "dynamic", VERSION)
    body = {"html_content": "<p>\n{{#if a}}</p>"}
    for call in (
        lambda: one.versions.post(request_body={**VERSION, **body}),
        lambda: one.versions._(version["id"]).patch(request_body=body),
    ):
        try:
            call()
        except BadRequestsError as why:
            (problem,) = why.to_dict["errors"]
            same(problem["field"], "html_content", "field")
            assert problem["message"].startswith("line 2: "), problem
        else:
            raise AssertionError("the version was taken")
    one.delete()


@case("of two versions the one that is made active is sent")
def activated(b):
    identity, one, first = made(b, "dynamic", {**VERSION, "html_content": "<p>one</p>"})
    second = one.versions.post(
        request_body={**VERSION, "name": "second", "html_content": "<p>two</p>", "active": 0}
    ).to_dict
    same(second["active"], 0, "active")
    same(one.versions._(second["id"]).activate.post().to_dict["active"], 1, "active")
    states = {v["id"]: v["active"] for v in one.get().to_dict["versions"]}
    same(states, {first["id"]: 0, second["id"]: 1}, "states")
    mail = Mail("from@sender.example", b.address("ann"))
    mail.template_id = identity
    b.client.send(mail)
    (copy,) = b.copies(1).values()
    same(copy.html, "<p>two</p>", "html")
    one.delete()


@case("account-wide settings are listed and changed")
def settings(b):
    api = b.client.client
    names = {item["name"] for item in api.tracking_settings.get().to_dict["result"]}
    same(names, {"click", "google_analytics", "open", "subscription"}, "names")
    wanted = {
        "enabled": False,
        "html_content": "<i>us</i>",
        "plain_content": "us",
    }
    same(api.mail_settings.footer.patch(request_body=wanted).to_dict, wanted, "footer")
    same(api.mail_settings.footer.get().to_dict, wanted, "footer")
    same(api.tracking_settings.open.get().to_dict, {"enabled": False}, "open")
    try:
        api.mail_settings.bounce_purge.patch(request_body={"hard_bounces": 0})
    except BadRequestsError as why:
        same(why.to_dict["errors"][0]["field"], "hard_bounces", "field")
    else:
        raise AssertionError("no day at all was taken")
