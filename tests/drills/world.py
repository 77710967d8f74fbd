"""The deployed service on an emulator of AWS, with a tap between its functions and AWS, a relay that can be
in trouble, and a clock of its functions that can be turned."""

import json
import tempfile
import time

import alarms
from clock import Clock
from load import Load
from local import Relay
from relays import Moody, Port

# From tests/stack.
from drive import sender
from parts import Api, Emulator, first_key, until
from stack import client, deploy
from tap import Tap

# Seconds that delivery claims a copy for (functions/delivery/src/copy.rs); who comes back later than its
# queue's visibility finds it free, and so must one whose queue is quicker here.
LEASE = 900

# The queues' visibility in the template is half an hour at most; here it is seconds.
VISIBILITY = 15


class World:
    """One deployment. `timeouts` are seconds that functions get, by the name of their binary."""

    def __init__(self, binaries, posthaste, visibility, timeouts=None):
        self.folder = tempfile.TemporaryDirectory(prefix="posthaste-faults-")
        print(f"  deploying at {time.strftime('%H:%M:%S')}", flush=True)
        self.clock, self.relay, self.emulator = Clock(self.folder.name), Port(), Emulator()
        self.timeouts, self.visibility = timeouts or {}, visibility
        Relay.seen.clear()
        self.fault, self.faults, self.letters = None, [], []
        self.tap = Tap(self.emulator.port, self.asked)
        url = self.emulator.url
        self.resources = deploy(
            url, binaries,
            {"Delivery": f"smtp://127.0.0.1:{self.relay.port}?tls=none", "HostnameOfService": "mail.example.com"},
            self.tap.url, self.change,
        )
        self.key = first_key(posthaste, self.resources["Table"], url)
        self.api = Api(self.emulator.port, self.resources["Api"], self.key)
        self.queues = client("sqs", url)
        sender(self.api, self.relay)

    def change(self, plain):
        """What a drill cannot wait for, and what it looks through."""
        for name, resource in plain["Resources"].items():
            properties = resource.get("Properties", {})
            if resource["Type"] == "AWS::SQS::Queue" and "VisibilityTimeout" in properties:
                properties["VisibilityTimeout"] = self.visibility
            if resource["Type"] == "AWS::Lambda::Function":
                binary = properties["Code"]["S3Key"].removesuffix(".zip")
                variables = properties["Environment"]["Variables"]
                variables |= {"AWS_SDK_UA_APP_ID": binary, **self.clock.environment}
                if binary in self.timeouts:
                    properties["Timeout"] = self.timeouts[binary]

    def asked(self, call):
        """The tap's question; what goes wrong is noted."""
        answer = self.fault(call) if self.fault else None
        if answer is not None:
            self.faults.append((time.time(), call.app, call.service, call.operation, call.on))
        return answer

    def post(self, body):
        status, decoded, headers = self.api.call("POST", "/v3/mail/send", body)
        return status, json.dumps(decoded), headers

    def load(self, rate, more=lambda number: {}):
        return Load(self.post, rate, more)

    def calm(self, load, count):
        """Waits until so many more mails were accepted."""
        wanted = len(load.accepted) + count
        until(f"{count} mails are accepted", lambda: len(load.accepted) >= wanted, 120)

    def stormy(self, load, seconds, begin, end):
        """Lets something go wrong for a while under load; from when to when."""
        self.calm(load, 50)
        begin()
        started = time.time()
        load.over.wait(seconds)
        end()
        ended = time.time()
        self.calm(load, 50)
        load.stop()
        return started, ended

    def attribute(self, queue, name="ApproximateNumberOfMessages"):
        found = self.queues.get_queue_attributes(QueueUrl=self.resources[queue], AttributeNames=[name])
        return int(found["Attributes"][name])

    def dead(self):
        """The texts of the send queue's dead letters."""
        found = self.letters
        while True:
            got = self.queues.receive_message(
                QueueUrl=self.resources["SendDeadLetters"], MaxNumberOfMessages=10, VisibilityTimeout=600
            ).get("Messages", [])
            if not got:
                return found
            found += [one["Body"] for one in got]

    def ended(self, message):
        """The end of a mail that is told to whoever asks: (state, reason), or nothing."""
        status, found, _ = self.api.call("GET", f"/v3/messages/{message}")
        events = found["events"] if status == 200 else []
        for event in events:
            if event["event_name"] in ("dropped", "bounced", "bounce"):
                return event["event_name"], event.get("reason")
        return None

    def waiting(self):
        """Messages in the send queue, whether or not they can be seen."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
                 "ApproximateNumberOfMessagesDelayed"]
        found = self.queues.get_queue_attributes(QueueUrl=self.resources["SendQueue"], AttributeNames=names)
        return sum(int(count) for count in found["Attributes"].values())

    def drained(self, load, report):
        """Waits until all arrived or ended and no job is left. Once nothing moves any more the clock passes the
        claims of those who were cut off, as the queue's own visibility does on AWS."""
        before, moved, jumped = None, time.monotonic(), 0
        end = time.monotonic() + 300 + 10 * self.visibility
        while time.monotonic() < end:
            now = (sum(map(len, Relay.seen.values())), self.waiting())
            if not now[1] and all(self.ended(load.accepted[number]) for number in load.under_way()):
                break
            if now != before:
                before, moved = now, time.monotonic()
            if time.monotonic() - moved > 2 * self.visibility + 2 and jumped < 2:
                self.clock.jump(LEASE + 1)
                moved, jumped = time.monotonic(), jumped + 1
            time.sleep(0.5)
        if jumped:
            report.say("claims of those cut off passed", f"{jumped} times, by the clock")
        report.must(not self.waiting(), f"{self.waiting()} jobs are still there")

    def figures(self):
        return alarms.figures(self.emulator.url)

    def stop(self):
        self.fault = None
        self.tap.close()
        self.emulator.stop()
        self.relay.down()
        Moody.mood, Moody.hung = "takes", 0
        Moody.mails.clear()
        self.folder.cleanup()
