#!/usr/bin/env python3
"""Makes every call of Mailpit's client for Node (npm `mailpit-api`) against a fresh local host. Each answer is compared with the client's own types, and what it says with what was sent.

Beside the host run a relay that takes what is released, a filter that scores as spamd does, and a few web pages that
links lead to. Installs the client from the lock file, builds the binary unless one is given, and closes with

    mailpit client: N passed, 0 failed
"""

import argparse
import http.server
import json
import pathlib
import re
import socketserver
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from host import Host, NotStarted  # noqa: E402
from run import build  # noqa: E402  (of the HTTP clients)

NO_LOGIN = re.compile(r"^\s*No login\s+smtp://127\.0\.0\.1:(\d+)", re.MULTILINE)

# What the relay took: sender, recipients and text of each mail.
TAKEN = []


class Relay(socketserver.StreamRequestHandler):
    """An SMTP server that takes everything, except for recipients at refused.example."""

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self):
        self.say("220 relay.example")
        mail = None
        for line in iter(self.rfile.readline, b""):
            words = line.decode().strip()
            verb = words[:4].upper()
            if verb == "MAIL":
                mail = {"from": words, "to": [], "text": ""}
            elif verb == "RCPT" and "@refused.example" in words:
                self.say("550 5.1.1 no such person")
                continue
            elif verb == "RCPT":
                mail["to"].append(words)
            elif verb == "DATA":
                self.say("354 go on")
                text = iter(self.rfile.readline, b".\r\n")
                mail["text"] = b"".join(text).decode()
                TAKEN.append(mail)
            elif verb == "QUIT":
                self.say("221 bye")
                return
            self.say("250 ok")


class Spamd(socketserver.StreamRequestHandler):
    """A filter that finds two rules in every mail."""

    def handle(self):
        self.rfile.read()
        report = [
            "Content analysis details:   (6.1 points, 5.0 required)",
            "",
            " pts rule name              description",
            "---- ---------------------- ----------------------------------",
            " 7.1 GTUBE                  A test of filters",
            "-1.0 ALL_TRUSTED            Passed through trusted hosts only",
        ]
        head = ["SPAMD/1.1 0 EX_OK", "Spam: True ; 6.1 / 5.0", ""]
        self.wfile.write("\r\n".join(head + report).encode())


class Pages(http.server.BaseHTTPRequestHandler):
    """Pages that links lead to, and what the relay took."""

    def answer(self):
        moved = self.path == "/moved"
        known = self.path in ("/fine", "/moved", "/taken")
        self.send_response(302 if moved else 200 if known else 404)
        if moved:
            self.send_header("Location", "/fine")
        self.end_headers()

    do_HEAD = answer

    def do_GET(self):
        self.answer()
        self.wfile.write(json.dumps(TAKEN).encode())

    def log_message(self, *_):
        pass


def serve(handler, kind=socketserver.ThreadingTCPServer):
    """Serves in the background; the port."""
    server = kind(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="the host to run (default: build target/debug/posthaste)")
    parser.add_argument("--skip-install", action="store_true", help="the client is installed")
    options = parser.parse_args()
    if not options.skip_install:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "ci", *quiet], cwd=HERE, check=True)
    relay, spamd = serve(Relay), serve(Spamd)
    pages = serve(Pages, http.server.ThreadingHTTPServer)
    flags = [
        f"--release-relay=smtp://127.0.0.1:{relay}?tls=none",
        f"--spam-filter=spamd://127.0.0.1:{spamd}",
        "--allow-private-webhooks",
        "--mailbox-login=tester:secret",
        "--no-login-port=0",
    ]
    try:
        host = Host(options.binary or build(), *flags, also=[NO_LOGIN])
    except NotStarted as why:
        print(why)
        print("mailpit client: 0 passed, 1 failed")
        return 1
    try:
        smtp = NO_LOGIN.search(host.said).group(1)
        where = [host.mailbox, host.api, host.key, smtp, f"http://127.0.0.1:{pages}"]
        child = subprocess.run(["node", HERE / "suite.mjs", *where], stdout=subprocess.PIPE, text=True)
    finally:
        code = host.stop()
    print(child.stdout, end="")
    passed = len(re.findall(r"^ok ", child.stdout, re.MULTILINE))
    failed = len(re.findall(r"^FAIL ", child.stdout, re.MULTILINE))
    if (child.returncode != 0 and failed == 0) or "\nend " not in child.stdout:
        print(f"FAIL the suite ended early with code {child.returncode}")
        failed += 1
    if code != 0:
        print(f"FAIL the host did not stop cleanly (exit code {code}):\n{host.said[-3000:]}")
        failed += 1
    print(f"mailpit client: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
