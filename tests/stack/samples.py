"""Requests whose mails must be the same whichever way they leave, and what "the same" is."""

import base64
import email
import email.policy
import re
import sys

SENDER = "news@example.com"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
BYTES = bytes(range(256)) * 4_000


def attachment(content, name, **more):
    return {"content": base64.b64encode(content).decode(), "filename": name, **more}


def request(subject, *contents, to=None, **more):
    return {
        "personalizations": [to or {"to": [{"email": "ada@example.net"}]}],
        "from": {"email": SENDER, "name": "The News"},
        "subject": subject,
        "content": [{"type": kind, "value": value} for kind, value in contents],
        # Links of ours carry marks of their own for each mail.
        "tracking_settings": {"click_tracking": {"enable": False}, "open_tracking": {"enable": False}},
        **more,
    }


PLAIN = ("text/plain", "The sun is up.\r\n.\r\n..and so are we.\r\nFrom here on: \u00fc \u2600\r\n" + "long " * 300)
HTML = ("text/html", '<p>The sun <img src="cid:sun"> is <b>up</b>. \u65e5\u306e\u51fa</p>')
EVERYBODY = {
    "to": [{"email": "ada@example.net", "name": "Ada, the first"}],
    "cc": [{"email": "bob@example.net"}],
    "bcc": [{"email": "eve@example.net"}],
    "headers": {"X-Order": "42"},
}
SAMPLES = [
    request("Same: plain", PLAIN),
    request("Same: both \u2600", PLAIN, HTML, reply_to={"email": "desk@example.com", "name": "Desk"}),
    request(
        "Same: parts",
        PLAIN,
        HTML,
        ("text/calendar", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"),
        attachments=[
            attachment(PICTURE, "sun.png", type="image/png", disposition="inline", content_id="sun"),
            attachment(BYTES, "\u00fcbersicht.bin"),
        ],
    ),
    request("Same: headers", PLAIN, to=EVERYBODY, headers={"X-Campaign": "spring \u2600", "List-Id": "<n.example.com>"}),
]


def recipients(sample):
    """Everybody that a sample goes to."""
    return {one["email"] for person in sample["personalizations"] for kind in ("to", "cc", "bcc")
            for one in person.get(kind, [])}


def plain(raw, message):
    """A mail without what differs between two of the same request: its id, and when it was taken."""
    raw = raw.replace(message.encode(), b"ID")
    return re.sub(rb"(?m)^Date: [^\r\n]+\r\n", b"Date: THEN\r\n", raw, count=1)


def same(subject, one, other):
    """Ends the run with the first line in which two mails differ."""
    if one == other:
        return
    for number, lines in enumerate(zip(one.split(b"\n"), other.split(b"\n")), 1):
        if lines[0] != lines[1]:
            sys.exit(f"{subject}, line {number}: SES gets {lines[0]!r}, the relay {lines[1]!r}")
    sys.exit(f"{subject}: SES gets {len(one)} bytes, the relay {len(other)}")


def shape(raw):
    """Header names and the tree of parts, as one who shares no code with us reads them."""
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    if faults := [fault for part in mail.walk() for fault in part.defects]:
        sys.exit(f"{mail['subject']}: {faults}")
    return sorted(mail.keys()), [(p.get_content_type(), p.get_content_disposition()) for p in mail.walk()]
