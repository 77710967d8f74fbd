"""The drills on the local host, on a clock that runs faster and can be set."""

import datetime
import http.client
import json
import os
import re
import signal
import sys
import tempfile
import time

from alarms import Alarm
from clock import Clock
from load import Load, mail
from local import Host, Relay
from parts import until
from relays import Moody, Port

SPEED = 30
HOUR = 3600

# Written beside each `relay_trouble`, a figure that a terminal does not show.
TROUBLE = re.compile(r"^(\S+Z) +ERROR (?:job{[^}]*}: )?the relay does not take message ([^: ]+):", re.MULTILINE)


class Here:
    """A local host with its relay and its clock."""

    def __init__(self, binary, speed):
        self.folder = tempfile.TemporaryDirectory(prefix="posthaste-faults-")
        Relay.seen.clear()
        self.relay, self.clock, self.letters = Port(), Clock(self.folder.name, speed), []
        self.host = Host(binary, self.folder.name, self.relay.port, (), self.clock.environment)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host.api, timeout=60)
        headers = {"Authorization": f"Bearer {self.host.key}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, answer.headers

    def post(self, body):
        return self.call("POST", "/v3/mail/send", body)

    def ended(self, message):
        """The end of a mail that is told to whoever asks: (state, reason), or nothing."""
        status, text, _ = self.call("GET", f"/v3/messages/{message}")
        for event in json.loads(text)["events"] if status == 200 else []:
            if event["event_name"] in ("dropped", "bounced", "bounce"):
                return event["event_name"], event.get("reason")
        return None

    def dead(self):
        """The local queues tell of a dead letter in the log."""
        self.letters = re.findall(r".*is a dead letter now.*", self.said())
        return self.letters

    def said(self):
        with open(self.host.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def troubles(self):
        """(second, message) of each attempt at which the relay was in trouble, by the host's own clock."""
        read = datetime.datetime.fromisoformat
        return [(read(at).timestamp(), message) for at, message in TROUBLE.findall(self.said())]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.said()[-3000:])
        self.host.end(signal.SIGTERM)
        self.relay.down()
        Moody.mood, Moody.hung = "takes", 0
        self.folder.cleanup()


def hour(report, args):
    """the relay is down for an hour"""
    with Here(os.fspath(args.posthaste.resolve()), SPEED) as here:
        load = Load(here.post, args.rate)
        until("50 mails are accepted", lambda: len(load.accepted) >= 50, 60)
        here.relay.down()
        began = here.clock.now()
        until("200 mails wait", lambda: len(load.under_way()) >= 200, 120)
        load.stop()
        until("an hour is over", lambda: here.clock.now() >= began + HOUR, 2 * HOUR / SPEED)
        report.must(len(load.under_way()) >= 200, "mails left without a relay")
        here.relay.up()
        up = here.clock.now()
        until("all have arrived", lambda: not load.under_way(), HOUR / SPEED)
        report.say("last arrival after the relay was back", f"{here.clock.now() - up:.0f} s")
        report.mails(here, load)
        attempts = here.troubles()
        report.say("attempts in that hour", len(attempts))
        rings(report, "RelayAlarm", "all", attempts, began, True)
        # What somebody sees who sends little.
        few = list(dict.fromkeys(message for _, message in attempts))[:5]
        of_few = [one for one in attempts if one[1] in few]
        rings(report, "RelayAlarm", "five of them alone", of_few, began, False)
        rings(report, "RelayLongAlarm", "five of them alone", of_few, began, True)


def rings(report, name, whose, attempts, began, wanted):
    alarm = Alarm(name)
    rang, figures = alarm.rings([(at, 1) for at, _ in attempts], began, began + HOUR)
    told = ", ".join(str(figure or 0) for figure in figures)
    heard = "rings" if rang else "silent"
    report.say(f"{name}, for {whose}", f"{heard}: {told}; more than {alarm.threshold} in {alarm.periods} periods")
    if wanted:
        report.must(rang, f"{name} is silent for {whose}")


def clock(report, args):
    """the clock is set an hour forward and then back, while the relay is down and later sends wait"""
    with Here(os.fspath(args.posthaste.resolve()), 1) as here:
        load = Load(here.post, args.rate)
        until("50 mails are accepted", lambda: len(load.accepted) >= 50, 60)
        here.relay.down()
        until("50 mails wait", lambda: len(load.under_way()) >= 50, 60)
        here.clock.jump(HOUR)
        until("50 more are accepted", lambda: len(load.under_way()) >= 100, 60)
        here.clock.jump(-HOUR)
        until("50 more are accepted", lambda: len(load.under_way()) >= 150, 60)
        here.relay.up()
        load.stop()
        stands_still(load)
        report.say("arrived with the clock right again", len(load.accepted.keys() & Relay.seen.keys()))
        report.say("wait for the hour that was gone back", len(load.under_way()))
        here.clock.jump(HOUR)
        noticed(report, here, "set past them, the rest arrives", lambda: not load.under_way())
        begun = int(here.clock.now())
        near, far = later(here, 10**6, begun + 120), later(here, 2 * 10**6, begun + 600)
        here.clock.jump(HOUR)
        # What leaves within minutes waits in the queue, what leaves later in the table.
        for what, sent in [("set past them, near sends leave", near), ("set past them, far sends leave", far)]:
            noticed(report, here, what, lambda sent=sent: sent <= Relay.seen.keys())
            report.must(all(len(Relay.seen.pop(number)) == 1 for number in sent), "a later send came twice")
        report.must(not report.mails(here, load), "mails came twice")
        report.must(not load.refused, "a clock that is wrong is no reason to refuse")


def stands_still(load, seconds=45):
    """Waits until all have arrived, or none has for so long."""
    began = time.time()
    last = lambda: max([began, *(times[-1] for times in Relay.seen.values())])  # noqa: E731
    until("nothing moves", lambda: not load.under_way() or time.time() - last() > seconds, 600)


def later(here, first, at):
    """Ten later sends; their numbers."""
    numbers = set(range(first, first + 10))
    for number in numbers:
        status, text, _ = here.post(mail(number, {"send_at": at}))
        if status != 202:
            sys.exit(f"a later send: {status} {text}")
    return numbers


def noticed(report, here, what, there, seconds=75):
    """How long a jump takes to be noticed: by the sweep of every minute at the latest. Whatever the host has to
    do makes it look at its clock, so that after that time it is given something."""
    began = time.time()
    while not there() and time.time() - began < seconds:
        time.sleep(0.1)
    took = f"{time.time() - began:.1f} s" if there() else f"not within {seconds} s"
    report.say(what, took)
    if not there():
        report.must(False, f"a jump of the clock goes unnoticed: {what}")
        here.post(mail(-1, {"headers": {}}))
        until(f"after another mail: {what}", there, 60)
