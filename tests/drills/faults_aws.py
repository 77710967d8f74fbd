"""The drills on the emulator in which something around the functions fails: table, queue, bucket, relay."""

import base64
import json
import random

from alarms import Alarm
from relays import Moody
from tap import HANG_UP

JSON = {"Content-Type": "application/x-amz-json-1.0"}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
READS = {"GetItem", "BatchGetItem", "Query", "TransactGetItems"}


def storm(world, load, seconds, fault):
    """A fault of the tap for so many seconds under load."""

    def begin():
        world.fault = fault

    def end():
        world.fault = None

    return world.stormy(load, seconds, begin, end)


def failed_calls(world, operations):
    """(second, 1) of each such call that the tap let go wrong."""
    return [(at, 1) for at, _, _, operation, _ in world.faults if operation in operations]


def refused_by(operations):
    """The table's answer to so much at once, to these operations."""
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "The level of configured provisioned throughput for the table was exceeded.",
    }

    def fault(call):
        return (400, JSON, json.dumps(body).encode()) if call.operation in operations else None

    return fault


def writes(world, report, args):
    """the table refuses every write"""
    load = world.load(args.rate)
    storm(world, load, args.seconds, refused_by(WRITES))
    world.drained(load, report)
    report.mails(world, load)
    report.alarm("TableThrottledAlarm", failed_calls(world, WRITES), "writes that the tap refused")
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got", bool(load.refused))


def reads(world, report, args):
    """the table refuses every read"""
    load = world.load(args.rate)
    storm(world, load, args.seconds, refused_by(READS))
    world.drained(load, report)
    report.mails(world, load)
    report.say("reads that the tap refused", len(failed_calls(world, READS)))
    report.alarm("TableThrottledAlarm", failed_calls(world, WRITES), "writes that the tap refused", False)
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got")


def queue(world, report, args):
    """nobody can send to a queue: connections are closed without an answer"""
    def fault(call):
        return HANG_UP if call.service == "sqs" and call.operation.startswith("SendMessage") else None

    load = world.load(args.rate)
    storm(world, load, args.seconds, fault)
    world.drained(load, report)
    report.mails(world, load)
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got")


def relay_down(world, report, args):
    """nobody listens where the relay was"""
    load = world.load(args.rate)
    world.stormy(load, args.seconds, world.relay.down, world.relay.up)
    world.drained(load, report)
    report.mails(world, load)
    trouble(world, report)


def mood(of):
    def turn():
        Moody.mood = of

    return turn


def trouble(world, report, wanted=True):
    points = world.figures().get("relay_trouble", [])
    report.alarm("RelayAlarm", points, "figure of delivery; the alarm waits for two such periods", wanted)


def relay_silent(world, report, args):
    """the relay accepts connections and says nothing; delivery gives up by itself after 30 s"""
    load = world.load(args.rate)
    # Longer than that, so that it is seen.
    world.stormy(load, args.seconds + 30, mood("silent"), mood("takes"))
    world.drained(load, report)
    report.say("connections that fell silent", Moody.hung)
    report.mails(world, load)
    trouble(world, report)


def timeout(world, report, args):
    """the relay takes mails and does not answer, for longer than delivery may run: it is cut off mid-batch"""
    load = world.load(args.rate)
    began, ended = world.stormy(load, args.seconds, mood("mute"), mood("takes"))
    hung = Moody.hung
    world.drained(load, report)
    twice = report.mails(world, load)
    report.say("mails taken without an answer", hung)
    report.must(twice <= hung, "more came twice than the relay took without an answer")
    # Its message is still the one that was sent first.
    report.alarm(
        "SendQueueOldAlarm", [(ended, round(ended - began))], "age of the first mail that hung",
        ended - began > Alarm("SendQueueOldAlarm").threshold,
    )
    trouble(world, report, False)


def large(number):
    """An attachment that goes by the bucket."""
    content = base64.b64encode(random.Random(number).randbytes(300_000)).decode()
    return {"attachments": [{"content": content, "filename": "a.bin"}]}


def bucket_slow(world, report, args):
    """each call of the bucket takes five seconds"""
    load = world.load(args.rate / 2, large)
    storm(world, load, args.seconds, lambda call: 5.0 if call.service == "s3" else None)
    world.drained(load, report)
    report.mails(world, load)
    report.must(not load.refused, "a slow bucket is no reason to refuse")


def bucket_down(world, report, args):
    """the bucket answers 503 SlowDown to everybody"""
    body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"

    def fault(call):
        return (503, {"Content-Type": "application/xml"}, body) if call.service == "s3" else None

    load = world.load(args.rate / 2, large)
    # Longer than a function of the API may run.
    storm(world, load, args.seconds + 30, fault)
    world.drained(load, report)
    report.mails(world, load)
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got")


def hangs(world, report, args, service, more):
    """No call to this service is answered, for longer than a function of the API may run."""
    load = world.load(args.rate / 2, more)
    storm(world, load, args.seconds + 30, lambda call: 3600.0 if call.service == service else None)
    world.drained(load, report)
    report.mails(world, load)
    report.alarm("ApiFailsAlarm", load.failures(), "5xx that callers got")


def bucket_hangs(world, report, args):
    """the bucket takes every call and does not answer"""
    hangs(world, report, args, "s3", large)


def table_hangs(world, report, args):
    """the table takes every call and does not answer"""
    hangs(world, report, args, "dynamodb", lambda number: {})
