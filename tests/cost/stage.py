"""The deployed service with everything around it that counts: a tap, a relay, a webhook."""

import collections
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "stack"))

from drive import sender
from parts import Api, Emulator, Relay, first_key, until
from stack import client, deploy, functions, template
from tap import Tap

from cpu import Cpu
from journal import Batches, Logs
from mails import mail
from meter import Meter
from part import Part
from receiver import Receiver
from ses import Ses
from units import item_size

KINDS = (
    "processed delivered deferred bounce dropped open click unsubscribe spam_report group_unsubscribe "
    "group_resubscribe"
).split()
MONTH = 730 * 3600


class Passing(Relay):
    """Counts the mails and keeps the last few, for ten thousand would fill the memory. Answers as long as
    relays do, for the answer is kept with every copy."""

    count = 0

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        del self.mails[:-10]
        await super().handle_DATA(server, session, envelope)
        return f"250 2.0.0 Ok: queued as {self.count:010X}"


class Stage:
    def __init__(self, binaries, posthaste, address, by_ses):
        self.by_ses = by_ses
        self.relay, self.emulator, self.meter = Ses() if by_ses else Passing(), Emulator(), Meter()
        self.tap = Tap(self.emulator.port, fault=self.fault, seen=self.meter.seen)
        self.hook = Receiver(address)
        parameters = {
            "Delivery": "ses" if by_ses else f"smtp://127.0.0.1:{self.relay.port}?tls=none",
            "HostnameOfService": "mail.example.com",
        }
        self.resources = deploy(self.emulator.url, binaries, parameters, self.tap.url)
        self.table = client("dynamodb", self.emulator.url)
        self.queues = client("sqs", self.emulator.url)
        self.lambdas = client("lambda", self.emulator.url)
        self.key = first_key(posthaste, self.resources["Table"], self.emulator.url)
        self.api = Api(self.emulator.port, self.resources["Api"], self.key)
        groups, self.binaries = {}, {}
        for name, binary in functions(template()).items():
            groups[binary] = self.resources[name.removesuffix("Function") + "Logs"]
            self.binaries[self.resources[name]] = binary
        platform = template()["Parameters"]["SystemLogLevel"]["Default"] != "WARN"
        self.logs = Logs(client("logs", self.emulator.url), groups, platform)
        self.batches = Batches(self.emulator.log)
        self.cpu = Cpu(self.binaries)
        self.rows = set()
        self.number = 0
        self.told = 0

        self.forwarded = []

    def fault(self, call):
        self.meter.ask(call)
        return self.relay.fault(call) if self.by_ses else None

    def prepare(self):
        """A sender that may send, and a webhook that wants everything."""
        sender(self.api, self.relay)
        # As many at once as the emulator can serve: where a batch takes seconds, what instances remember for
        # ten of them is read anew for each.
        for name in ("Delivery", "WebhookFanout", "SesFeedback"):
            self.lambdas.put_function_concurrency(
                FunctionName=self.resources[f"{name}Function"], ReservedConcurrentExecutions=4
            )
        # What the sender himself got is no mail that a webhook hears of.
        self.before = self.relay.count
        wanted = {"enabled": True, "url": self.hook.url, **{kind: True for kind in KINDS}}
        self.api.expect(201, "POST", "/v3/user/webhooks/event/settings", wanted)

    def close(self):
        self.cpu.close()
        self.tap.close()
        self.hook.close()
        self.emulator.stop()
        if not self.by_ses:
            self.relay.controller.stop()

    def one_by_one(self, count):
        """Mails of which each begins when the webhook has heard of the one before."""
        answered = 0
        for _ in range(count):
            answered += self.send(1)
            self.delivered(60)
            self.heard(60)
        return answered

    def held(self, count, recipients, connections):
        """Mails that find a queue before them, so that batches are full: the workers begin when all of them
        are accepted, and webhooks hear when all are delivered."""
        for event in self.held_back():
            self.poll(event, False)
        answered = self.stream(count, recipients, connections)
        self.poll("Jobs", True)
        self.delivered(1800)
        if self.by_ses:
            self.poll("Feedback", True)
            until("all feedback is read", lambda: not self.waiting("FeedbackQueue"), 900)
        self.poll("News", True)
        return answered

    def held_back(self):
        return ("Jobs", "News", "Feedback") if self.by_ses else ("Jobs", "News")

    def delivered(self, seconds):
        """Waits until the relay has every mail and delivery has written that down; SES then tells of them."""
        wanted = self.told + self.before
        until("the relay has every mail", lambda: self.relay.count >= wanted, seconds)
        until("every job is done", lambda: not self.waiting("SendQueue"), 60)
        if not self.by_ses:
            return
        news = self.relay.news()
        self.forwarded += [len(text) for text in news]
        for i in range(0, len(news), 10):
            entries = [{"Id": str(j), "MessageBody": text} for j, text in enumerate(news[i : i + 10])]
            self.queues.send_message_batch(QueueUrl=self.resources["FeedbackQueue"], Entries=entries)

    def poll(self, event, wanted):
        """Lets Lambda read a queue, or stops it."""
        of = {"Jobs": "Delivery", "News": "WebhookFanout", "Feedback": "SesFeedback"}[event]
        name = f"{of}Function{event}"
        self.lambdas.update_event_source_mapping(UUID=self.resources[name], Enabled=wanted)

    def stream(self, count, recipients, connections):
        """Mails as fast as so many callers get answers."""
        left = collections.deque([recipients] * count)
        answered = []

        def caller():
            while True:
                try:
                    size = left.popleft()
                except IndexError:
                    return
                answered.append(self.send(size))

        callers = [threading.Thread(target=caller) for _ in range(connections)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
        if len(answered) != count:
            sys.exit(f"only {len(answered)} of {count} requests were accepted")
        return sum(answered)

    def send(self, recipients):
        """Sends the next mail; bytes of the answer."""
        with self.meter.lock:
            self.number += 1
            number = self.number
            self.told += recipients
        _, headers = self.api.expect(202, "POST", "/v3/mail/send", mail(number, recipients))
        return len("HTTP/1.1 202 Accepted\r\n\r\n") + sum(len(k) + len(v) + 4 for k, v in headers.items())

    def heard(self, seconds):
        """Waits until the webhook knows of every copy that it is delivered, and nothing waits."""
        until("the webhook hears of every mail", lambda: self.hook.count("delivered") >= self.told, seconds)
        until("every queue is empty", lambda: not self.waiting(), 60)

    def waiting(self, *queues):
        """Messages on these queues; on all that a mail passes without one."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
                 "ApproximateNumberOfMessagesDelayed"]
        total = 0
        for name in queues or ("SendQueue", "FeedbackQueue", "EventsQueue", "RetriesQueue"):
            asked = self.queues.get_queue_attributes(QueueUrl=self.resources[name], AttributeNames=names)
            total += sum(int(count) for count in asked["Attributes"].values())
        return total

    def forget(self):
        """Drops what was counted so far."""
        self.taken_forwarded(), self.cpu.taken(), self.meter.taken(), self.logs.taken(), self.batches.taken(), self.hook.taken(), self.new_rows()

    def part(self, name, requests, copies, run):
        """Runs one part, and gives what was counted."""
        began = time.monotonic()
        answered = run()
        self.heard(900)
        seconds = time.monotonic() - began
        until("Lambda has written every report", lambda: self.logs.invocations("mail-send") >= requests, 60)
        (uses, waits), forwarded = self.meter.taken(), self.taken_forwarded()
        posts, posted = self.hook.taken()
        batches = {(self.binaries[f], q): sizes for (f, q), sizes in self.batches.taken().items()}
        return Part(
            name=name, requests=requests, copies=copies, seconds=seconds, answered=answered, uses=uses,
            journals=self.logs.taken(), batches=batches, posts=posts, posted=posted,
            rows=self.new_rows(), queued=self.queued(forwarded), forwarded=len(forwarded), cpu=self.cpu.taken(),
            waits=waits,
        )

    def taken_forwarded(self):
        taken, self.forwarded = self.forwarded, []
        return taken

    def queued(self, forwarded):
        """Mean bytes of a message by the queue's name, of the calls that the tap kept."""
        sizes = collections.defaultdict(list)
        if forwarded:
            sizes[self.resources["FeedbackQueue"].rsplit("/", 1)[-1]] += forwarded
        for call in self.tap.clear():
            if call.service == "sqs":
                sizes[call.on] += call.entries
        return {queue: sum(each) / len(each) for queue, each in sizes.items() if each}

    def new_rows(self):
        """Every row that was not there when this was last asked: its bytes, the months that it is kept, and
        whether it is a copy's."""
        now, found = time.time(), []
        for page in self.table.get_paginator("scan").paginate(TableName=self.resources["Table"]):
            for item in page["Items"]:
                key = (item["pk"]["S"], item["sk"]["S"])
                if key in self.rows:
                    continue
                self.rows.add(key)
                ends = float(item["exp"]["N"]) if "exp" in item else now + MONTH
                found.append((item_size(item), max(0.0, ends - now) / MONTH, key[0][:2] == "M#"))
        return found

