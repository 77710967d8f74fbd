"""Who is not written to: groups, the global list, lists taken off with a body."""

from python_http_client.exceptions import BadRequestsError
from sendgrid.helpers.mail import Asm, Mail

from harness import case, same


def everything(b):
    """The endpoint of the global list; its name is a word of the language."""
    return b.client.client.asm.suppressions._("global")


def send(b, local, subject="Hello", group=None):
    mail = Mail("from@sender.example", b.address(local), subject, "Hello")
    if group:
        mail.asm = Asm(group, [group])
    same(b.client.send(mail).status_code, 202, "status")


@case("who left everything is not written to until they come back")
def back(b):
    left = [b.address("Ann"), b.address("Bob")]
    added = everything(b).post(request_body={"recipient_emails": left})
    same((added.status_code, added.to_dict["recipient_emails"]), (201, left), "added")
    one = everything(b)._(left[1])
    same(one.get().to_dict, {"recipient_email": b.address("bob")}, "listed")
    same(one.delete().status_code, 204, "status")
    same(one.get().to_dict, {}, "not listed")
    send(b, "ann")
    send(b, "bob")
    same(list(b.copies(1)), [b.address("bob")], "recipients")


@case("who left a group gets the other mails")
def grouped(b):
    api = b.client.client.asm
    body = {"name": b.domain[:30], "description": "of a test"}
    group = api.groups.post(request_body=body).to_dict["id"]
    members = api.groups._(group).suppressions
    emails = [b.address("ann"), b.address("bob")]
    same(members.post(request_body={"recipient_emails": emails}).status_code, 201, "status")
    asked = {"recipient_emails": [emails[0], b.address("carl")]}
    same(members.search.post(request_body=asked).to_dict, [emails[0]], "found")
    standing = api.suppressions._(emails[0]).get().to_dict["suppressions"]
    (own,) = [each for each in standing if each["id"] == group]
    same((own["name"], own["suppressed"]), (body["name"], True), "standing")

    send(b, "ann", group=group)
    send(b, "ann", "Without a group")
    (copy,) = b.copies(1).values()
    same(copy.subject, "Without a group", "Subject")
    same(members._(emails[1]).delete().status_code, 204, "status")
    same(members.get().to_dict, emails[:1], "left")


@case("addresses leave a list by name, in the body of a DELETE")
def named(b):
    emails = [b.address(name) for name in ("ann", "bob", "carl")]
    everything(b).post(request_body={"recipient_emails": emails})
    left = b.client.client.suppression.unsubscribes
    page = left.get(query_params={"email": "ann@", "limit": 1})
    same(len(page.to_dict), 1, "rows")
    assert 'rel="first"' in page.headers["Link"], page.headers
    same(left.delete(request_body={"emails": emails[:2]}).status_code, 204, "status")
    same([len(left._(email).get().to_dict) for email in emails], [0, 0, 1], "left")
    try:
        left.delete(request_body={})
    except BadRequestsError as why:
        same(why.to_dict["errors"][0]["field"], "delete_all", "field")
    else:
        raise AssertionError("nothing was said and something was done")
    same(left._(emails[2]).delete().status_code, 204, "status")
