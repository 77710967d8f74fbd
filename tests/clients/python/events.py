"""Signed events and received mail at a webhook of ours, checked with the official verifier."""

import json
import queue
import smtplib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sendgrid.helpers.eventwebhook import EventWebhook, EventWebhookHeader
from sendgrid.helpers.mail import Category, CustomArg, Mail

from harness import case, same


class Receiver:
    """Takes posts on a free port of this machine."""

    def __init__(self):
        posts = self.posts = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                posts.put((self.headers, body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/events"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@case("events are posted with a signature the official verifier accepts")
def signed(b):
    settings = b.client.client.user.webhooks.event.settings
    with Receiver() as receiver:
        wanted = {"enabled": True, "url": receiver.url, "processed": True, "delivered": True}
        made = settings.post(request_body=wanted)
        same(made.status_code, 201, "status")
        identity = made.to_dict["id"]
        try:
            signed = settings.signed._(identity).patch(request_body={"enabled": True}).to_dict
            verifier = EventWebhook(signed["public_key"])
            mail = Mail("f@sender.example", b.address("ann"), "Events ü", "x")
            mail.category = [Category("python")]
            mail.custom_arg = CustomArg("order", "ä 17")
            message = b.client.send(mail).headers["X-Message-Id"]
            events = {}
            while {"processed", "delivered"} - set(events):
                headers, body = receiver.posts.get(timeout=60)
                signature = headers[EventWebhookHeader.SIGNATURE]
                at = headers[EventWebhookHeader.TIMESTAMP]
                text = body.decode()
                assert verifier.verify_signature(text, signature, at), "the signature is wrong"
                altered = text.replace("sender.example", "evil.example").replace("a", "b", 1)
                assert not verifier.verify_signature(altered, signature, at), "anything passes"
                own = [event for event in json.loads(text) if event["email"] == b.address("ann")]
                events.update((event["event"], event) for event in own)
        finally:
            same(settings._(identity).delete().status_code, 204, "status")
    for event in events.values():
        assert event["sg_message_id"].startswith(message), event
        same(event["category"], ["python"], "category")
        same(event["order"], "ä 17", "custom argument")
        assert event["sg_event_id"] and event["timestamp"], event
    assert events["delivered"]["response"].startswith("250"), events["delivered"]


@case("received mail is posted with a signature the official verifier accepts")
def received(b):
    webhooks = b.client.client.user.webhooks
    with Receiver() as receiver:
        policies = webhooks.security.policies
        made = policies.post(request_body={"name": "python", "signature": {"enabled": True}})
        same(made.status_code, 201, "status")
        policy = made.to_dict["policy"]
        b.client.client.whitelabel.domains.post(request_body={"domain": b.domain})
        setting = {"hostname": f"in.{b.domain}", "url": receiver.url, "security_policy": policy["id"]}
        same(webhooks.parse.settings.post(request_body=setting).status_code, 201, "status")
        name, port = b.smtp.rsplit(":", 1)
        with smtplib.SMTP(name, int(port)) as smtp:
            mail = f"From: ann@sender.example\r\nTo: box@in.{b.domain}\r\nSubject: Hi\r\n\r\nGrüße\r\n"
            smtp.sendmail("ann@sender.example", [f"box@in.{b.domain}"], mail.encode())
        headers, body = receiver.posts.get(timeout=60)
        signature, at = headers[EventWebhookHeader.SIGNATURE], headers[EventWebhookHeader.TIMESTAMP]
        verifier, text = EventWebhook(policy["signature"]["public_key"]), body.decode()
        assert verifier.verify_signature(text, signature, at), "the signature is wrong"
        assert not verifier.verify_signature(text.replace("Hi", "Ho"), signature, at), "anything passes"
        assert not verifier.verify_signature(text, signature, str(int(at) + 1)), "any time passes"
        gone = policies._(policy["id"]).delete(query_params={"force": "true"})
        same((gone.status_code, gone.to_dict), (200, {"policy": None}), "deletion")
