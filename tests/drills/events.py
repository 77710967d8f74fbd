#!/usr/bin/env python3
"""What webhooks get when receivers misbehave: every event at least once; and nobody waits for the dead or slow.

storm   Sends mails until --count events have happened, to a receiver that answers 200, 500, 429 or not at
        all, by chance, and is killed at times. After --storm seconds it is well again, and the host drains
        what waits. Counts what arrived, how often, and whether an event ever came in other words.
dead    Sends mails one by one to an account with a healthy receiver, first alone, then beside one that
        takes every post and never answers. Prints how long `delivered` takes to arrive after the 202, how
        much of it within the second that is promised, and the ratio.
slow    The same beside one that answers 200 after nine seconds, and gets every event all the same.

    tests/drills/events.py storm target/release/posthaste
    tests/drills/events.py storm target/release/posthaste --count 4000 --storm 60
    tests/drills/events.py dead target/release/posthaste
    tests/drills/events.py slow target/release/posthaste

Exit code 1 when an event is lost or changes between two posts, or when the healthy receiver's median
more than doubles or more than one event in twenty takes longer than a second.
"""

import argparse
import collections
import http.client
import http.server
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time

from local import Host, relay

# Recipients of one request.
LOT = 500


class Receiver:
    """A web server that notes every event posted to it, and answers as `decide` says."""

    def __init__(self, decide):
        self.decide, self.port = decide, 0
        self.posts, self.changed = 0, 0
        self.words, self.times, self.lock = {}, collections.defaultdict(list), threading.Lock()
        self.open()

    def open(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.note(body)
                status = outer.decide()
                if status is None:
                    outer.gone.wait(30)
                    self.close_connection = True
                    return
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "5")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, allow_reuse_address, request_queue_size = True, True, 128

            def handle_error(self, *_):
                """The host hung up on us."""

        self.gone = threading.Event()
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def kill(self):
        self.gone.set()
        self.server.shutdown()
        self.server.server_close()

    def note(self, body):
        now = time.time()
        with self.lock:
            self.posts += 1
            for event in json.loads(body):
                name, words = event["sg_event_id"], json.dumps(event, sort_keys=True)
                if self.words.setdefault(name, words) != words:
                    self.changed += 1
                self.times[name].append(now)


