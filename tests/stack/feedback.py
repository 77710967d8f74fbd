"""What SES says of a mail after it took it: events in the schema that AWS publishes.

The emulator publishes none, and neither it nor AWS lets anybody else put an event of `aws.ses` on the bus.
So an event is held against the rule as it is deployed, and then goes where the rule sends it.
"""

import json
import pathlib
import sys
import time

from stack import client

SAMPLES = pathlib.Path(__file__).parents[2] / "functions/ses-feedback/tests/samples"


class Feedback:
    """The rule of the deployed stack, and the queue that it leads to."""

    def __init__(self, endpoint, resources):
        self.events = client("events", endpoint)
        self.queues = client("sqs", endpoint)
        self.queue = resources["FeedbackQueue"]
        rule = self.events.describe_rule(Name=resources["FeedbackRule"].rpartition("|")[2])
        self.pattern = rule["EventPattern"]
        if rule["State"] != "ENABLED" or rule.get("EventBusName", "default") != "default":
            sys.exit(f"the rule does not listen where SES speaks: {rule}")
        [target] = self.events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        if target["Arn"].rpartition(":")[2] != self.queue.rpartition("/")[2]:
            sys.exit(f"the rule leads elsewhere: {target}")

    def event(self, sample, sent):
        """The event that SES would publish of this mail; `sample` names a file of published ones."""
        event = json.loads((SAMPLES / f"{sample}.json").read_text())
        tags = event["detail"]["mail"]["tags"]
        tags |= {name: [value] for name, value in sent.tags.items()}
        tags["ses:configuration-set"] = [sent.set]
        mail = event["detail"]["mail"]
        # A mail whose answer was lost has an id all the same.
        mail["messageId"] = sent.id or mail["messageId"]
        mail["destination"] = sent.to
        mail["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        return event

    def passes(self, event):
        """Whether the rule takes the event."""
        asked = self.events.test_event_pattern(EventPattern=self.pattern, Event=json.dumps(event))
        return asked["Result"]

    def tell(self, sample, sent):
        """SES says this of the mail."""
        event = self.event(sample, sent)
        if not self.passes(event):
            sys.exit(f"the rule does not take {sample}: {self.pattern}")
        self.queues.send_message(QueueUrl=self.queue, MessageBody=json.dumps(event))

    def strangers(self, sent):
        """What is said of others' mails does not pass."""
        other, untagged = (self.event("delivery", sent) for _ in range(2))
        other["detail"]["mail"]["tags"]["ses:configuration-set"] = ["another"]
        del untagged["detail"]["mail"]["tags"]["posthaste-account"]
        return not self.passes(other) and not self.passes(untagged)
