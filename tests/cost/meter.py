"""Reads every call that passes the tap, and adds up what AWS would bill of it."""

import collections
import dataclasses
import json
import threading

from duration import covered
from units import WRITES, queue_units, read_units, write_units


@dataclasses.dataclass
class Use:
    """What one kind of call came to."""

    calls: int = 0
    refused: int = 0
    """Answers other than 2xx: conditions that did not hold, mostly."""
    reads: float = 0.0
    writes: float = 0.0
    messages: int = 0
    units: int = 0
    """Requests as SQS and EventBridge bill them."""
    seconds: float = 0.0
    """Waited for answers."""
    stored: int = 0
    """Bytes put into the bucket."""

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Meter:
    """`ask` is the tap's fault, `seen` its ear. `taken` gives what came since it was last asked: the
    uses, and the seconds in which each function had a call under way."""

    def __init__(self):
        self.lock = threading.Lock()
        self.uses = collections.defaultdict(Use)
        self.intervals = collections.defaultdict(list)

    def ask(self, call):
        """Has the emulator tell the units of a write. What it adds to the answer, the SDK passes over."""
        if call.service == "dynamodb" and call.operation in WRITES:
            request = call.json()
            request["ReturnConsumedCapacity"] = "TOTAL"
            call.body = json.dumps(request).encode()

    def seen(self, call):
        use = Use(calls=1, seconds=call.seconds, refused=int(not 200 <= call.status < 300))
        if call.service == "dynamodb":
            request, answer = call.json(), json.loads(call.answer or b"{}")
            use.reads = read_units(call.operation, request, answer) if call.status == 200 else 0.0
            use.writes = write_units(call.operation, request, call.status, answer)
        elif call.service in ("sqs", "events"):
            use.messages = len(call.entries)
            each = call.service == "events"
            use.units = sum(queue_units([one]) for one in call.entries) if each else queue_units(call.entries)
        elif call.operation == "PutObject":
            use.stored = call.sent
        with self.lock:
            self.uses[(call.app, call.service, call.operation)].add(use)
            # What the relay takes is not the service's.
            if call.service != "ses":
                self.intervals[call.app].append((call.at, call.at + call.seconds))

    def taken(self):
        with self.lock:
            uses, self.uses = self.uses, collections.defaultdict(Use)
            intervals, self.intervals = self.intervals, collections.defaultdict(list)
        return dict(uses), {app: covered(each) for app, each in intervals.items()}
