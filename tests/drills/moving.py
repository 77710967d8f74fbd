#!/usr/bin/env python3
"""An account moves while something breaks: the import is killed, the other service takes few calls or answers in
pieces, and lists have a million rows.

    tests/drills/moving.py kill target/release/posthaste
    tests/drills/moving.py limits target/release/posthaste
    tests/drills/moving.py broken target/release/posthaste
    tests/drills/moving.py million target/release/posthaste [--rows 1000000]

The other service is a second host behind a proxy with faults (`million` begins with the folder of an export). Each ends
with exit code 1 when something is lost or made twice, or a bound is passed.
"""

import argparse
import collections
import http.client
import http.server
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

LISTS = ("bounces", "blocks", "invalid_emails", "spam_reports", "unsubscribes")
BEGIN = 1_700_000_000
PORTS = ["--port=0", "--mailbox-port=0", "--smtp-port=0", "--submission-port=0", "--no-login-port=0"]
MINUTES = 15
MEGABYTES = 256


class Host:
    """A host, and calls of its API."""

    def __init__(self, binary, *flags):
        command = [binary, "--json", "--quiet", "--rate-limit=1000000", *PORTS, *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        greeting = json.loads(self.process.stdout.readline())
        self.api, self.key = greeting["api"], greeting["api_key"]

    def call(self, path, body):
        request = urllib.request.Request(self.api + path, json.dumps(body).encode(), method="POST")
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Proxy(http.server.ThreadingHTTPServer):
    """Passes calls on, except those that `fault` answers: with a status, headers and a body, or with a share of the real
    body that is sent before the connection ends."""

    daemon_threads = True

    def __init__(self, api, fault):
        super().__init__(("127.0.0.1", 0), Handler)
        self.to = urllib.parse.urlsplit(api).netloc
        self.fault, self.calls = fault, 0
        self.seen = collections.Counter()
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that was killed is no error."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with self.server.lock:
            self.server.calls += 1
            fault = self.server.fault(self.server.calls, self.path)
            self.server.seen[fault[0] if fault else "passed"] += 1
        if fault and fault[0] != "cut":
            status, headers, body = fault
            return self.answer(status, headers, body, len(body))
        there = http.client.HTTPConnection(self.server.to)
        passed = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        there.request("GET", self.path, headers=passed)
        answer = there.getresponse()
        body = answer.read()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower().startswith("x-ratelimit")]
        there.close()
        if fault:
            self.close_connection = True
            return self.answer(answer.status, kept, body[: len(body) // 2], len(body))
        return self.answer(answer.status, kept, body, len(body))

    def answer(self, status, headers, body, length):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def write_lines(path, items):
    with open(path, "w", encoding="utf-8") as out:
        for item in items:
            out.write(json.dumps(item, separators=(",", ":")) + "\n")


def entry(name, number):
    """An entry of a list as the API has it."""
    shown = {"created": BEGIN + number * 97, "email": f"{name}{number}@example.org"}
    if name in ("bounces", "blocks", "invalid_emails"):
        shown["reason"] = f"550 5.1.1 <{name}{number}@example.org>: no such user here"
    if name in ("bounces", "blocks"):
        shown["status"] = "5.1.1"
    if name == "spam_reports":
        shown["ip"] = "192.0.2.7"
    return shown


def template(number, versions=2):
    generated = f"<p>Hello {{{{name}}}}, this is number {number}.</p>" + "<p>text</p>" * 200
    of_version = lambda v: {
        "id": f"{number:08x}-0000-4000-8000-{v:012x}", "name": f"version {v}", "subject": f"Number {number}",
        "active": int(v == 1), "html_content": generated, "generate_plain_content": True, "editor": "code",
        "test_data": json.dumps({"name": "Ada"}),
    }
    return {
        "id": f"d-{number:032x}", "name": f"Template {number}", "generation": "dynamic",
        "versions": [of_version(v) for v in range(versions)],
    }


def make_export(folder, rows, templates):
    """The folder of an export, with `rows` addresses on lists and in a group."""
    folder.mkdir()
    share = rows // (len(LISTS) + 1)
    for name in LISTS:
        write_lines(folder / f"{name}.jsonl", (entry(name, number) for number in range(share)))
    write_lines(folder / "groups.jsonl", [{"id": 7, "name": "News", "description": "", "is_default": False}])
    members = rows - share * len(LISTS)
    member = lambda n: {"email": f"member{n}@example.org", "group_id": 7, "group_name": "News", "created_at": BEGIN + n}
    write_lines(folder / "group_members.jsonl", (member(number) for number in range(members)))
    write_lines(folder / "templates.jsonl", (template(number) for number in range(templates)))


def new_account(binary, folder):
    """A data folder with its first account, on which no host runs."""
    host = Host(binary, "--data", str(folder))
    host.stop()


def command(binary, data, *words):
    return [binary, *words, "--account", "local", "--data", str(data), "--json"]


def run(line, environment=None):
    """Runs a command to its end: its report, seconds, and the peak of its memory in megabytes."""
    start = time.monotonic()
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(line[:2])} ended with {process.returncode}: {out.decode()}")
    return json.loads(out), time.monotonic() - start, usage.ru_maxrss / 1024


def lines_of(folder, name):
    path = folder / f"{name}.jsonl"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def compare(one, other, names):
    """What differs between two exports: lines that one has and the other has not, or has twice."""
    wrong = 0
    for name in names:
        before, after = (collections.Counter(lines_of(folder, name)) for folder in (one, other))
        if before != after:
            wrong += 1
            print(f"{name}: {sum((before - after).values())} lost, {sum((after - before).values())} too many")
    return wrong


def names_of(folder, name, key):
    return sorted(json.loads(line)[key] for line in lines_of(folder, name))


def filled(binary, scratch, rows):
    """A host whose account has been imported from a made export."""
    data, export = scratch / "there", scratch / "made"
    new_account(binary, data)
    make_export(export, rows, 30)
    run(command(binary, data, "import", "--from", str(export)))
    return Host(binary, "--data", str(data)), data


def moved(options, fault, kills=0):
    """Moves an account behind faults, and kills the import so many times; the report and what differs."""
    with tempfile.TemporaryDirectory(prefix="posthaste-moving-") as scratch:
        scratch = pathlib.Path(scratch)
        there, data = filled(options.binary, scratch, options.rows)
        proxy = Proxy(there.api, fault)
        here, state = scratch / "here", scratch / "state"
        new_account(options.binary, here)
        line = command(options.binary, here, "import", "--from", proxy.url, "--state", str(state), "--trust-senders")
        environment = os.environ | {"SENDGRID_API_KEY": there.key}
        killed = 0
        for _ in range(kills):
            process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            try:
                process.wait(random.uniform(0.05, options.longest))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
        report, seconds, memory = run(line, environment)
        there.stop()
        proxy.shutdown()
        first, second = scratch / "first", scratch / "second"
        run(command(options.binary, data, "export", str(first)))
        run(command(options.binary, here, "export", str(second)))
        wrong = compare(first, second, (*LISTS, "groups", "group_members"))
        for name, key in (("templates", "id"), ("api_keys", "name"), ("domains", "domain")):
            if names_of(first, name, key) != names_of(second, name, key):
                wrong += 1
                print(f"{name} differ")
        for one in report.get("not_taken", []):
            print(f"not taken: {one['what']}: {one['reason']}")
        print(
            f"kills: {killed}; calls: {dict(proxy.seen)}; the last run took {seconds:.1f} s and {memory:.0f} MB; "
            f"not taken: {len(report.get('not_taken', []))}; files that differ: {wrong}"
        )
        return wrong or bool(report.get("not_taken"))


def kill(options):
    return moved(options, lambda *_: None, options.kills)


def limits(options):
    """Storms: twelve of forty calls are refused, one after another, each for a second."""
    refused = (429, [("Retry-After", "1")], b'{"errors":[{"field":null,"message":"too many requests"}]}')
    return moved(options, lambda number, _: refused if number % 40 >= 28 else None)


def broken(options):
    """A third of the answers is cut off, HTML, or a 5xx."""
    html = b"<html><body>502 Bad Gateway</body></html>"
    faults = [("cut",), (200, [("Content-Type", "text/html")], html), (502, [], html), (500, [], b"")]
    return moved(options, lambda number, _: random.choice(faults) if number % 3 == 0 else None)


def million(options):
    """Import and export of a folder: time and memory."""
    with tempfile.TemporaryDirectory(prefix="posthaste-million-") as scratch:
        scratch = pathlib.Path(scratch)
        made, here, copy = scratch / "made", scratch / "here", scratch / "copy"
        new_account(options.binary, here)
        make_export(made, options.rows, 500)
        report, seconds, memory = run(command(options.binary, here, "import", "--from", str(made)))
        refused = len(report.get("not_taken", []))
        print(f"import: {options.rows} suppressions and 500 templates in {seconds:.0f} s, {memory:.0f} MB; refused {refused}")
        again, later, peak = run(command(options.binary, here, "import", "--from", str(made)))
        created = sum(part["created"] for part in again["parts"].values())
        print(f"again: {created} created, {later:.0f} s, {peak:.0f} MB")
        _, out, largest = run(command(options.binary, here, "export", str(copy)))
        print(f"export: {out:.0f} s, {largest:.0f} MB")
        wrong = 0
        for name in (*LISTS, "group_members", "templates"):
            before, after = (sum(1 for _ in open(folder / f"{name}.jsonl", "rb")) for folder in (made, copy))
            if before != after:
                wrong += 1
                print(f"{name}: {before} lines, {after} after")
        slow = seconds > MINUTES * 60 or max(memory, peak, largest) > MEGABYTES
        return wrong or refused or created or slow


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drill", choices=["kill", "limits", "broken", "million"])
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--longest", type=float, default=1.5, help="seconds before a kill, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.rows = options.rows or (1_000_000 if options.drill == "million" else 6_000)
    random.seed(options.seed)
    ends = {"kill": kill, "limits": limits, "broken": broken, "million": million}
    return 1 if ends[options.drill](options) else 0


if __name__ == "__main__":
    sys.exit(main())
