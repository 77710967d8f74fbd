#!/usr/bin/env python3
"""How precisely later sends leave the local host, and what kills cost.

Sends mails for every second of a stretch of time, far enough ahead that all of them become due rows,
and takes them at a relay of its own, which notes the moment each arrives. Prints the distribution of
(left - send_at). With --kills N the host is killed (SIGKILL) N times within the stretch and started
again at once; what a kill met is counted apart.

    tests/drills/later.py target/release/posthaste
    tests/drills/later.py target/release/posthaste --kills 3

Exit code 1 when a mail is lost, when more arrive twice than were in flight at a kill, or when a figure
misses its budget (99 of 100 within a second; 5 seconds after a restart).
"""

import argparse
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time

from local import Host, Relay, relay

# A mail that the relay took this long before a kill may not have been recorded yet.
UNRECORDED = 0.5


def accept(host, numbers, send_at):
    """Hands in one mail per number over a few connections; the numbers that were accepted."""
    accepted, lock = set(), threading.Lock()
    todo = iter(numbers)

    def work():
        connection = http.client.HTTPConnection(host.api, timeout=30)
        while True:
            with lock:
                number = next(todo, None)
            if number is None:
                return
            body = json.dumps({
                "personalizations": [{"to": [{"email": f"r{number}@example.com"}]}],
                "from": {"email": "drill@example.com"},
                "subject": f"drill {number}",
                "headers": {"X-Drill": str(number)},
                "content": [{"type": "text/plain", "value": "later"}],
                "send_at": send_at[number],
            })
            headers = {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json"}
            connection.request("POST", "/v3/mail/send", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 202:
                sys.exit(f"a mail was refused with {answer.status}")
            with lock:
                accepted.add(number)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return accepted


def kill_often(host, moments):
    """Kills and restarts at these moments. Gives (killed, back, in flight) of each."""
    downs = []
    for moment in moments:
        time.sleep(max(0.0, moment - time.time()))
        killed = time.time()
        host.end(signal.SIGKILL)
        fresh = sum(killed - UNRECORDED <= t <= killed + 0.05 for ts in list(Relay.seen.values()) for t in ts)
        flight = fresh + len(Relay.busy)
        Relay.busy.clear()
        host.start()
        downs.append((killed, time.time(), flight))
        print(f"killed after {killed - moments[0]:5.1f} s, back {downs[-1][1] - killed:.2f} s later, "
              f"{flight} in flight", flush=True)
    return downs


def line(name, values):
    values = sorted(values)
    if not values:
        print(f"{name:32} {0:>6}")
        return 0.0
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    print(f"{name:32} {len(values):>6} {values[0]:9.3f} {at(0.5):9.3f} {at(0.99):9.3f} {values[-1]:9.3f}")
    return at(0.99)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=10_000, help="mails (10000)")
    parser.add_argument("--seconds", type=int, default=120, help="over which they are spread (120)")
    parser.add_argument("--lead", type=int, default=360, help="seconds until the first is due (360)")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="posthaste-later-") as folder:
        host = Host(os.path.abspath(args.binary), folder, relay())
        try:
            failed = drill(host, args, chance)
        finally:
            host.end(signal.SIGTERM)
    sys.exit(1 if failed else 0)


def drill(host, args, chance):
    begin = int(time.time()) + args.lead
    send_at = {n: begin + n % args.seconds for n in range(args.count)}
    started = time.time()
    accepted = accept(host, range(args.count), send_at)
    took = time.time() - started
    print(f"accepted {len(accepted)} in {took:.1f} s ({len(accepted) / took:.0f}/s)", flush=True)
    if begin - time.time() < 300:
        sys.exit("accepting took too long for these to be due rows: give more --lead")
    stretch = args.seconds / max(1, args.kills)
    moments = [begin + stretch * (i + chance.uniform(0.2, 0.8)) for i in range(args.kills)]
    downs = kill_often(host, moments)
    end = begin + args.seconds + 60
    while time.time() < end and any(n not in Relay.seen for n in accepted):
        time.sleep(0.5)
    time.sleep(5)  # for what might arrive twice
    return report(accepted, send_at, downs)


def report(accepted, send_at, downs):
    left = {n: ts[0] for n, ts in list(Relay.seen.items())}
    late, met = [], []
    for number in accepted & left.keys():
        at, came = send_at[number], left[number]
        # A kill met it when the host was down, or just back, between its second and its departure.
        down = next((back for killed, back, _ in downs if killed - 1 <= came and at <= back and came >= back), None)
        (met.append(came - down) if down else late.append(came - at))
    lost = len(accepted - left.keys())
    twice = sum(len(ts) - 1 for ts in Relay.seen.values())
    flight = sum(flight for _, _, flight in downs)
    print(f"{'seconds':32} {'mails':>6} {'min':>9} {'p50':>9} {'p99':>9} {'max':>9}")
    worst = line("left - send_at", late)
    line("met by a kill: left - back", met)
    print(f"lost {lost}, arrived twice {twice}, in flight at kills {flight}")
    early = sum(1 for value in late if value < -0.001)
    failures = [
        (lost > 0, "mails were lost"),
        (twice > flight, "more mails came twice than were in flight"),
        (worst > 1.0, "99 of 100 did not leave within a second"),
        (bool(met) and max(met) > 5.0, "a mail waited more than 5 s after a restart"),
        (early > 0, f"{early} mails left before their second"),
    ]
    for failed, what in failures:
        if failed:
            print(f"FAILED: {what}")
    return any(failed for failed, _ in failures)


if __name__ == "__main__":
    main()
