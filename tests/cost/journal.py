"""What the functions wrote into their logs, and what Lambda wrote there of their invocations."""

import collections
import dataclasses
import json
import re
import zlib

REPORT = re.compile(r"^REPORT RequestId: \S+\s+Duration: [\d.]+ ms\s+Billed Duration: (\d+) ms")
PLATFORM = re.compile(r"^(INIT_START|START|END|REPORT) ")
BATCH = re.compile(r"ESM: Lambda (\S+) processed (\d+) SQS messages from (\S+)")


@dataclasses.dataclass
class Journal:
    """The log of one function over one part of a run."""

    billed: list = dataclasses.field(default_factory=list)
    """Milliseconds of each invocation."""
    bytes: int = 0
    """What CloudWatch bills."""
    packed: int = 0
    """The same, packed as CloudWatch keeps it (gzip, level 6)."""
    metrics: set = dataclasses.field(default_factory=set)
    """Namespace, name and dimensions: each is paid for by the month."""


class Logs:
    """Reads on from where it last stopped. The emulator gives the first ten thousand events of what is asked
    for and no token for the rest, so that time is what it is paged by."""

    PAGE = 10_000

    def __init__(self, client, groups, platform=False):
        self.client = client
        self.groups = groups
        """Log group by function."""
        self.platform = platform
        """Whether Lambda's own lines of each invocation are billed."""
        self.since = dict.fromkeys(groups, 0)

    def new(self, function):
        """What was written since then, and the time from which to read on."""
        since, messages = self.since[function], []
        while True:
            asked = {"logGroupName": self.groups[function], "startTime": since, "limit": self.PAGE}
            events = self.client.filter_log_events(**asked)["events"]
            last = events[-1]["timestamp"] if events else since
            full = len(events) == self.PAGE
            # There may be more of the last millisecond than came.
            messages += [event["message"] for event in events if not full or event["timestamp"] < last]
            if not full:
                return messages, last + 1 if events else since
            since = last

    def invocations(self, function):
        """How many have ended since the last reading."""
        return sum(bool(REPORT.match(message)) for message in self.new(function)[0])

    def taken(self):
        """The journal of each function that wrote something since this was last asked."""
        found = {}
        for function in self.groups:
            messages, self.since[function] = self.new(function)
            if messages:
                found[function] = journal(messages, self.platform)
        return found


def journal(messages, platform=False):
    """`platform`: with Lambda's own lines of each invocation."""
    made = Journal()
    packer = zlib.compressobj(6)
    for message in messages:
        line = message.encode()
        # The emulator always writes what Lambda does at the level INFO; the template asks for less.
        if platform or not PLATFORM.match(message):
            # CloudWatch counts 26 bytes for each event besides its text.
            made.bytes += len(line) + 26
            made.packed += len(packer.compress(line + b"\n"))
        if found := REPORT.match(message):
            made.billed.append(int(found.group(1)))
        elif '"CloudWatchMetrics"' in message:
            made.metrics |= metrics(json.loads(message))
    made.packed += len(packer.flush())
    return made


def metrics(line):
    """The metrics that a line in the embedded format makes."""
    found = set()
    for directive in line["_aws"]["CloudWatchMetrics"]:
        for names in directive["Dimensions"]:
            dimensions = tuple((name, str(line[name])) for name in names)
            for metric in directive["Metrics"]:
                found.add((directive["Namespace"], metric["Name"], dimensions))
    return found


class Batches:
    """The batches that the emulator's poller handed to functions, from its own log."""

    def __init__(self, log):
        self.log = log
        self.place = 0

    def taken(self):
        """Sizes by the function's and the queue's name, since this was last asked."""
        sizes = collections.defaultdict(list)
        with open(self.log, "rb") as log:
            log.seek(self.place)
            text = log.read()
        # A line that is being written is left for the next time.
        whole = text.rfind(b"\n") + 1
        self.place += whole
        for function, size, queue in BATCH.findall(text[:whole].decode(errors="replace")):
            sizes[(function, queue)].append(int(size))
        return dict(sizes)
