"""The drills on the emulator that are about jobs and time: poison, workers that cannot start, dead receivers of
events, sweeps that do not run, clocks that are wrong."""

import json
import time

from alarms import Alarm, client
from faults_aws import large
from load import mail
from local import Relay
from parts import until


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
    # Four tries, a second apart.
    world.queues.set_queue_attributes(QueueUrl=send, Attributes={"VisibilityTimeout": "1"})
    world.calm(load, args.rate * args.seconds / 2)
    load.stop()
    visible = lambda: world.attribute("SendDeadLetters")  # noqa: E731
    until("four dead letters", lambda: visible() >= len(bad), 180)
    # What is forbidden is waited for, and comes again by itself.
    world.fault = None
    world.drained(load, report)
    points = [(time.time(), visible())]
    report.mails(world, load)
    letters = world.letters
    report.must(not any(bodies[0] in one for one in letters), "a body that is forbidden is waited for, and was given up")
    for name, text in bad.items():
        found = text in letters
        report.say(name, "dead letter" if found else "gone")
        report.must(found, f"a job is gone without an alarm: {name}")
    report.alarm("SendDeadLettersAlarm", points, "messages that can be seen in the queue of dead letters")


# The queues by the binary of their reader.
READERS = {
    "delivery": ["Send"], "webhook-fanout": ["Events", "Retries"], "inbound-parse": ["Inbound"],
    "ses-feedback": ["Feedback"],
}


def release(world, report, args):
    """a release whose workers cannot start: every message comes back four times"""
    functions = client("lambda", world.emulator.url)
    sound = {}
    for function in functions.list_functions()["Functions"]:
        variables = function["Environment"]["Variables"]
        if variables["AWS_SDK_UA_APP_ID"] in READERS:
            sound[function["FunctionName"]] = variables
            broken = {name: value for name, value in variables.items() if name != "TABLE_NAME"}
            functions.update_function_configuration(
                FunctionName=function["FunctionName"], Environment={"Variables": broken}
            )
    report.must(len(sound) == len(READERS), f"not all workers were found: {sorted(sound)}")
    for queue in sum(READERS.values(), []):
        url = world.resources[f"{queue}Queue"]
        world.queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
        if queue != "Send":
            world.queues.send_message(QueueUrl=url, MessageBody="{}")
    load = world.load(args.rate)
    world.calm(load, args.rate * args.seconds)
    load.stop()
    for queue in sum(READERS.values(), []):
        wanted = len(load.accepted) if queue == "Send" else 1
        visible = lambda queue=queue: world.attribute(f"{queue}DeadLetters")  # noqa: E731
        until(f"all are dead letters: {queue}", lambda visible=visible, wanted=wanted: visible() >= wanted, 400)
        points = [(time.time(), visible())]
        report.alarm(f"{queue}DeadLettersAlarm", points, "messages that can be seen there")
    report.mails(world, load)
    # What the runbook says: mend the cause, redrive the queue.
    for name, variables in sound.items():
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
    for text in world.letters:
        world.queues.send_message(QueueUrl=world.resources["SendQueue"], MessageBody=text)
    until("all that was given back arrives", lambda: not load.under_way(), 200)
    report.say("given back to their queue, and arrived", len(load.accepted.keys() & Relay.seen.keys()))


def webhook(world, report, args):
    """a webhook does not answer for a quarter of an hour"""
    hook = {"enabled": True, "url": "https://hooks.invalid/events", "delivered": True}
    world.api.expect(201, "POST", "/v3/user/webhooks/event/settings", hook)
    load = world.load(args.rate)
    world.calm(load, 50)
    load.stop()
    until("a post", lambda: world.figures().get("webhook_posts"), 120)
    alarm = Alarm("WebhookLagAlarm")
    world.clock.jump(alarm.threshold / 1000 + 100)
    points = lambda: world.figures().get("webhook_lag_ms", [])  # noqa: E731
    until("another post", lambda: any(value > alarm.threshold for _, value in points()), 200)
    world.drained(load, report)
    report.mails(world, load)
    report.alarm(alarm.name, points(), "figure of webhook-fanout; the alarm waits for three such periods")


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
