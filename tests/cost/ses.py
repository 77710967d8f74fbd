"""SES in the place of the relay: takes every mail, and tells on the feedback queue how it ended.

The emulator publishes no events of SES. They are made here of the samples that the tests of ses-feedback
read, and put where SNS puts them. AWS bills that as a request to the topic and one to the queue each.
"""

import base64
import email
import email.policy
import json
import pathlib
import threading
import time
import uuid

SAMPLES = pathlib.Path(__file__).parents[2] / "functions/ses-feedback/tests/samples"
# What SES tells of a mail that arrives.
KINDS = ("send", "delivery")


class Ses:
    """What a Relay is to the stage, behind the tap's `fault`."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.mails = []
        self.untold = []
        self.samples = [(SAMPLES / f"{kind}.json").read_text(encoding="utf-8") for kind in KINDS]

    def fault(self, call):
        """Answers a mail that is sent; anything else is for the emulator."""
        if (call.service, call.operation) != ("ses", "SendEmail"):
            return None
        asked = call.json()
        with self.lock:
            self.count += 1
            raw = base64.b64decode(asked["Content"]["Raw"]["Data"])
            self.mails = self.mails[-9:] + [email.message_from_bytes(raw, policy=email.policy.default)]
            self.untold.append(asked)
        answer = json.dumps({"MessageId": str(uuid.uuid4())}).encode()
        return 200, {"Content-Type": "application/json"}, answer

    def with_subject(self, text):
        with self.lock:
            return [mail for mail in self.mails if text in str(mail["subject"])]

    def news(self):
        """The events of what was sent since this was last asked."""
        with self.lock:
            untold, self.untold = self.untold, []
        return [self.event(sample, asked) for asked in untold for sample in self.samples]

    def event(self, sample, asked):
        tags = {tag["Name"]: tag["Value"] for tag in asked["EmailTags"]}
        for name in ("account", "message", "recipient"):
            sample = sample.replace(f"{{{name}}}", tags[f"posthaste-{name}"])
        # The samples have the envelope of EventBridge, which SNS does not add.
        event = json.loads(sample)["detail"]
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        event["mail"]["timestamp"] = now
        event["mail"]["destination"] = asked["Destination"]["ToAddresses"]
        if "delivery" in event:
            event["delivery"]["timestamp"] = now
            event["delivery"]["recipients"] = asked["Destination"]["ToAddresses"]
        return json.dumps(event, separators=(",", ":"))
