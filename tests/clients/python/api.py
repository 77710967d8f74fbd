"""Other calls through the client's fluent interface."""

import time

from python_http_client.exceptions import NotFoundError
from sendgrid.helpers.mail import BatchId, Mail, SendAt

from harness import case, same


@case("scopes and keys are listed, made, changed and deleted")
def keys(b):
    api = b.client.client
    scopes = api.scopes.get().to_dict["scopes"]
    assert "mail.send" in scopes, scopes
    made = api.api_keys.post(request_body={"name": "from python", "scopes": ["mail.send"]})
    same(made.status_code, 201, "status")
    made = made.to_dict
    same(len(made["api_key"]), 69, "length of the key")
    listed = api.api_keys.get().to_dict["result"]
    assert made["api_key_id"] in {key["api_key_id"] for key in listed}, listed
    one = api.api_keys._(made["api_key_id"])
    same(one.patch(request_body={"name": "renamed"}).to_dict["name"], "renamed", "name")
    same(one.delete().status_code, 204, "status")
    try:
        one.get()
    except NotFoundError as why:
        assert why.to_dict["errors"], why.body
    else:
        raise AssertionError("the key is still there")


@case("a cancelled batch is not sent")
def cancelled(b):
    api = b.client.client
    made = api.mail.batch.post()
    same(made.status_code, 201, "status")
    batch = made.to_dict["batch_id"]
    same(api.mail.batch._(batch).get().to_dict, {"batch_id": batch}, "batch")
    mail = Mail("f@sender.example", b.address("later"), "later", "x")
    mail.send_at = SendAt(int(time.time()) + 3600)
    mail.batch_id = BatchId(batch)
    same(b.client.send(mail).status_code, 202, "status")
    state = {"batch_id": batch, "status": "cancel"}
    same(api.user.scheduled_sends.post(request_body=state).status_code, 201, "status")
    same(api.user.scheduled_sends._(batch).get().to_dict, [state], "state")
    b.client.send(Mail("f@sender.example", b.address("now"), "now", "x"))
    same(list(b.copies(1)), [b.address("now")], "recipients")


@case("every answer tells the rate limit")
def limits(b):
    answer = b.client.client.scopes.get()
    for name in ("limit", "remaining", "reset"):
        value = answer.headers[f"X-RateLimit-{name.title()}"]
        assert int(value) >= 0, value
