"""The drills on the emulator: what goes wrong lies between the functions and AWS, or behind them."""

import base64
import json
import random
import time

from alarms import client
from load import mail
from local import Relay
from parts import until
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


def table_hangs(world, report, args):
    """the table takes every call and does not answer"""
    load = world.load(args.rate)
    storm(world, load, args.seconds, lambda call: 600.0 if call.service == "dynamodb" else None)
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
    report.say("connections without a greeting", Moody.hung)
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
        ended - began > 900,
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


def poison(world, report, args):
    """jobs that nobody can read, and one whose body in the bucket is forbidden"""
    jobs = []

    def fault(call):
        if call.app == "mail-send" and call.operation == "SendMessageBatch":
            jobs.extend(one["MessageBody"] for one in call.json()["Entries"])
        if call.operation == "GetObject" and bodies[0] in call.path:
            return 403, {}, b"<Error><Code>AccessDenied</Code></Error>"
        return None

    bodies = ["no such body"]
    world.fault = fault
    send = world.resources["SendQueue"]
    load = world.load(args.rate)
    world.calm(load, 20)
    status, _, headers = world.post(mail(-1, large(-1)) | {"headers": {}})
    report.must(status == 202, f"a mail with an attachment: {status}")
    bodies[0] = headers["x-message-id"]
    sound = json.loads(jobs[0])
    bad = {
        "no JSON": "poison",
        "of a later release": json.dumps({**sound, "v": 9, "message": "later-release"}),
        "a body that is gone": json.dumps({**sound, "message": "body-gone", "body": {"blob": "mail/none/none"}}),
        "a body that is none": json.dumps({**sound, "message": "no-body", "body": {"packed": "!"}}),
    }
    for text in bad.values():
        world.queues.send_message(QueueUrl=send, MessageBody=text)
    # Twenty tries, a second apart.
    world.queues.set_queue_attributes(QueueUrl=send, Attributes={"VisibilityTimeout": "1"})
    world.calm(load, args.rate * args.seconds / 2)
    load.stop()
    visible = lambda: world.attribute("SendDeadLetters")  # noqa: E731
    until("a dead letter", visible, 180)
    world.drained(load, report)
    points = [(time.time(), visible())]
    report.mails(world, load)
    letters = world.letters
    report.say("the mail with the forbidden body", "dead letter" if any(bodies[0] in one for one in letters) else "gone")
    for name, text in bad.items():
        found = text in letters
        report.say(name, "dead letter" if found else "gone")
        report.must(found, f"a job is gone and nobody hears of it: {name}")
    report.alarm("SendDeadLettersAlarm", points, "messages that can be seen in the queue of dead letters")
    # What the runbook says: mend the cause, give it back.
    world.fault, before = None, len(world.relay.mails)
    for text in letters:
        if bodies[0] in text:
            world.queues.send_message(QueueUrl=send, MessageBody=text)
    until("the dead letter that was given back arrives", lambda: len(world.relay.mails) > before, 60)
    report.say("given back to its queue", "arrived")


def late(world, report, args):
    """no sweep runs for ten minutes, in which later sends fall due"""
    rules = client("events", world.emulator.url)
    [rule] = [one["Name"] for one in rules.list_rules()["Rules"] if "minute" in one.get("ScheduleExpression", "")]
    rules.disable_rule(Name=rule)
    at = int(time.time()) + 400
    load = world.load(args.rate, lambda number: {"send_at": at})
    world.calm(load, 200)
    load.stop()
    report.must(not Relay.seen, "a later send left early")
    world.clock.jump(1000)
    rules.enable_rule(Name=rule)
    until("the later sends leave", lambda: not load.under_way(), 200)
    report.mails(world, load)
    points = world.figures().get("oldest_due_ms", [])
    report.alarm("SweepLateAlarm", points, "figure of schedule-sweep")


def clock(world, report, args):
    """the functions' clock is set an hour forward, and later back again"""
    load = world.load(args.rate)
    world.calm(load, 50)
    world.clock.jump(3600)
    load.over.wait(args.seconds)
    world.clock.jump(-3600)
    load.over.wait(args.seconds)
    world.calm(load, 50)
    load.stop()
    world.drained(load, report)
    report.must(not report.mails(world, load), "mails came twice")
    report.must(not load.refused, "a clock that is wrong is no reason to refuse")
