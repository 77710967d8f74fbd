"""What goes wrong, and how the client tells it."""

import python_http_client
import sendgrid
from python_http_client.exceptions import BadRequestsError, ForbiddenError, UnauthorizedError
from sendgrid.helpers.mail import Mail, MailSettings, SandBoxMode

from harness import case, same


def refused(kind, call):
    """The errors of the answer; each has `message`, `field` and `help`."""
    try:
        call()
    except kind as why:
        errors = why.to_dict["errors"]
        assert errors, why.body
        for error in errors:
            same(sorted(error), ["field", "help", "message"], "keys of an error")
        return errors
    except python_http_client.HTTPError as why:
        raise AssertionError(f"{why.status_code} {why.body!r}") from why
    raise AssertionError("the request was accepted")


@case("a mail without a sender is refused with the field that is missing")
def no_sender(b):
    mail = Mail(to_emails=b.address("ann"), subject="s", html_content="x")
    errors = refused(BadRequestsError, lambda: b.client.send(mail))
    (error,) = [error for error in errors if error["field"] == "from.email"]
    assert error["message"].startswith("The from object must be provided"), error


@case("every problem of a mail is told at once")
def many(b):
    body = {"personalizations": [{"to": [{"email": "not an address"}]}], "from": {"email": ""}}
    errors = refused(BadRequestsError, lambda: b.client.client.mail.send.post(request_body=body))
    fields = {error["field"] for error in errors}
    assert {"personalizations.0.to.0.email", "subject", "content"} <= fields, errors


@case("broken JSON and wrong types are bad requests")
def broken(b):
    post = b.client.client.mail.send.post
    sound = Mail("f@sender.example", b.address("ann"), "s", "x").get()
    for body in (
        "not an object",
        [],
        {},
        {**sound, "personalizations": "x"},
        {**sound, "custom_args": {"a": 1}},
        {**sound, "subject": 7},
    ):
        refused(BadRequestsError, lambda body=body: post(request_body=body))


@case("a wrong key is unauthorized")
def wrong_key(b):
    for key in (b.key[:-1] + ("a" if b.key[-1] != "a" else "b"), "SG.x.y", "nonsense"):
        client = sendgrid.SendGridAPIClient(key, host=b.api)
        mail = Mail("f@sender.example", b.address("ann"), "s", "x")
        errors = refused(UnauthorizedError, lambda: client.send(mail))
        want = "The provided authorization grant is invalid, expired, or revoked"
        same(errors, [{"message": want, "field": None, "help": None}], key[:6])


@case("the sandbox takes a mail and sends nothing")
def sandbox(b):
    mail = Mail("f@sender.example", b.address("ann"), "s", "x")
    settings = MailSettings()
    settings.sandbox_mode = SandBoxMode(True)
    mail.mail_settings = settings
    answer = b.client.send(mail)
    same((answer.status_code, answer.body), (200, b""), "answer")
    # A mail sent afterwards overtakes nothing: once it is there, the other would be too.
    b.client.send(Mail("f@sender.example", b.address("bob"), "s", "x"))
    same(list(b.copies(1)), [b.address("bob")], "recipients")


@case("what was refused was not sent")
def nothing(b):
    mail = Mail("f@sender.example", b.address("ann"), "s", "x").get()
    # The helper refuses such an address by itself, so it goes in behind its back.
    mail["personalizations"][0]["to"].append({"email": "broken.example.com"})
    post = b.client.client.mail.send.post
    errors = refused(BadRequestsError, lambda: post(request_body=mail))
    same([error["field"] for error in errors], ["personalizations.0.to.1.email"], "fields")
    b.client.send(Mail("f@sender.example", b.address("bob"), "s", "x"))
    same(list(b.copies(1)), [b.address("bob")], "recipients")


@case("a key without the scope is forbidden")
def scopes(b):
    made = b.client.client.api_keys.post(request_body={"name": "narrow", "scopes": ["mail.batch.read"]})
    same(made.status_code, 201, "status")
    client = sendgrid.SendGridAPIClient(made.to_dict["api_key"], host=b.api)
    try:
        client.send(Mail("f@sender.example", b.address("ann"), "s", "x"))
    except ForbiddenError as why:
        assert why.to_dict["errors"], why.body
    else:
        raise AssertionError("the request was accepted")
