#!/usr/bin/env python3
"""Replays what official clients sent, byte for byte, and looks at the raw answers.

replay.py                          # against a fresh local host
replay.py --binary PATH go php     # of that binary, two recordings

Of every answer: the recorded status; `X-Ratelimit-Limit`, `X-Ratelimit-Remaining` and `X-Ratelimit-Reset` in exactly
this spelling; with a 202 also `X-Message-Id`. Then each client's own retry after a 429 is played (`retries.py`). Exit
status 1 on a difference.
"""
import argparse
import base64
import gzip
import json
import pathlib
import re
import socket
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from host import Host, NotStarted  # noqa: E402
import retries  # noqa: E402
from run import build  # noqa: E402

CLIENTS = ("go", "php", "ruby", "java", "csharp")
RATE_LIMIT = ("X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset")
CONTINUE_WITHIN = 2  # seconds


class Answer:
    def __init__(self, status, names, values, body, continued):
        self.status, self.names, self.values, self.body, self.continued = status, names, values, body, continued

    @property
    def spelled_values(self):
        """The values in the order of the names as they were spelled."""
        return [self.values[name.lower()] for name in self.names]

    def header(self, name):
        return self.values.get(name.lower(), "")


class Connection:
    """HTTP/1.1 over a plain socket, kept open as long as both sides want it."""

    def __init__(self, address):
        self.address, self.socket = address, None

    def exchange(self, head, body, expects, closes):
        if self.socket is None:
            self.socket = socket.create_connection(self.address, 60)
            self.reader = self.socket.makefile("rb")
        self.socket.sendall(head if expects else head + body)
        answer = None
        if expects:
            answer = self._wait_for_continue()
            if answer is None or answer.status == 100:
                self.socket.sendall(body)
        continued = answer is not None and answer.status == 100
        while answer is None or answer.status == 100:
            answer = self._read()
        answer.continued = continued
        if closes or answer.header("Connection").lower() == "close":
            self.close()
        return answer

    def _wait_for_continue(self):
        self.socket.settimeout(CONTINUE_WITHIN)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(60)
        return self._read()

    def _read(self):
        status = self.reader.readline().split()
        if len(status) < 2:
            raise ConnectionError("the connection ended without an answer")
        status, names, values, body = int(status[1]), [], {}, b""
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            names.append(name)
            values[name.lower()] = value.strip()
        if "chunked" in values.get("transfer-encoding", ""):
            while size := int(self.reader.readline().split(b";")[0], 16):
                body += self.reader.read(size)
                self.reader.readline()
            self.reader.readline()
        elif status != 100:
            body = self.reader.read(int(values.get("content-length", 0)))
        if values.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return Answer(status, names, values, body, False)

    def close(self):
        if self.socket:
            self.reader.close()
            self.socket.close()
            self.socket = None


