"""django-anymail against a running host: sending, merging, signed tracking events, received mail, signed or not.

Only `SENDGRID_API_URL` is changed. Prints a line for each case.
"""

import argparse
import collections
import contextlib
import queue
import sys
import threading
import traceback
import urllib.error
import urllib.request
import warnings
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.conf import settings

from api import Api, deliver

CASES = []
# Folded where mail programs fold: in the list of ids that threading needs.
REFERENCES = "<first.of.the.thread@mail.sender.example>\r\n <second.of.the.thread@mail.sender.example>"
MAIL = (
    "From: Ann <ann@sender.example>\r\nTo: box@in.shop.example\r\n"
    f"References: {REFERENCES}\r\nMessage-ID: <third@mail.sender.example>\r\n"
    "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMIME-Version: 1.0\r\n"
    'Content-Type: multipart/mixed; boundary="b1"\r\n\r\n'
    "--b1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    "Schöne Grüße\r\n"
    '--b1\r\nContent-Type: text/csv; name="list.csv"\r\n'
    'Content-Disposition: attachment; filename="list.csv"\r\n\r\na,b\r\n--b1--\r\n'
).encode()


# Bytes that are no text, in a part of their own.
SIGNED_MAIL = MAIL.replace(
    b"--b1--",
    b"--b1\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n"
    b'Content-Disposition: attachment; filename="list.bin"\r\n\r\n/wD+DQo=\r\n--b1--',
)


def case(name):
    def keep(function):
        CASES.append((name, function))
        return function

    return keep


class Bench:
    """A Django site on a free port of this machine, and what its signals brought."""

    def __init__(self, options):
        settings.configure(
            ALLOWED_HOSTS=["*"],
            SECRET_KEY="of a test",
            ROOT_URLCONF=__name__,
            EMAIL_BACKEND="anymail.backends.sendgrid.EmailBackend",
            INSTALLED_APPS=["anymail"],
            ANYMAIL={"SENDGRID_API_KEY": options.key, "SENDGRID_API_URL": f"{options.api}/v3/"},
        )
        django.setup()
        from anymail.signals import inbound, tracking
        from django.core.wsgi import get_wsgi_application

        self.api = Api(options.api, options.key)
        self.smtp = (options.smtp_host, options.smtp_port)
        self.events, self.mails = queue.Queue(), queue.Queue()
        self.seen = collections.defaultdict(dict)
        # Signals hold their receivers weakly.
        self.receivers = (
            lambda event, **_: self.events.put(event),
            lambda event, **_: self.mails.put(event.message),
        )
        tracking.connect(self.receivers[0])
        inbound.connect(self.receivers[1])

        class Silent(WSGIRequestHandler):
            def log_message(self, *_):
                pass

        self.server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Silent)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @contextlib.contextmanager
    def webhook(self):
        """A signed event webhook to the site, whose key the site learns."""
        kinds = {"processed": True, "delivered": True, "url": f"{self.url}/tracking/", "enabled": True}
        made = self.api.call("POST", "/v3/user/webhooks/event/settings", kinds)
        path = f"/v3/user/webhooks/event/settings/signed/{made['id']}"
        signed = self.api.call("PATCH", path, {"enabled": True})
        settings.ANYMAIL["SENDGRID_TRACKING_WEBHOOK_VERIFICATION_KEY"] = signed["public_key"]
        try:
            yield
        finally:
            self.api.call("DELETE", f"/v3/user/webhooks/event/settings/{made['id']}")

    def tracked(self, recipient, *kinds):
        """The events of a recipient by type, once there are these. Those of others are kept for them."""
        while set(kinds) - set(self.seen[recipient]):
            event = self.events.get(timeout=60)
            self.seen[event.recipient][event.event_type] = event
        return self.seen[recipient]


def tracking(request):
    from anymail.webhooks.sendgrid import SendGridTrackingWebhookView

    return SendGridTrackingWebhookView.as_view()(request)


def inbound(request):
    from anymail.webhooks.sendgrid import SendGridInboundWebhookView

    return SendGridInboundWebhookView.as_view()(request)


def verified(request):
    from anymail.webhooks.sendgrid import SendGridBaseWebhookView, SendGridInboundWebhookView

    # Anymail checks the signatures of events alone; its view of received mail says how to have them checked too.
    class Verified(SendGridInboundWebhookView, SendGridBaseWebhookView):
        key_setting_name = "inbound_webhook_verification_key"

    return Verified.as_view()(request)


tracking.csrf_exempt = inbound.csrf_exempt = verified.csrf_exempt = True


def urls():
    from django.urls import path

    return [path("tracking/", tracking), path("inbound/", inbound), path("verified/", verified)]


