"""The drills on the local host, on a clock that runs faster and can be set."""

import datetime
import http.client
import json
import os
import re
import signal
import tempfile
import time

from alarms import Alarm
from clock import Clock
from load import Load
from local import Host, Relay
from parts import until
from relays import Moody, Port

SPEED = 30
HOUR = 3600

# Written beside each `relay_trouble`, a figure that a terminal does not show.
TROUBLE = re.compile(r"^(\S+Z) +ERROR the relay does not take message ([^: ]+):", re.MULTILINE)


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
        rings(report, "RelayAlarm", attempts, began, True)
        # What somebody sees who sends little.
        few = list(dict.fromkeys(message for _, message in attempts))[:5]
        rings(report, "RelayAlarm, for five of them alone", [one for one in attempts if one[1] in few], began, False)


def rings(report, name, attempts, began, wanted):
    alarm = Alarm("RelayAlarm")
    rang, figures = alarm.rings([(at, 1) for at, _ in attempts], began, began + HOUR)
    told = ", ".join(str(figure or 0) for figure in figures)
    report.say(name, f"{'rings' if rang else 'silent'}: {told}; more than {alarm.threshold} in {alarm.periods} periods")
    if wanted:
        report.must(rang, f"{name} is silent")


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
        settled = time.time()
        quiet = lambda: time.time() - max([settled, *(ts[-1] for ts in Relay.seen.values())]) > 60  # noqa: E731
        until("all have arrived, or a minute is quiet", lambda: not load.under_way() or quiet(), 600)
        report.say("arrived with the clock right again", len(load.accepted.keys() & Relay.seen.keys()))
        late = load.under_way()
        report.say("wait for the hour that was gone back", len(late))
        here.clock.jump(HOUR)
        set_again = time.time()
        until("the rest arrives", lambda: not load.under_way(), 900)
        report.say("the rest arrived after the hour, s", round(time.time() - set_again, 1))
        at = int(here.clock.now()) + 120
        later = Load(here.post, args.rate, lambda number: {"send_at": at, "headers": {"X-Drill": str(10**6 + number)}})
        until("20 later sends are accepted", lambda: len(later.accepted) >= 20, 60)
        later.stop()
        here.clock.jump(HOUR)
        jumped = time.time()
        arrived = lambda: sum(number >= 10**6 for number in Relay.seen) >= len(later.accepted)  # noqa: E731
        until("the later sends arrive", arrived, 900)
        report.say("later sends left after a jump past them, s", round(time.time() - jumped, 1))
        for number in [number for number in Relay.seen if number >= 10**6]:
            report.must(len(Relay.seen.pop(number)) == 1, "a later send came twice")
        report.must(not report.mails(here, load), "mails came twice")
        report.must(not load.refused and not later.refused, "a clock that is wrong is no reason to refuse")
