#!/usr/bin/env python3
"""What the two SMTP ports of a real host do with clients that mean no good, and what memory that takes.

    tests/drills/abuse.py target/debug/posthaste

Each attack goes to the port for received mail and to the one for submission. The table shows the last
answer the attackers got, how long an honest client then took for a mail, and the most memory that the
process has had so far. Ends with 1 when an answer is not the right one, the honest client is not
served, or memory passes its bound.
"""

import argparse
import contextlib
import json
import pathlib
import random
import re
import smtplib
import socket
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

from host import Host  # noqa: E402

SUBMIT = re.compile(r"^\s*Submit\s+smtp://(\S+):(\d+)", re.MULTILINE)
PARSED = "parse.example"
MAIL = b"From: app@example.com\r\nSubject: honest\r\n\r\nHello\r\n"
# The bytes of unfinished messages that a port holds (256 MiB each), beside what the host takes anyway.
BOUND = 2 * 256 + 256


class Port:
    """One of the ports, with what a client says before a message."""

    def __init__(self, host, name, address, login):
        self.host, self.name, self.address, self.login = host, name, address, login
        self.to = f"box@{PARSED}"

    def connect(self, source="127.0.0.1"):
        """A connection past the greeting and EHLO, and past AUTH where that is asked for."""
        stream = socket.create_connection(self.address, 60, (source, 0))
        client = stream.makefile("rwb")
        say(client, None)
        say(client, b"EHLO client.example.com")
        if self.login:
            words = smtplib.encode_base64(f"\0apikey\0{self.host.key}".encode(), eol="")
            say(client, b"AUTH PLAIN " + words.encode())
        return stream, client

    def data(self, client):
        say(client, b"MAIL FROM:<app@example.com>")
        say(client, f"RCPT TO:<{self.to}>".encode())
        return say(client, b"DATA")

    def honest(self):
        """Seconds that a mail of somebody from elsewhere takes."""
        began = time.monotonic()
        stream, client = self.connect("127.0.0.2")
        assert self.data(client).startswith("354"), "an honest client is not served"
        answer = say(client, MAIL + b".")
        stream.close()
        assert answer.startswith("250"), answer
        return time.monotonic() - began


def hear(client):
    """The last line of an answer; nothing when the connection is closed."""
    while True:
        try:
            line = client.readline()
        except OSError:
            return ""
        if line[3:4] != b"-":
            return line.decode().strip()


def say(client, line):
    try:
        if line is not None:
            client.write(line + b"\r\n")
            client.flush()
    except OSError:
        pass
    return hear(client)


def pour(client, piece, megabytes):
    """Sends so many megabytes, or as many as are taken; how many that was."""
    sent = 0
    with contextlib.suppress(OSError):
        while sent < megabytes << 20:
            client.write(piece)
            sent += len(piece)
        client.flush()
    return sent >> 20


def endless_command(port, size):
    stream, client = port.connect()
    pour(client, b"x" * 65536, size)
    answer = hear(client)
    stream.close()
    return answer


def endless_message(port, size):
    stream, client = port.connect()
    port.data(client)
    # The port listens to three times what it would take, in the hope of an end, and hangs up then.
    pour(client, b"x" * 65536, size)
    answer = hear(client)
    stream.close()
    return answer


def garbage(port, _):
    """Lines of anything, as fast as they are taken."""
    noise = random.Random(10).randbytes(1 << 20).replace(b"\n", b"\r\n")
    stream, client = port.connect()
    heard = []
    reader = threading.Thread(target=lambda: heard.extend(iter(lambda: hear(client), "")))
    reader.start()
    with contextlib.suppress(OSError):
        stream.sendall(noise)
    reader.join(60)
    stream.close()
    return heard[-1] if heard else ""


