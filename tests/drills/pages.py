#!/usr/bin/env python3
"""How long the pages of the console take with many mails stored.

    tests/drills/pages.py BINARY [--mails 200000] [--views 60] [--most 150]

Runs the local host on a data folder on the disk, sends so many mails through the API, a thousand recipients a request,
waits until each has arrived and is found by the search, and asks for every page one after another, as a session of a link. Ends
with exit code 1 when the 95th percentile of a page is above `--most` milliseconds.
"""

import argparse
import http.client
import json
import pathlib
import re
import statistics
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))
from host import Host  # noqa: E402

LINK = re.compile(r"^\s*Console\s+(http\S+)", re.MULTILINE)
# Recipients of a request: the most personalizations that one takes.
RECIPIENTS = 1_000


class Browser:
    """A connection with the cookie of a session."""

    def __init__(self, host):
        self.host = urllib.parse.urlsplit(host.api).netloc
        self.connection = http.client.HTTPConnection(self.host, timeout=60)
        link = LINK.search(host.said).group(1)
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["token"][0]
        body = urllib.parse.urlencode({"token": token})
        headers = {"Origin": host.api, "Content-Type": "application/x-www-form-urlencoded"}
        answer, _ = self.ask("POST", "/console/sign-in", body, headers)
        assert answer.status == 303, answer.status
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        return answer, answer.read()

    def milliseconds(self, path):
        began = time.perf_counter()
        answer, body = self.ask("GET", path, headers={"Cookie": self.cookie})
        took = (time.perf_counter() - began) * 1_000
        assert answer.status == 200, (path, answer.status, body[:300])
        return took


def call(host, method, path, body=None):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(host.api).netloc, timeout=120)
    headers = {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (path, answer.status, text[:300])
    return json.loads(text) if text else {}


def counted(host, metric):
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400))
    days = call(host, "GET", f"/v3/stats?start_date={day}")
    return sum(each["metrics"][metric] for one in days for each in one["stats"])


def fill(host, mails):
    """Sends, and waits until all have arrived and are counted."""
    began = time.monotonic()
    for first in range(0, mails, RECIPIENTS):
        numbers = range(first, min(first + RECIPIENTS, mails))
        call(host, "POST", "/v3/mail/send", {
            "personalizations": [{"to": [{"email": f"user{n}@domain{n % 997}.example"}]} for n in numbers],
            "from": {"email": "shop@alder.example"},
            "subject": f"Order {first}",
            "content": [{"type": "text/plain", "value": "Your order has left. " * 20}],
            "categories": ["orders", f"day{first % 7}"],
        })
        # Not more under way than some requests.
        while first - counted(host, "delivered") > 20 * RECIPIENTS:
            time.sleep(0.5)
    while (arrived := counted(host, "delivered")) < mails:
        print(f"{arrived} of {mails} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        time.sleep(5)
    took = time.monotonic() - began
    print(f"{mails} mails in {took:.0f} s, {mails / took:.0f} a second")


def pages(host):
    """Every page, by its name; those of a list also with what makes it slow."""
    mail = call(host, "GET", "/v3/messages?limit=1")["messages"][0]["msg_id"]
    one = urllib.parse.quote("user7@domain7.example")
    return {
        "overview": "/console",
        "activity": "/console/activity",
        "activity, an address": f"/console/activity?q={one}",
        "activity, a state": "/console/activity?status=delivered&hours=24",
        "activity, a part of an address": "/console/activity?q=domain7",
        "activity, nothing": "/console/activity?status=not_delivered",
        "one mail": f"/console/activity/{mail}",
        "scheduled": "/console/scheduled",
        "suppressions": "/console/suppressions",
        "groups": "/console/groups",
        "keys": "/console/keys",
        "access": "/console/access",
        "sessions": "/console/sessions",
        "new key": "/console/first-key",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--mails", type=int, default=200_000)
    parser.add_argument("--views", type=int, default=60)
    parser.add_argument("--most", type=float, default=150)
    options = parser.parse_args()
    host = Host(options.binary, "--no-login-port=0", "--quiet", also=[LINK])
    slow = []
    try:
        browser = Browser(host)
        fill(host, options.mails)
        print(f"| page | p50, ms | p95, ms |\n|---|---|---|")
        for name, path in pages(host).items():
            answer, _ = browser.ask("GET", path, headers={"Cookie": browser.cookie})
            if answer.status == 404:
                continue
            times = []
            for _ in range(options.views):
                times.append(browser.milliseconds(path))
                # Below what an account may ask in five seconds.
                time.sleep(0.02)
            times.sort()
            p95 = times[int(len(times) * 0.95) - 1]
            print(f"| {name} | {statistics.median(times):.0f} | {p95:.0f} |", flush=True)
            if p95 > options.most:
                slow.append(name)
    finally:
        host.stop()
    print(f"pages: above {options.most:.0f} ms: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
