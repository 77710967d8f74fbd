"""Starts the local host on free ports in a folder of its own, and stops it again."""

import json
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

KEY = re.compile(r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
API = re.compile(r"^\s*API\s+(https?://\S+)", re.MULTILINE)
MAILBOX = re.compile(r"^\s*Mailbox\s+(http://\S+)", re.MULTILINE)
SMTP = re.compile(r"^\s*Inbound\s+smtp://(\S+):(\d+)", re.MULTILINE)


class NotStarted(Exception):
    """The host ended, or said nothing useful in time."""


class Host:
    """A running host: `api`, `mailbox` (base URLs without a slash), `smtp` and `key`."""

    def __init__(self, binary, *flags, patience=60, also=(), data=None):
        """`also` are further patterns that the host's start is waited for; `data` is a folder that stays."""
        self.folder = None if data else tempfile.TemporaryDirectory(prefix="posthaste-clients-")
        ports = [f"--{name}=0" for name in ("port", "mailbox-port", "smtp-port", "submission-port")]
        self.process = subprocess.Popen(
            [binary, *ports, "--data", str(data or self.folder.name), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""
        lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self.reader.start()
        end = time.monotonic() + patience
        while not all(word.search(self.said) for word in (KEY, API, MAILBOX, SMTP, *also)):
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
        name, port = SMTP.search(self.said).groups()
        self.smtp = (name, int(port))

    def _read(self, lines):
        for line in self.process.stdout:
            self.said += line
            lines.put(line)
        lines.put(None)

    def raws(self, count, patience=60):
        """The newest mails of the mailbox as they arrived, once there are so many."""
        end = time.monotonic() + patience
        with self._open("/live", patience) as live:
            while self._list(1)["total"] < count:
                assert time.monotonic() < end, f"{count} mails did not come"
                while live.readline().strip():
                    pass
        mails = self._list(count)["messages"]
        return [self._open(f"/api/v1/message/{mail['ID']}/raw").read() for mail in mails]

    def _open(self, path, timeout=30):
        return urllib.request.urlopen(self.mailbox + path, timeout=timeout)

    def _list(self, limit):
        with self._open(f"/api/v1/messages?limit={limit}") as answer:
            return json.load(answer)

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
        if self.folder:
            self.folder.cleanup()
        return code