@case("a mail with everything is sent, and its signed events come back with tag and metadata")
def send(bench):
    from django.core.mail import EmailMultiAlternatives

    mail = EmailMultiAlternatives("Grüße", "text", "Shop <shop@sender.example>", ["ann@send.example"])
    mail.attach_alternative("<p>html</p>", "text/html")
    mail.attach("list.bin", b"\x00\xff", "application/octet-stream")
    mail.cc, mail.reply_to = ["cc@send.example"], ["reply@sender.example"]
    mail.tags, mail.metadata, mail.track_clicks = ["welcome"], {"order": "17"}, False
    with bench.webhook():
        assert mail.send() == 1
        status = mail.anymail_status
        assert status.status == {"queued"}, status
        events = bench.tracked("ann@send.example", "queued", "delivered")
    for event in events.values():
        assert event.tags == ["welcome"] and event.metadata["order"] == "17", vars(event)
        assert event.message_id == status.recipients["ann@send.example"].message_id, vars(event)
    assert events["delivered"].mta_response.startswith("250"), vars(events["delivered"])


@case("a merge gives each recipient a text of their own")
def merge(bench):
    from django.core.mail import EmailMessage

    mail = EmailMessage("Order -order-", "Hello -name-", "shop@sender.example")
    mail.to = ["ann@merge.example", "bob@merge.example"]
    mail.esp_extra = {"merge_field_format": "-{}-"}
    mail.merge_data = {"ann@merge.example": {"name": "Ann"}, "bob@merge.example": {"name": "Bob"}}
    mail.merge_global_data = {"order": "17"}
    mail.merge_metadata = {"bob@merge.example": {"rank": "2"}}
    with bench.webhook():
        assert mail.send() == 1
        for who in mail.to:
            bench.tracked(who, "delivered")
    texts = {}
    for line in bench.mailbox.search("rcpt:@merge.example", 0)["messages"]:
        found = bench.mailbox.get(f"/api/v1/message/{line['ID']}")
        texts[found["To"][0]["Address"]] = (found["Subject"], found["Text"].strip())
    wanted = {f"{who.lower()}@merge.example": ("Order 17", f"Hello {who}") for who in ("Ann", "Bob")}
    assert texts == wanted, texts


def received(bench, mode, sent=MAIL):
    deliver(bench.smtp, f"box@{mode}.shop.example", sent)
    mail = bench.mails.get(timeout=60)
    assert mail.envelope_sender == "ann@sender.example", mail.envelope_sender
    assert mail.envelope_recipient == f"box@{mode}.shop.example", mail.envelope_recipient
    assert mail.subject == "Grüße" and mail.from_email.addr_spec == "ann@sender.example"
    assert mail.text.replace("\r\n", "\n").strip() == "Schöne Grüße", mail.text
    file = mail.attachments[0]
    assert file.get_filename() == "list.csv" and file.get_content_text().strip() == "a,b"
    references = mail["References"].split()
    assert references == [one.strip() for one in REFERENCES.split("\r\n")], references
    return mail


@case("received mail is read in the parsed mode, with our Received field first")
def parsed(bench):
    bench.api.parse("shop.example", f"{bench.url}/inbound/")
    mail = received(bench, "in")
    assert mail.spam_score is None
    assert "with ESMTP" in mail.get_all("Received")[0], mail.get_all("Received")


@case("received mail is read in the raw mode")
def raw(bench):
    received(bench, "raw")


@case("received mail that a policy signs passes Anymail's check, and what is not signed does not")
def signed(bench):
    policy = {"name": "anymail", "signature": {"enabled": True}}
    policy = bench.api.call("POST", "/v3/user/webhooks/security/policies", policy)["policy"]
    settings.ANYMAIL["SENDGRID_INBOUND_WEBHOOK_VERIFICATION_KEY"] = policy["signature"]["public_key"]
    url = f"{bench.url}/verified/"
    for mode, raw in (("signed", False), ("signed-raw", True)):
        setting = {"hostname": f"{mode}.shop.example", "url": url, "send_raw": raw, "security_policy": policy["id"]}
        bench.api.call("POST", "/v3/user/webhooks/parse/settings", setting)
        mail = received(bench, mode, SIGNED_MAIL)
        assert mail.attachments[1].get_content_bytes() == b"\xff\x00\xfe\r\n", mail.attachments
    try:
        urllib.request.urlopen(url, b"email=x")
    except urllib.error.HTTPError as refused:
        assert refused.code == 400, refused.code
    else:
        raise AssertionError("a post without a signature passes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--api", "--mailbox", "--key", "--smtp-host"):
        parser.add_argument(name, required=True)
    parser.add_argument("--smtp-port", required=True, type=int)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="django-anymail has dropped official support")
    # Some received mail is not signed; on this machine nothing else posts to the site.
    warnings.filterwarnings("ignore", message="Your Anymail webhooks are insecure")
    bench = Bench(options)
    global urlpatterns
    urlpatterns = urls()
    from inbox import Mailbox

    bench.mailbox = Mailbox(options.mailbox)
    failed = 0
    for name, function in CASES:
        try:
            function(bench)
        except Exception as why:  # any way to fail is a failed case, never the end of the run
            failed += 1
            print(f"FAIL {name}: {why!r:.2000}", flush=True)
            traceback.print_exc()
        else:
            print(f"ok {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
