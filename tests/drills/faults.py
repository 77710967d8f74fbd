#!/usr/bin/env python3
"""What becomes of mails, callers and alarms when what the service stands on fails.

Each drill hands mails in to the service, lets one thing go wrong for a while, mends it, and waits until
all is done. Exit code 1 when an accepted mail neither arrived nor ended in a state that can be seen, when
a refusal is not a 5xx in the contract's shape, or when an alarm that should ring stays silent.
"""

import argparse
import collections
import json
import pathlib
import sys
import time

from alarms import Alarm
from local import Relay
from relays import Moody
from world import World

JSON = {"Content-Type": "application/x-amz-json-1.0"}


class Report:
    """What a drill found."""

    def __init__(self, name):
        self.name, self.failures = name, []
        print(f"\n{name}", flush=True)

    def say(self, what, value):
        print(f"  {what:44} {value}", flush=True)

    def must(self, good, what):
        if not good:
            self.failures.append(what)
            print(f"  FAILED: {what}", flush=True)

    def mails(self, world, load, buried=()):
        """Counts what became of every mail."""
        seen, rest = dict(Relay.seen), load.under_way()
        ends = {number: world.ended(load.accepted[number]) for number in rest}
        reasons = collections.Counter(f"{end[0]}: {end[1]}" for end in ends.values() if end)
        letters = world.dead()
        dead = {number for number in rest if any(load.accepted[number] in text for text in letters)}
        lost = {number for number in rest if not ends[number]} - dead
        twice = [len(seen[number]) - 1 for number in load.accepted if number in seen and len(seen[number]) > 1]
        self.say("accepted", len(load.accepted))
        self.say("refused, by status", load.statuses() or "none")
        self.say("refused in another shape", len(load.shapeless))
        self.say("without an answer", load.unanswered)
        self.say("longest answer, s", round(load.longest, 1))
        self.say("delivered", len(load.accepted.keys() & seen.keys()))
        self.say("delivered, though refused", len(seen.keys() - load.accepted.keys()))
        self.say("twice", f"{len(twice)} mails, {sum(twice)} arrivals too many")
        self.say("ended otherwise", dict(reasons) or "none")
        self.say("dead letters of the send queue", f"{len(letters)}, {len(dead)} of them accepted mails")
        self.say("lost", len(lost))
        self.must(not lost, f"accepted mails were lost: {sorted(lost)[:10]}")
        self.must(all(status >= 500 for _, status in load.refused), "a refusal is no 5xx")
        self.must(not load.shapeless, f"a refusal has another shape: {load.shapeless[:1]}")
        self.must(not load.unanswered, "requests had no answer")
        return letters

    def alarm(self, name, points, source, wanted=True):
        """What an alarm would say to these points; `source` says where they come from."""
        alarm = Alarm(name)
        worst = alarm.worst(points)
        crosses = worst is not None and worst > alarm.threshold
        self.say(f"{name}", f"{alarm.metric} {worst} in {alarm.period} s, threshold {alarm.threshold} ({source})")
        if wanted:
            self.must(crosses, f"{name} stays silent")
        return crosses


def throttled(world, report, args):
    """The table refuses every call for a while."""
    def fault(call):
        if call.service == "dynamodb":
            kind = "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"
            return 400, JSON, json.dumps({"__type": kind, "message": "throttled by the drill"}).encode()
        return None

    load = world.load(args.rate)
    storm(world, load, args.seconds, fault)
    report.say("claims passed by the clock, times", world.drained(load))
    report.mails(world, load)
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got")
    report.alarm("TableThrottledAlarm", writes(world), "writes that the tap refused")


WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


def writes(world):
    return [(at, 1) for at, _, _, operation, _ in world.faults if operation in WRITES]


def storm(world, load, seconds, fault):
    def begin():
        world.fault = fault

    def end():
        world.fault = None

    return world.stormy(load, seconds, begin, end)


DRILLS = {"throttled": (throttled, {})}


def run(name, args):
    drill, options = DRILLS[name]
    report, began = Report(name), time.monotonic()
    world = World(args.binaries.resolve(), args.posthaste.resolve(), **options)
    try:
        drill(world, report, args)
    except BaseException:
        print(world.emulator.log.read_text(errors="replace")[-6000:])
        raise
    finally:
        world.stop()
    report.say("seconds of the drill", round(time.monotonic() - began))
    return report.failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drill", choices=[*DRILLS, "all"])
    parser.add_argument("binaries", type=pathlib.Path, help="folder of the functions")
    parser.add_argument("posthaste", type=pathlib.Path, help="the host and the operator's commands")
    parser.add_argument("--rate", type=float, default=10, help="mails a second (10)")
    parser.add_argument("--seconds", type=float, default=20, help="for which something goes wrong (20)")
    args = parser.parse_args()
    names = list(DRILLS) if args.drill == "all" else [args.drill]
    failed = {name: failures for name in names if (failures := run(name, args))}
    for name, failures in failed.items():
        print(f"FAILED: {name}: {'; '.join(failures)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
