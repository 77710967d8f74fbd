#!/usr/bin/env python3
"""Turns the clock of a built binary over what takes days, and says how long each turn took.

    tests/wait/clock.py target/release/posthaste [--runs 5]

Each run starts a host of its own in memory, whose clock stands still: a mail scheduled in two days; a mail deferred at
every attempt for 72 hours; a batch that is paused until its pause expires; an event that its webhook refuses for 24
hours. The time is that of `POST /api/v1/clock`, which answers once everything that became due is done; what has to be
true then is looked at once, and a run in which it is not ends with exit code 1.
"""

import argparse
import contextlib
import http.server
import json
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

NOON = 1_795_953_600  # 2026-11-29T12:00:00Z


class Host:
    """A host in memory on free ports."""

    def __init__(self, binary):
        ports = ("port", "mailbox-port", "smtp-port", "submission-port", "no-login-port")
        flags = [f"--{name}=0" for name in ports]
        command = [binary, "--memory", "--clock=2026-11-29T12:00:00Z", "--json", "--quiet", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.at = json.loads(self.process.stdout.readline())

    def call(self, method, path, body=None, base="api"):
        """Status, headers and JSON of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.at['api_key']}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.at[base] + path, data, headers, method=method)
        try:
            answer = urllib.request.urlopen(request)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            text = answer.read()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, answer.headers, json.loads(text) if text and is_json else text

    def send(self, to, **more):
        mail = {
            "personalizations": [{"to": [{"email": to}]}],
            "from": {"email": "app@example.com"},
            "subject": "Hello",
            "content": [{"type": "text/plain", "value": "It works."}],
            **more,
        }
        status, headers, said = self.call("POST", "/v3/mail/send", mail)
        assert status == 202, said
        return headers["X-Message-Id"]

    def advance(self, by):
        """Seconds that the turn took, and how many instants there were something due at."""
        start = time.perf_counter()
        status, _, said = self.call("POST", "/api/v1/clock", {"Advance": by}, "mailbox")
        took = time.perf_counter() - start
        assert status == 200, said
        return took, said["Steps"]

    def status_of(self, message):
        _, _, said = self.call("GET", f"/v3/messages/{message}")
        return said["status"], said["events"]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


@contextlib.contextmanager
def refusing():
    """The URL of a receiver that answers every post with 500, and the posts that it got."""
    posts = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            posts.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(500)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", posts
    finally:
        server.shutdown()
        server.server_close()


def scheduled(host):
    host.send("late@example.com", send_at=NOON + 48 * 3600)
    took = host.advance("48h")
    _, _, found = host.call("GET", "/api/v1/messages", base="mailbox")
    assert found["total"] == 1, found
    return took


def retried(host):
    message = host.send("deferred@outcome.test")
    took = host.advance("73h")
    status, events = host.status_of(message)
    assert status == "not_delivered" and events[-1]["event_name"] == "bounced", (status, events[-1:])
    return took


def paused(host):
    _, _, batch = host.call("POST", "/v3/mail/batch", {})
    message = host.send("paused@example.com", batch_id=batch["batch_id"], send_at=NOON + 3600)
    host.call("POST", "/v3/user/scheduled_sends", {"batch_id": batch["batch_id"], "status": "pause"})
    took = host.advance("80h")
    status, events = host.status_of(message)
    assert status == "not_delivered" and events[-1]["event_name"] == "dropped", (status, events[-1:])
    return took


def refused(host):
    with refusing() as (url, posts):
        path = "/v3/user/webhooks/event"
        host.call("POST", f"{path}/settings", {"url": url, "enabled": True, "delivered": True})
        host.send("ann@example.com")
        took = host.advance("25h")
        _, _, lost = host.call("GET", f"{path}/undelivered")
        assert lost["result"][0]["attempts"] == len(posts) > 5, (lost, len(posts))
        return took


CASES = {
    "a mail scheduled in two days": scheduled,
    "72 hours of retries": retried,
    "a pause that expires": paused,
    "24 hours of webhook retries": refused,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("binary")
    arguments.add_argument("--runs", type=int, default=5)
    asked = arguments.parse_args()
    for name, case in CASES.items():
        times = []
        for _ in range(asked.runs):
            host = Host(asked.binary)
            try:
                took, steps = case(host)
            except AssertionError as why:
                sys.exit(f"{name}: {why}")
            finally:
                host.stop()
            times.append(took)
        print(f"{name}: median {statistics.median(times):.3f} s, most {max(times):.3f} s, {steps} steps")


if __name__ == "__main__":
    main()
