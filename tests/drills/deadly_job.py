#!/usr/bin/env python3
"""A job that ends the process whenever a worker gets it, under load.

Hands in mails, one of which a debug build dies of (POSTHASTE_DRILL_ABORT_ON, infra/local/src/poll.rs),
starts the host again until it stays up, and lets it drain. Then the operator replays the dead letter
into a host without the fault.

    tests/drills/deadly_job.py target/debug/posthaste
    tests/drills/deadly_job.py target/debug/posthaste --killers 3

Exit code 1 when another mail is lost or becomes a dead letter, when a killer is none, when the host
needs more starts than four for each killer and one, or when a replayed job does not arrive.
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from local import Host, Relay, relay

FAULT = "POSTHASTE_DRILL_ABORT_ON"
WORD = "the-job-that-kills"

# Deaths after which a job is a dead letter (infra/local/src/engine/suspects.rs).
DEATHS = 4


class Mortal(Host):
    """A host that may die before it has said where it listens."""

    def start(self):
        try:
            super().start()
            self.reaped = False
        except SystemExit:
            self.reaped = True

    def lives(self):
        if not self.reaped:
            self.reaped = bool(os.waitpid(self.pid, os.WNOHANG)[0])
        return not self.reaped

    def stop(self):
        if self.lives():
            self.end(signal.SIGTERM)
            self.reaped = True


def send(host, number, subject):
    """Whether the mail was accepted."""
    body = json.dumps({
        "personalizations": [{"to": [{"email": f"r{number}@example.com"}]}],
        "from": {"email": "drill@example.com"}, "subject": subject, "headers": {"X-Drill": str(number)},
        "content": [{"type": "text/plain", "value": "deadly?"}],
    })
    try:
        connection = http.client.HTTPConnection(host.api, timeout=30)
        headers = {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json"}
        connection.request("POST", "/v3/mail/send", body, headers)
        return connection.getresponse().status == 202
    except (OSError, http.client.HTTPException, AttributeError):
        return False


def operator(binary, folder, *words):
    out = subprocess.run([binary, *words, "--data", folder, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


class Load(threading.Thread):
    """Hands in mails; every so often a killer."""

    def __init__(self, host, count, killers):
        super().__init__(daemon=True)
        self.host, self.accepted, self.killers = host, set(), set()
        self.deadly = {(n + 1) * count // (killers + 1) for n in range(killers)}
        self.count = count

    def run(self):
        for number in range(self.count):
            deadly = number in self.deadly
            taken = self.killers if deadly else self.accepted
            while not send(self.host, number, WORD if deadly else "drill"):
                # Without an answer a killer may have been accepted: once is enough.
                if deadly and not self.host.lives():
                    taken.add(number)
                    break
                time.sleep(0.02)
            taken.add(number)


def drill(args, folder):
    binary = os.path.abspath(args.binary)
    host = Mortal(binary, folder, relay(), environment={FAULT: WORD})
    starts, load = 1, Load(host, args.count, args.killers)
    load.start()
    begun = time.time()
    while load.is_alive() or not load.accepted <= Relay.seen.keys():
        if time.time() - begun > args.patience:
            break
        if not host.lives():
            host.start()
            starts += 1
            print(f"start {starts:3}: accepted {len(load.accepted):5}, arrived {len(Relay.seen):5}", flush=True)
        time.sleep(0.02)
    took = time.time() - begun
    time.sleep(2)
    lives = host.lives()
    with open(host.log, encoding="utf-8", errors="replace") as log:
        lines = [line.strip() for line in log if "is a dead letter now" in line]
    host.stop()
    dead = operator(binary, folder, "dead-letters", "jobs")
    lost = sorted(load.accepted - Relay.seen.keys())
    if dead:
        operator(binary, folder, "dead-letters", "replay-jobs", "--all")
    host.environment.pop(FAULT)
    host.start()
    end = time.time() + 60
    while time.time() < end and not load.killers <= Relay.seen.keys():
        time.sleep(0.05)
    replayed = load.killers & Relay.seen.keys()
    host.stop()
    for name, value in (("starts", starts), ("accepted", len(load.accepted)), ("killers", len(load.killers)),
                        ("dead letters", len(dead)), ("lost", len(lost)), ("replayed", len(replayed)),
                        ("seconds until all arrived", round(took, 1))):
        print(f"{name:28} {value:>8}")
    for line in lines:
        print(line)
    failures = [
        (not lives, "the host does not stay up"),
        (bool(lost), f"other mails are lost: {lost[:10]}"),
        (len(dead) != args.killers, f"dead letters: {dead}"),
        (any(letter["deaths"] != DEATHS for letter in dead), f"deaths: {dead}"),
        (starts > DEATHS * args.killers + 1, "too many starts"),
        (replayed != load.killers, "a replayed job did not arrive"),
    ]
    for failed, what in failures:
        if failed:
            print(f"FAILED: {what}")
    return any(failed for failed, _ in failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="a debug build")
    parser.add_argument("--count", type=int, default=400, help="mails (400)")
    parser.add_argument("--killers", type=int, default=1)
    parser.add_argument("--patience", type=float, default=180, help="seconds for all of it (180)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posthaste-deadly-") as folder:
        sys.exit(1 if drill(args, folder) else 0)


if __name__ == "__main__":
    main()
