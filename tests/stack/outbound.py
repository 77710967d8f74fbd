"""What reaches SES: every SendEmail that passes the tap, as it was sent, and answers that go wrong.

The emulator rebuilds raw mail and keeps neither tags nor configuration set, so that both are read here, on
the wire. What no fault takes is passed on to the emulator, which has its own record of what it sent.
"""

import base64
import dataclasses
import email
import email.policy
import http.client
import json
import threading

import bad_day
from tap import HANG_UP, Tap


@dataclasses.dataclass
class Sent:
    """One SendEmail and its answer."""

    raw: bytes
    to: list
    others: list
    """Recipients that the call names as Cc or Bcc."""
    set: str
    tags: dict
    status: int
    """0 where no answer came."""
    id: str
    """SES's own id of the mail; empty where it took none."""
    why: str
    """What it answered instead."""
    mail: email.message.EmailMessage = None

    def __post_init__(self):
        self.mail = email.message_from_bytes(self.raw, policy=email.policy.default)

    @property
    def taken(self):
        return bool(self.id)


def refusal(status, name, text):
    """An error as SES v2 writes it."""
    headers = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-ErrorType": name}
    return status, headers, json.dumps({"message": text})


THROTTLED = refusal(429, "TooManyRequestsException", "Maximum sending rate exceeded.")
REJECTED = refusal(400, "MessageRejected", "Transaction failed: Invalid filename: 'setup.exe'.")


class Ses:
    """The tap before the emulator, seen as SES's SendEmail."""

    def __init__(self, emulator, record):
        self.emulator = emulator
        self.record = record
        self._sent = []
        self._faults = {}
        # What the bad day refused, which no step asked for.
        self._refused = []
        self._lock = threading.Lock()
        self.day = bad_day.if_wanted(emulator.port)
        self.tap = Tap(emulator.port, fault=self.fault, seen=self.seen)
        self.url = self.tap.url

    def go_wrong(self, subject, *answers):
        """The next mails of this subject meet these answers, one each."""
        with self._lock:
            self._faults[subject] = list(answers)

    def lose(self, subject, most=1_000):
        """So many mails of this subject are taken by SES, which is never heard of again."""
        self.go_wrong(subject, *[self.lost] * most)

    def mend(self, subject):
        with self._lock:
            self._faults.pop(subject, None)

    def fault(self, call):
        if call.operation == "SendEmail":
            with self._lock:
                waiting = self._faults.get(of(call)["subject"])
                answer = waiting.pop(0) if waiting else None
            if answer is not None:
                return answer(call) if callable(answer) else answer
        answer = self.day.fault(call) if self.day else None
        if answer is not None:
            self._refused.append(call)
        return answer

    def lost(self, call):
        """The emulator takes the mail; the caller's connection is cut instead of an answer."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.emulator.port, timeout=60)
        headers = {k: v for k, v in call.headers.items() if k not in ("connection", "content-length")}
        upstream.request(call.method, call.path, call.body, headers)
        upstream.getresponse().read()
        upstream.close()
        return HANG_UP

    def seen(self, call):
        self.record.seen(call)
        if call.operation != "SendEmail" or any(call is one for one in self._refused):
            return
        request, raw = call.json(), raw_of(call)
        answer = json.loads(call.answer or b"{}")
        to = request["Destination"]
        sent = Sent(
            raw=raw,
            to=to.get("ToAddresses", []),
            others=to.get("CcAddresses", []) + to.get("BccAddresses", []),
            set=request.get("ConfigurationSetName"),
            tags={tag["Name"]: tag["Value"] for tag in request.get("EmailTags", [])},
            status=call.status,
            id=answer.get("MessageId", ""),
            why=answer.get("message", ""),
        )
        with self._lock:
            self._sent.append(sent)

    def sent(self, subject, taken=None):
        """The calls for mails of this subject, oldest first."""
        with self._lock:
            found = [one for one in self._sent if one.mail["subject"] == subject]
        return [one for one in found if taken is None or one.taken is taken]

    def recorded(self, subject):
        """The emulator's own record of the mails of this subject."""
        connection = http.client.HTTPConnection("127.0.0.1", self.emulator.port, timeout=60)
        connection.request("GET", "/_ministack/ses/messages")
        accounts = json.load(connection.getresponse())["messages"]
        connection.close()
        return [one for mails in accounts.values() for one in mails if one["Subject"] == subject]


def raw_of(call):
    return base64.b64decode(call.json()["Content"]["Raw"]["Data"])


def of(call):
    """The mail that a call carries."""
    return email.message_from_bytes(raw_of(call), policy=email.policy.default)