def half_messages(port, _):
    """Sixty clients from four places, each with 29 MB of a message that does not end."""
    ends, lock = [], threading.Lock()
    hold = threading.Barrier(60)

    def one(number):
        stream, client = port.connect(f"127.0.1.{number % 4 + 1}")
        port.data(client)
        pour(client, b"x" * 65536, 29)
        hold.wait(120)
        answer = say(client, b"\r\n.")
        with lock:
            ends.append(answer[:3])
        stream.close()

    together([lambda n=n: one(n) for n in range(60)])
    assert ends.count("452") > 0, f"all of them were held: {ends}"
    assert set(ends) <= {"452", "250", "550"}, ends
    return f"452 for {ends.count('452')} of {len(ends)}"


def slow_clients(port, _):
    """More of one address than it may have, each a byte at a time; the honest one comes while they sit."""
    seats, refused = [], ""
    for _ in range(80):
        stream = socket.create_connection(port.address, 60, ("127.0.0.1", 0))
        seats.append(stream)
        answer = hear(stream.makefile("rb"))
        if answer.startswith("421"):
            refused = answer
    for letter in b"EHLO":
        for stream in seats:
            with contextlib.suppress(OSError):
                stream.send(bytes([letter]))
    port.honest()
    for stream in seats:
        stream.close()
    return refused


def guessing(port, _):
    stream, client = port.connect("127.0.2.1")
    answer = ""
    if port.login:
        stream.close()
        stream = socket.create_connection(port.address, 60, ("127.0.2.1", 0))
        client = stream.makefile("rwb")
        say(client, None)
        say(client, b"EHLO client.example.com")
    for n in range(10):
        words = smtplib.encode_base64(f"\0apikey\0SG.guess{n}".encode(), eol="")
        said = say(client, b"AUTH PLAIN " + words.encode())
        if not said:
            break
        answer = said
    stream.close()
    return answer


def together(tasks):
    troubles = []

    def run(task):
        try:
            task()
        except Exception as trouble:  # noqa: BLE001
            troubles.append(trouble)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]


# What is done, how the last answer begins on the port for received mail, and on the other one.
ATTACKS = [
    ("a command line without an end", endless_command, "421", "421"),
    ("a message of one line", endless_message, "552", "552"),
    ("pipelined garbage", garbage, "421", "421"),
    ("sixty messages that do not end", half_messages, "452", "452"),
    ("eighty slow clients", slow_clients, "421", "421"),
    ("guessing keys", guessing, "50", "421"),
]


def peak(host):
    """The most memory that the process has had, in MB."""
    status = pathlib.Path(f"/proc/{host.process.pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE).group(1)) // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--size", type=int, default=1024, help="MB of what has no end (1024)")
    args = parser.parse_args()
    host = Host(args.binary, "--no-inbound-dns")
    failures = []
    try:
        parsed(host)
        ports = [
            Port(host, "received", host.smtp, False),
            Port(host, "submitted", SUBMIT.search(host.said).groups(), True),
        ]
        for port in ports:
            port.honest()
        print(f"{'port':10} {'attack':32} {'answer':44} {'honest, s':>9} {'most, MB':>9}")
        print(f"{'':10} {'none':32} {'':44} {'':9} {peak(host):>9}")
        for name, attack, *wanted in ATTACKS:
            for port, want in zip(ports, wanted):
                answer = attack(port, args.size)
                took = port.honest()
                print(f"{port.name:10} {name:32} {answer:44.44} {took:9.2f} {peak(host):>9}", flush=True)
                if not answer.startswith(want):
                    failures.append(f"{port.name}, {name}: {answer!r}, not {want}")
        if peak(host) > BOUND:
            failures.append(f"{peak(host)} MB of memory, more than {BOUND}")
    finally:
        code = host.stop()
    if code != 0:
        failures.append(f"the host ended with {code}:\n{host.said[-3000:]}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return bool(failures)


def parsed(host):
    """A hostname whose mail is received, and posted to nobody who answers."""
    for path, body in [
        ("/v3/whitelabel/domains", {"domain": PARSED}),
        ("/v3/user/webhooks/parse/settings", {"hostname": PARSED, "url": "http://127.0.0.1:1081/"}),
    ]:
        request = urllib.request.Request(host.api + path, json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {host.key}")
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request).close()


if __name__ == "__main__":
    sys.exit(main())
