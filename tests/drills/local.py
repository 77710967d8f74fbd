"""What the drills share: a relay that notes what it takes, and a host that can be killed."""

import asyncio
import collections
import os
import re
import socket
import sys
import threading
import time
import urllib.parse

KEY = re.compile(r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
API = re.compile(r"^\s*API\s+(https?://\S+)", re.MULTILINE)
SUBMIT = re.compile(r"^\s*Submit\s+smtp://([0-9.:]+)", re.MULTILINE)
NUMBER = re.compile(rb"^X-Drill: (\d+)\r?$", re.MULTILINE | re.IGNORECASE)


class Relay(asyncio.Protocol):
    """One SMTP connection that takes everything. `seen` notes when each mail was taken."""

    seen = collections.defaultdict(list)
    busy = set()

    def connection_made(self, transport):
        self.transport = transport
        self.buffer = b""
        self.in_data = False
        transport.write(b"220 drill\r\n")

    def connection_lost(self, _):
        Relay.busy.discard(self)

    def data_received(self, data):
        self.buffer += data
        while self.step():
            pass

    def step(self):
        end = b"\r\n.\r\n" if self.in_data else b"\r\n"
        if end not in self.buffer:
            return False
        text, self.buffer = self.buffer.split(end, 1)
        if self.in_data:
            self.in_data = False
            self.take(text)
            return True
        verb = text[:4].upper()
        if verb == b"EHLO":
            self.transport.write(b"250-drill\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n")
        elif verb == b"DATA":
            self.in_data = True
            self.transport.write(b"354 go on\r\n")
        elif verb == b"QUIT":
            self.transport.write(b"221 bye\r\n")
            self.transport.close()
        else:
            if verb == b"MAIL":
                Relay.busy.add(self)
            self.transport.write(b"250 ok\r\n")
        return True

    def take(self, text):
        """Notes a whole mail, and answers for it."""
        found = NUMBER.search(text)
        if found:
            Relay.seen[int(found.group(1))].append(time.time())
        Relay.busy.discard(self)
        self.transport.write(b"250 taken\r\n")


def relay():
    """Starts the relay in a thread; its port."""
    ready, ports = threading.Event(), []

    async def serve():
        server = await asyncio.get_running_loop().create_server(Relay, "127.0.0.1", 0, backlog=512)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    ready.wait()
    return ports[0]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Host:
    """The host on fixed ports, so that it comes back where it was."""

    def __init__(self, binary, folder, relay_port, extra=(), environment=None):
        ports = [f"--{name}={free_port()}" for name in ("port", "mailbox-port", "smtp-port", "submission-port")]
        target = f"smtp://127.0.0.1:{relay_port}?tls=none"
        self.command = [binary, *ports, "--data", folder, "--relay", target, *extra]
        self.log = os.path.join(folder, "host.log")
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self):
        """Starts it and waits until it says where it listens."""
        with open(self.log, "wb") as log:
            actions = [(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)]
            self.pid = os.posix_spawn(self.command[0], self.command, self.environment, file_actions=actions)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                said = log.read()
            if KEY.search(said) and API.search(said):
                self.key = KEY.search(said).group()
                self.api = urllib.parse.urlsplit(API.search(said).group(1)).netloc
                self.submission = SUBMIT.search(said).group(1)
                return
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
            time.sleep(0.01)
        sys.exit(f"the host did not start:\n{said}")

    def end(self, how):
        os.kill(self.pid, how)
        os.waitpid(self.pid, 0)
