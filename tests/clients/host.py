"""Starts the local host on free ports in a folder of its own, and stops it again."""

import queue
import re
import signal
import subprocess
import tempfile
import threading
import time

KEY = re.compile(r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
API = re.compile(r"^\s*API\s+(https?://\S+)", re.MULTILINE)
MAILBOX = re.compile(r"^\s*Mailbox\s+(http://\S+)", re.MULTILINE)


class NotStarted(Exception):
    """The host ended, or said nothing useful in time."""


class Host:
    """A running host: `api`, `mailbox` (base URLs without a slash) and `key`."""

    def __init__(self, binary, patience=60, extra=()):
        self.folder = tempfile.TemporaryDirectory(prefix="posthaste-clients-")
        ports = [f"--{name}=0" for name in ("port", "mailbox-port", "smtp-port", "submission-port")]
        self.process = subprocess.Popen(
            [binary, *ports, "--data", self.folder.name, *extra],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self.reader.start()
        end = time.monotonic() + patience
        while not (KEY.search(self.said) and API.search(self.said) and MAILBOX.search(self.said)):
            try:
                line = lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                self.stop()
                raise NotStarted(f"the host did not start:\n{self.said}")
        self.key = KEY.search(self.said).group()
        self.api = API.search(self.said).group(1).rstrip("/")
        self.mailbox = MAILBOX.search(self.said).group(1).rstrip("/")

    def _read(self, lines):
        for line in self.process.stdout:
            self.said += line
            lines.put(line)
        lines.put(None)

    def stop(self):
        """Ctrl-C, and the exit code; None when only force helped."""
        code = self.process.poll()
        if code is None:
            self.process.send_signal(signal.SIGINT)
            try:
                code = self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(timeout=5)
        self.folder.cleanup()
        return code