class Replay:
    def __init__(self, url, key):
        place = urllib.parse.urlparse(url)
        self.address, self.host, self.key = (place.hostname, place.port or 80), place.netloc, key
        self.ids = {}  # recorded -> ours
        self.counts = dict.fromkeys(("requests", "status", "202", "message id", "rate limit"), 0)
        self.differences = {}

    def play(self, name):
        before = dict(self.counts)
        connection = Connection(self.address)
        for number, line in enumerate((HERE / f"{name}.jsonl").read_text("utf-8").splitlines(), 1):
            request = json.loads(line)
            try:
                answer = connection.exchange(*self.prepare(request))
            except (ConnectionError, TimeoutError) as error:
                connection.close()
                self.counts["requests"] += 1
                self.differ(f"no answer: {error}", name, number)
                continue
            self.judge(request, answer, name, number)
        connection.close()
        return {what: count - before[what] for what, count in self.counts.items()}

    def prepare(self, request):
        """The request as sent: head, body, whether it expects a 100, whether it closes the connection."""
        body = base64.b64decode(request["base64"]) if "base64" in request else self.current(request.get("text", "")).encode()
        lines, expects, closes = [f"{request['method']} {self.current(request['path'])} HTTP/1.1"], False, False
        for name, value in request["headers"]:
            kind = name.lower()
            if kind == "host":
                value = self.host
            elif kind == "content-length":
                value = str(len(body))
            elif kind == "authorization" and value == "Bearer KEY":
                value = f"Bearer {self.key}"
            expects = expects or kind == "expect"
            closes = closes or (kind == "connection" and value.lower() == "close")
            lines.append(f"{name}: {value}")
        if body and not any(line.lower().startswith("content-length:") for line in lines):
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines + ["", ""]).encode(), body, expects, closes

    def current(self, text):
        """Ids of this host for recorded ones, and times that are ahead again."""
        for recorded, ours in self.ids.items():
            text = text.replace(recorded, ours)
        text = re.sub(r'("send_at":\s*)\d+', lambda found: f"{found[1]}{int(time.time()) + 3600}", text)
        return re.sub(r"start_date=\d{4}-\d\d-\d\d", "start_date=" + time.strftime("%Y-%m-%d", time.gmtime()), text)

    def judge(self, request, answer, name, number):
        self.counts["requests"] += 1
        wanted = request["status"] if isinstance(request["status"], list) else [request["status"]]
        if answer.status in wanted:
            self.counts["status"] += 1
        else:
            said = answer.body[:120].decode("utf-8", "replace")
            self.differ(f"{request['method']} {request['path'].split('?')[0]}: status {answer.status}, recorded {request['status']}: {said}", name, number)
        if any(kind.lower() == "expect" for kind, _ in request["headers"]) and answer.status in wanted and not answer.continued:
            self.differ(f"no 100 Continue within {CONTINUE_WITHIN} s", name, number)
        if answer.status == 202:
            self.counts["202"] += 1
            self.counts["message id"] += self.spelled("X-Message-Id", answer, name, number)
        spelled = [self.spelled(header, answer, name, number) for header in RATE_LIMIT]
        self.counts["rate limit"] += all(spelled)
        self.learn(request, answer, name, number)

    def spelled(self, header, answer, name, number):
        if header in answer.names and answer.header(header):
            return True
        other = [given for given in answer.names if given.lower() == header.lower()]
        self.differ(f"{header} is spelled {other[0]}" if other else f"{header} is missing", name, number)
        return False

    def learn(self, request, answer, name, number):
        """Maps the ids that the recorded answer held to those of this one."""
        try:
            made = json.loads(answer.body) if request.get("ids") else {}
            self.ids.update({str(recorded): str(made[field]) for field, recorded in request.get("ids", {}).items()})
        except (ValueError, KeyError, TypeError):
            self.differ(f"{request['method']} {request['path']}: no {', '.join(request['ids'])} in the answer", name, number)

    def retry(self, name):
        """Plays what the client does after a 429: the mail is accepted where it tries again by itself."""
        retry = retries.RETRIES[name]
        request = self.prepare(retries.first_mail(HERE / f"{name}.jsonl"))
        connection = Connection(self.address)
        refused = retries.limited(lambda: connection.exchange(*request))
        if refused.status != 429:
            self.differ(f"no 429 past the limit, but {refused.status}", name, 0)
        for header in RATE_LIMIT:
            self.spelled(header, refused, name, 0)
        answer = retry(lambda: connection.exchange(*request))
        wanted = 429 if retry is retries.never else 202
        if answer.status != wanted:
            self.differ(f"its own retry after a 429 ended with {answer.status} instead of {wanted}", name, 0)
        connection.close()
        return answer.status

    def differ(self, what, name, number):
        self.differences.setdefault(what, []).append(f"{name}:{number}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("clients", nargs="*", help="recordings to replay (default: all): " + ", ".join(CLIENTS))
    options.add_argument("--binary", help="the host to run (default: build target/debug/posthaste)")
    given = options.parse_args()
    try:
        host = Host(given.binary or build())
    except NotStarted as why:
        print(why)
        print("recorded clients: 0 passed, 1 failed")
        return 1
    try:
        replay = Replay(host.api, host.key)
        replay.play("setup")
        print(f"{'client':8} {'requests':>8} {'status as recorded':>19} {'X-Message-Id of 202':>20} {'X-Ratelimit-*':>14}")
        totals = dict.fromkeys(replay.counts, 0)
        for name in given.clients or CLIENTS:
            seen = replay.play(name)
            show(name, seen)
            totals = {what: totals[what] + count for what, count in seen.items()}
        show("all", totals)
    finally:
        code = host.stop()
    try:
        host = Host(given.binary or build(), *retries.FLAGS)
        limited = Replay(host.api, host.key)
        limited.differences = replay.differences
        ends = {name: limited.retry(name) for name in given.clients or CLIENTS}
        print("after a 429:", ", ".join(f"{name} {status}" for name, status in ends.items()))
    finally:
        code = host.stop() or code
    if code != 0:
        replay.differ(f"the host did not stop cleanly (exit code {code})", "host", 0)
    for what, places in replay.differences.items():
        more = "" if len(places) == 1 else f" ({len(places)} times)"
        print(f"  {places[0]}: {what}{more}")
    failed = sum(map(len, replay.differences.values()))
    print(f"recorded clients: {totals['status']} passed, {failed} failed")
    return 1 if failed or not totals["requests"] else 0


def show(name, seen):
    message_ids = f"{seen['message id']} of {seen['202']}"
    print(f"{name:8} {seen['requests']:8} {seen['status']:19} {message_ids:>20} {seen['rate limit']:14}")


if __name__ == "__main__":
    sys.exit(main())