class Client:
    def __init__(self, host):
        self.host = host

    def call(self, method, path, body):
        connection = http.client.HTTPConnection(self.host.api, timeout=60)
        headers = {"Authorization": f"Bearer {self.host.key}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"{method} {path}: {answer.status} {text[:200]}")
        message = answer.headers.get("x-message-id")
        connection.close()
        return message

    def subscribe(self, port, kinds):
        hook = {"url": f"http://127.0.0.1:{port}/", "enabled": True} | {kind: True for kind in kinds}
        self.call("POST", "/v3/user/webhooks/event/settings", hook)

    def send(self, recipients):
        return self.call("POST", "/v3/mail/send", {
            "personalizations": [{"to": [{"email": to}]} for to in recipients],
            "from": {"email": "drill@example.com"},
            "subject": "drill",
            "content": [{"type": "text/plain", "value": "did it arrive?"}],
        })


def storm(host, args):
    chance = random.Random(args.seed)
    begin = time.time()
    well = threading.Event()

    def decide():
        if well.is_set():
            return 200
        return chance.choice([200, 200, 200, 200, 500, 429, 429, None])

    receiver, client = Receiver(decide), Client(host)
    client.subscribe(receiver.port, ["processed", "delivered"])
    # Every mail makes two events.
    mails = args.count // 2
    kills, sent = 0, {}
    next_kill = begin + args.storm / 8
    numbers = iter(range(0, mails, LOT))
    while time.time() - begin < args.storm or len(sent) * LOT < mails:
        first = next(numbers, None)
        if first is not None:
            count = min(LOT, mails - first)
            sent[client.send([f"r{n}@example.com" for n in range(first, first + count)])] = count
        else:
            time.sleep(0.2)
        if time.time() >= next_kill and not well.is_set():
            receiver.kill()
            time.sleep(1)
            receiver.open()
            kills += 1
            next_kill = time.time() + args.storm / 8
        if time.time() - begin >= args.storm:
            well.set()
    well.set()
    print(f"the storm is over after {time.time() - begin:.0f} s: {kills} kills, {receiver.posts} posts", flush=True)
    expected = sum(sent.values()) * 2
    quiet, still = time.time(), 0
    while len(receiver.times) < expected and time.time() - quiet < args.patience:
        time.sleep(0.5)
        if len(receiver.times) != still:
            still, quiet = len(receiver.times), time.time()
    took = time.time() - begin
    arrived = len(receiver.times)
    twice = sum(len(times) - 1 for times in receiver.times.values())
    for name, value in [("events", expected), ("arrived", arrived), ("lost", expected - arrived),
                        ("arrived again", twice), ("in other words", receiver.changed),
                        ("posts", receiver.posts), ("kills", kills), ("seconds", round(took))]:
        print(f"{name:16} {value:>9}")
    return arrived < expected or receiver.changed > 0


def latencies(client, receiver, count, label):
    """Seconds from the 202 to the post of `delivered`, one mail after the other."""
    found = []
    for n in range(count):
        before = set(receiver.times)
        start = time.time()
        client.send([f"{label}{n}@example.com"])
        accepted = time.time()
        while set(receiver.times) == before and time.time() - start < 60:
            time.sleep(0.002)
        new = set(receiver.times) - before
        if not new:
            sys.exit("an event did not arrive within a minute")
        found.append(max(0.0, min(receiver.times[name][0] for name in new) - accepted))
    found.sort()
    at = lambda share: found[min(len(found) - 1, int(share * len(found)))]
    prompt = sum(second <= 1 for second in found) / len(found)
    print(f"{label:10} {len(found):>6} {statistics.median(found):9.3f} {at(0.95):9.3f} {found[-1]:9.3f} {prompt:8.0%}", flush=True)
    return statistics.median(found), prompt


def beside(host, args, other):
    """How promptly a healthy receiver hears, alone and beside another one; whether that is too slow."""
    client = Client(host)
    healthy = Receiver(lambda: 200)
    client.subscribe(healthy.port, ["delivered"])
    print(f"{'seconds':10} {'mails':>6} {'p50':>9} {'p95':>9} {'max':>9} {'<= 1 s':>8}")
    latencies(client, healthy, 5, "warm-up")
    alone, prompt = latencies(client, healthy, args.mails, "alone")
    client.subscribe(other.port, ["delivered"])
    together, still_prompt = latencies(client, healthy, args.mails, "beside")
    print(f"ratio of the medians {together / max(alone, 0.001):.2f}", flush=True)
    return together > 2 * max(alone, 0.01) or min(prompt, still_prompt) < 0.95


def dead(host, args):
    silent = Receiver(lambda: None)
    failed = beside(host, args, silent)
    print(f"the dead one got {silent.posts} posts")
    return failed


def slow(host, args):
    def tardy():
        time.sleep(9)
        return 200

    receiver = Receiver(tardy)
    failed = beside(host, args, receiver)
    end, patience = time.time(), min(args.patience, 300)
    while len(receiver.times) < args.mails and time.time() - end < patience:
        time.sleep(0.2)
    print(f"the slow one got {len(receiver.times)} of {args.mails} events in {receiver.posts} posts, "
          f"the last {time.time() - end:.0f} s after the last mail")
    return failed or len(receiver.times) < args.mails


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drill", choices=["storm", "dead", "slow"])
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=100_000, help="events of the storm (100000)")
    parser.add_argument("--storm", type=float, default=180, help="seconds it lasts (180)")
    parser.add_argument("--patience", type=float, default=1_200, help="seconds without an arrival that end the drain (1200)")
    parser.add_argument("--mails", type=int, default=100, help="mails of each half of the other drills (100)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="posthaste-events-") as folder:
        host = Host(os.path.abspath(args.binary), folder, relay())
        try:
            failed = {"storm": storm, "dead": dead, "slow": slow}[args.drill](host, args)
        finally:
            host.end(signal.SIGTERM)
    if failed:
        print("FAILED")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
