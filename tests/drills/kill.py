#!/usr/bin/env python3
"""What killing the local host costs: nothing that was accepted.

Loads the host over HTTP, kills it (SIGKILL) at random moments, starts it again on its own data, and
in the end lets it drain. Every mail carries a number; a relay of the drill's own notes each arrival.
Some requests have many recipients, so that kills also meet jobs that are being cut.

    tests/drills/kill.py target/release/posthaste
    tests/drills/kill.py target/release/posthaste --kills 40 --count 20000 --seed 7

A request that got no answer was not accepted: it may arrive, but need not. Exit code 1 when an
accepted mail is lost, when a mail came oftener than it was in flight at a kill (claimed in the table, with no
outcome written there), or when the last of them arrived later than a minute after the load ended.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import re
import signal
import sqlite3
import sys
import tempfile
import threading
import time

from local import Host, Relay, relay

# A claimed copy in the embedded table, the number in its address, and the process that claimed it.
CLAIMED = '%"state":{"S":"claimed"}%'
OWNER = re.compile(r'"owner":\{"S":"([^"]*)"\}')
ADDRESS = re.compile(r'"email":\{"S":"r(\d+)@example\.com"\}')

# The last accepted mail arrives within so many seconds after the load ends.
LONGEST_DRAIN = 60

# More than this many waiting mails would make the drill measure its own backlog.
BACKLOG = 400


class Load:
    """Hands in mails until it is told to stop. `accepted` holds the numbers answered with 202."""

    def __init__(self, host, chance):
        self.host, self.chance = host, chance
        self.accepted, self.unanswered, self.refused = set(), 0, []
        self.next, self.lock, self.over = 0, threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.work) for _ in range(8)]
        for thread in self.threads:
            thread.start()

    def take(self):
        """The numbers of the next request: one as a rule, 60 at times."""
        with self.lock:
            count = 60 if self.chance.random() < 0.01 else 1
            first, self.next = self.next, self.next + count
        return range(first, first + count)

    def work(self):
        while not self.over.is_set():
            if len(self.accepted) - len(Relay.seen) > BACKLOG:
                self.over.wait(0.02)
                continue
            numbers = self.take()
            try:
                connection = http.client.HTTPConnection(self.host.api, timeout=30)
                while not self.over.is_set():
                    status = self.send(connection, numbers)
                    with self.lock:
                        if status == 202:
                            self.accepted.update(numbers)
                        else:
                            self.refused.append(status)
                    numbers = self.take()
                    if len(self.accepted) - len(Relay.seen) > BACKLOG:
                        break
            except (OSError, http.client.HTTPException):
                with self.lock:
                    self.unanswered += 1
                self.over.wait(0.02)

    def send(self, connection, numbers):
        body = json.dumps({
            "personalizations": [
                {"to": [{"email": f"r{n}@example.com"}], "headers": {"X-Drill": str(n)}} for n in numbers
            ],
            "from": {"email": "drill@example.com"},
            "subject": "drill",
            "content": [{"type": "text/plain", "value": "killed?"}],
        })
        headers = {"Authorization": f"Bearer {self.host.key}", "Content-Type": "application/json"}
        connection.request("POST", "/v3/mail/send", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def in_flight(folder):
    """The mails that were claimed and had no outcome when the host died, by what it left on the disk.

    Each with its owner: a claim that stays over several kills is one."""
    table = sqlite3.connect(f"file:{folder}/table.db?mode=ro", uri=True)
    with contextlib.closing(table):
        rows = table.execute(
            "SELECT item_json FROM posthaste WHERE pk LIKE 'S:M#%' AND item_json LIKE ?", (CLAIMED,))
        return {(int(ADDRESS.search(row)[1]), OWNER.search(row)[1]) for row, in rows}


def drill(host, args, chance, load=Load):
    load, flights = load(host, chance), []
    up = chance.uniform
    while len(flights) < args.kills or len(load.accepted) < args.count:
        time.sleep(up(0.15, 1.2))
        if len(flights) >= args.kills:
            continue
        host.end(signal.SIGKILL)
        down = time.time()
        flights.append(in_flight(args.folder))
        host.start()
        print(f"kill {len(flights):3}: accepted {len(load.accepted):6}, arrived {len(Relay.seen):6}, "
              f"in flight {len(flights[-1]):3}, back after {time.time() - down:.2f} s", flush=True)
    load.stop()
    ended = time.time()
    still, quiet = len(Relay.seen), time.time()
    while not load.accepted <= Relay.seen.keys() and time.time() - quiet < args.patience:
        time.sleep(0.2)
        if len(Relay.seen) != still:
            still, quiet = len(Relay.seen), time.time()
    drained = time.time() - ended
    time.sleep(3)  # for what might arrive twice
    return report(load, flights, drained)


def report(load, flights, drained):
    seen = dict(Relay.seen)
    lost = sorted(load.accepted - seen.keys())
    twice = sum(len(ts) - 1 for ts in seen.values())
    claims = collections.Counter(n for n, _ in set().union(*flights))
    excess = sorted(n for n, ts in seen.items() if len(ts) - 1 > claims[n])
    rows = [
        ("kills", len(flights)), ("accepted", len(load.accepted)), ("arrived", len(seen)),
        ("arrived, never answered", len(seen.keys() - load.accepted)),
        ("requests without an answer", load.unanswered), ("requests refused", len(load.refused)),
        ("lost", len(lost)), ("arrived twice", twice), ("in flight at the kills", claims.total()),
        ("seconds of draining", round(drained, 1)),
    ]
    print(f"\n{'':28} {'count':>8}")
    for name, value in rows:
        print(f"{name:28} {value:>8}")
    failures = [
        (bool(lost), f"accepted mails were lost: {lost[:10]}"),
        (bool(excess), f"mails came oftener than they were in flight: {excess[:10]}"),
        (drained > LONGEST_DRAIN, "the rest took too long to arrive"),
        (bool(load.refused), f"requests were refused: {sorted(set(load.refused))}"),
    ]
    for failed, what in failures:
        if failed:
            print(f"FAILED: {what}")
    return any(failed for failed, _ in failures)


def main(description=__doc__, load=Load):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=5_000, help="mails accepted at least (5000)")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--patience", type=float, default=60, help="seconds without an arrival that end the drain (60)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posthaste-kill-") as folder:
        args.folder = folder
        host = Host(os.path.abspath(args.binary), folder, relay())
        try:
            failed = drill(host, args, random.Random(args.seed), load)
        finally:
            host.end(signal.SIGTERM)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
