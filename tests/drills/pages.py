#!/usr/bin/env python3
"""How long the pages of the console take with many mails stored.

    tests/drills/pages.py BINARY [--mails 200000] [--views 60] [--bound 150] [--data FOLDER]

Runs the local host on a data folder on the disk and fills it through the API, over several connections and with a
thousand personalizations a request, each a mail of its own: of a hundred mails 97 arrive, two bounce and one waits for
its time; lists and a group get entries, the account some keys and batches. A webhook takes all events, another one
none of the last three hundred mails. Once each mail is counted and found by the
search, every page is asked for again and again, as a session of a link. With `--data` the folder stays, and is filled
once. Ends with exit code 1 when the 95th percentile of a page is above `--bound` milliseconds, or a page fails.
"""

import argparse
import concurrent.futures
import html
import http.client
import http.server
import json
import pathlib
import re
import statistics
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))
from host import Host  # noqa: E402

LINK = re.compile(r"^\s*Console\s+(http\S+)", re.MULTILINE)
# Mails of a request: the most personalizations that one takes.
LOT = 1_000
# Requests at a time, and mails that are accepted and not yet delivered: more than the host works on at a time.
CONNECTIONS = 4
UNDER_WAY = 20 * LOT
# Entries of each list that is filled by hand, of the group, and in a request of them.
ENTRIES = 20_000
# The last mails, one at a time: each is a post of its own that a receiver refuses.
REFUSED = 300
KEYS = 30
BATCHES = 30
# Written last: the folder is filled.
FILLED = "pages.json"


class Client:
    """The API, over a connection for each thread."""

    def __init__(self, host):
        self.api = urllib.parse.urlsplit(host.api).netloc
        self.key = host.key
        self.threads = threading.local()

    def call(self, method, path, body=None):
        connection = getattr(self.threads, "connection", None)
        if connection is None:
            connection = self.threads.connection = http.client.HTTPConnection(self.api, timeout=300)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (method, path, answer.status, text[:300])
        return json.loads(text) if text else {}

    def counted(self, *metrics):
        """The sum of these metrics, of all days that a folder may have been filled on."""
        since = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 7 * 86_400))
        days = self.call("GET", f"/v3/stats?start_date={since}")
        return sum(one["metrics"][name] for day in days for one in day["stats"] for name in metrics)


class Browser:
    """A connection with the cookie of a session."""

    def __init__(self, host):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(host.api).netloc, timeout=60)
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

    def view(self, path):
        """Milliseconds until the whole page is there, and its bytes."""
        began = time.perf_counter()
        answer, body = self.ask("GET", path, headers={"Cookie": self.cookie})
        took = (time.perf_counter() - began) * 1_000
        assert answer.status == 200, (path, answer.status, body[:300])
        return took, len(body)


class Receiver(http.server.ThreadingHTTPServer):
    """Takes posts at one path, and none at another."""

    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ReceiverHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"


class ReceiverHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(503 if self.path == "/refused" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def subscribe(client, url):
    """The id of a webhook that gets all that happens on the way."""
    hook = {"url": url, "enabled": True, "processed": True, "delivered": True, "bounce": True}
    return client.call("POST", "/v3/user/webhooks/event/settings", hook)["id"]


def recipient(n):
    return f"bounced+{n}@outcome.test" if n % 50 == 7 else f"user{n}@domain{n % 997}.example"


def request(numbers, **more):
    return {
        "personalizations": [{"to": [{"email": recipient(n)}]} for n in numbers],
        "from": {"email": "shop@alder.example"},
        "subject": f"Order {numbers[0]}",
        "content": [{"type": "text/plain", "value": "Your order has left. " * 20}],
        "categories": ["orders", f"day{numbers[0] % 7}"],
        **more,
    }


def send(client, mails):
    """Sends, and waits until each has arrived or bounced and is counted."""
    began = time.monotonic()
    first = client.counted("delivered", "bounces")
    lots = [range(n, min(n + LOT, mails)) for n in range(0, mails, LOT)]
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        for at in range(0, len(lots), CONNECTIONS):
            some = lots[at : at + CONNECTIONS]
            list(pool.map(lambda lot: client.call("POST", "/v3/mail/send", request(lot)), some))
            while some[-1].stop - (client.counted("delivered", "bounces") - first) > UNDER_WAY:
                time.sleep(0.5)
    while (done := client.counted("delivered", "bounces") - first) < mails:
        print(f"{done} of {mails} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        time.sleep(5)
    took = time.monotonic() - began
    print(f"{mails} mails in {took:.0f} s, {mails / took:.0f} a second", flush=True)


def fill(client, mails):
    """The mails, and what else the account has."""
    receiver = Receiver()
    taken = subscribe(client, receiver.url("taken"))
    send(client, mails - REFUSED)
    subscribe(client, receiver.url("refused"))
    for n in range(mails - REFUSED, mails):
        client.call("POST", "/v3/mail/send", request(range(n, n + 1)))
    later = int(time.time()) + 70 * 3_600
    # One mail of a hundred waits, in batches of as many requests as mails each.
    waiting = max(mails // 100, BATCHES)
    batches = [client.call("POST", "/v3/mail/batch")["batch_id"] for _ in range(BATCHES)]
    for n in range(waiting):
        batch = {"batch_id": batches[n % BATCHES]} if n % 2 else {}
        client.call("POST", "/v3/mail/send", request(range(n, n + 1), send_at=later + n, **batch))
    for batch in batches[:5]:
        client.call("POST", "/v3/user/scheduled_sends", {"batch_id": batch, "status": "pause"})
    group = client.call("POST", "/v3/asm/groups", {"name": "News", "description": "Of each week"})["id"]
    for n in range(20):
        client.call("POST", "/v3/asm/groups", {"name": f"Topic {n}", "description": "Of each month"})
    for first in range(0, ENTRIES, LOT):
        some = [f"reader{n}@domain{n % 997}.example" for n in range(first, first + LOT)]
        client.call("POST", "/v3/asm/suppressions/global", {"recipient_emails": some})
        client.call("POST", f"/v3/asm/groups/{group}/suppressions", {"recipient_emails": some})
    for n in range(KEYS):
        client.call("POST", "/v3/api_keys", {"name": f"Application {n}", "scopes": ["mail.send"]})
    receiver.shutdown()
    return {"group": group, "batch": batches[0], "key": client.key, "webhook": taken}


def behind(browser, path, pages):
    """The address of a later page: so many behind this one."""
    for _ in range(pages):
        _, body = browser.ask("GET", path, headers={"Cookie": browser.cookie})
        path = html.unescape(re.search(r'rel="next" href="([^"]+)"', body.decode()).group(1))
    return path


def pages(client, browser, filled):
    """Every page, by its name; those of a list also with what makes it slow."""
    quoted = urllib.parse.quote
    found = client.call("GET", "/v3/messages?limit=1&query=" + quoted('status="delivered"'))
    arrived = found["messages"][0]["msg_id"]
    waits = client.call("GET", "/v3/user/scheduled_sends/messages?limit=1")["messages"][0]["message_id"]
    key = client.call("GET", "/v3/api_keys")["result"][0]["api_key_id"]
    return {
        "overview": "/console",
        "activity": "/console/activity",
        "activity, page 3": behind(browser, "/console/activity", 2),
        "activity, page 200": behind(browser, "/console/activity", 199),
        "activity, an address": f"/console/activity?q={quoted('user8@domain8.example')}",
        "activity, a mail": f"/console/activity?q={arrived}",
        "activity, arrived today": "/console/activity?status=delivered&since=24",
        "activity, not arrived": "/console/activity?status=not_delivered",
        "activity, words of a subject": "/console/activity?q=Order",
        "activity, words of no subject": "/console/activity?q=nothing",
        "one mail": f"/console/activity/{arrived}",
        "one mail that waits": f"/console/activity/{waits}",
        "scheduled": "/console/scheduled",
        "a batch": f"/console/scheduled/{filled['batch']}",
        "suppressions": "/console/suppressions",
        "suppressions, an address": f"/console/suppressions?q={quoted('reader7@domain7.example')}",
        "bounces": "/console/suppressions/bounces",
        "bounces, page 3": behind(browser, "/console/suppressions/bounces", 2),
        "bounces, a beginning": "/console/suppressions/bounces?q=bounced%2B1",
        "unsubscribes": "/console/suppressions/unsubscribes",
        "unsubscribes, page 200": behind(browser, "/console/suppressions/unsubscribes", 199),
        "unsubscribes, a beginning": "/console/suppressions/unsubscribes?q=reader1",
        "unsubscribes, a beginning of none": "/console/suppressions/unsubscribes?q=zz",
        "a group": f"/console/suppressions/{filled['group']}",
        "a group, page 200": behind(browser, f"/console/suppressions/{filled['group']}", 199),
        "templates": "/console/templates",
        "statistics": "/console/statistics",
        "webhooks": "/console/webhooks",
        "a webhook": f"/console/webhooks/{filled['webhook']}",
        "domains": "/console/domains",
        "keys and access": "/console/access",
        "a key": f"/console/access/{key}",
        "new key": "/console/first-key",
    }


def measure(browser, views, bound, all_pages):
    """Prints how long each page takes, and returns those that take too long."""
    slow = []
    print("| page | p50, ms | p95, ms | bytes |\n|---|---|---|---|")
    for name, path in all_pages.items():
        browser.view(path)
        times = []
        for _ in range(views):
            took, size = browser.view(path)
            times.append(took)
            # Below what an account may ask in five seconds.
            time.sleep(0.02)
        times.sort()
        p95 = times[-(-len(times) * 95 // 100) - 1]
        print(f"| {name} | {statistics.median(times):.0f} | {p95:.0f} | {size} |", flush=True)
        if p95 > bound:
            slow.append(name)
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--mails", type=int, default=200_000)
    parser.add_argument("--views", type=int, default=60)
    parser.add_argument("--bound", type=float, default=150)
    parser.add_argument("--data", type=pathlib.Path, help="a folder that stays, and is filled once")
    options = parser.parse_args()
    host = Host(options.binary, "--no-login-port=0", "--quiet", also=[LINK], data=options.data)
    try:
        client, note = Client(host), options.data and options.data / FILLED
        if note and note.exists():
            filled = json.loads(note.read_text())
        else:
            filled = fill(client, options.mails)
            if note:
                note.write_text(json.dumps(filled))
        browser = Browser(host)
        slow = measure(browser, options.views, options.bound, pages(client, browser, filled))
    finally:
        host.stop()
    print(f"pages: above {options.bound:.0f} ms: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
