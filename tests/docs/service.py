"""The service that a page asks for, on ports of its own."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time

from session import Failed

# The ports that pages name: the service's, and that of the reader's own receiver.
SERVICE = {"3000": "--port", "8025": "--mailbox-port", "2525": "--smtp-port", "1587": "--submission-port"}
RECEIVER = "9000"
START = 900


def free_ports():
    """Other ports in place of those that the pages name, by the pages' own."""
    taken = [socket.socket() for _ in [*SERVICE, RECEIVER]]
    try:
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return dict(zip([*SERVICE, RECEIVER], (str(one.getsockname()[1]) for one in taken), strict=True))
    finally:
        for one in taken:
            one.close()


def moved(text, ports):
    """The text of a block with the ports of this run."""
    return re.sub(rf"\b({'|'.join(ports)})\b", lambda found: ports[found.group()], text)


class Service:
    """A service in the folder of a clone, started by the command of the page."""

    def __init__(self, command, clone, ports, binary):
        words = shlex.split(command)
        if words[:2] != ["cargo", "run"]:
            raise Failed(f"a page starts the service with cargo run, not {command}")
        flags = words[3:] if words[2:3] == ["--"] else words[2:]
        flags += [f"{flag}={ports[port]}" for port, flag in SERVICE.items()]
        start = [binary] if binary else ["cargo", "run", "--quiet", "--locked", "--"]
        self.data = pathlib.Path(clone) / ".posthaste"
        self.log = pathlib.Path(clone) / ".service.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*start, *flags], cwd=clone, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + START
        while "Ctrl-C stops" not in self.log.read_text(encoding="utf-8", errors="replace"):
            # Ends at once when the process does; otherwise looks again after a moment.
            try:
                self.process.wait(0.1)
            except subprocess.TimeoutExpired:
                if time.monotonic() < deadline:
                    continue
            raise Failed(f"{command} did not start:\n{self.log.read_text(encoding='utf-8')}")

    def stop(self):
        """Ctrl-C, and the data folder goes."""
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(30)
        shutil.rmtree(self.data)
