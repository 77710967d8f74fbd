"""What SES says of a mail after it took it: events in the schema that AWS publishes.

The emulator publishes none. So an event is published to the topic that the deployed stack names as the
destination of its configuration set, and goes where the topic's subscription leads.
"""

import json
import pathlib
import sys
import time

from stack import client

SAMPLES = pathlib.Path(__file__).parents[2] / "functions/ses-feedback/tests/samples"


class Feedback:
    """The topic of the deployed stack, and the queue that it leads to."""

    def __init__(self, endpoint, resources):
        self.topics = client("sns", endpoint)
        self.topic = resources["MailEventsTopic"]
        queue = resources["FeedbackQueue"].rpartition("/")[2]
        [subscription] = self.topics.list_subscriptions_by_topic(TopicArn=self.topic)["Subscriptions"]
        if subscription["Protocol"] != "sqs" or subscription["Endpoint"].rpartition(":")[2] != queue:
            sys.exit(f"the topic leads elsewhere: {subscription}")
        arn = subscription["SubscriptionArn"]
        attributes = self.topics.get_subscription_attributes(SubscriptionArn=arn)["Attributes"]
        if attributes.get("RawMessageDelivery") != "true":
            sys.exit(f"the topic puts events into an envelope: {attributes}")

    def event(self, sample, sent):
        """The event that SES would publish of this mail; `sample` names a file of published ones."""
        # The samples have the envelope of EventBridge, which SNS does not add.
        event = json.loads((SAMPLES / f"{sample}.json").read_text())["detail"]
        tags = event["mail"]["tags"]
        tags |= {name: [value] for name, value in sent.tags.items()}
        tags["ses:configuration-set"] = [sent.set]
        mail = event["mail"]
        # A mail whose answer was lost has an id all the same.
        mail["messageId"] = sent.id or mail["messageId"]
        mail["destination"] = sent.to
        mail["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        return event

    def tell(self, sample, sent):
        """SES says this of the mail."""
        self.publish(json.dumps(self.event(sample, sent)))

    def publish(self, text):
        """SES publishes this text."""
        self.topics.publish(TopicArn=self.topic, Message=text)

    def strangers(self, sent):
        """SES publishes what is no event of a mail of this stack: its test message, and another's mail."""
        self.publish("Successfully validated SNS topic for Amazon SES event publishing.")
        untagged = self.event("delivery", sent)
        untagged["mail"]["tags"] = {}
        self.publish(json.dumps(untagged))
