#!/usr/bin/env python3
"""Submits mail to a fresh local host with the clients people use: Python's smtplib, Nodemailer, and
Debian's swaks and msmtp; with STARTTLS and without. What they send is read back from the recording
relay. A corpus of mails must pass byte for byte.

Installs what it needs beside the tests, builds the binary unless one is given, and closes with

    smtp clients: N passed, 0 failed
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "python")]

import corpus  # noqa: E402
import debian  # noqa: E402
import submit  # noqa: E402
from host import Host  # noqa: E402
from inbox import Mailbox  # noqa: E402
from run import build  # noqa: E402  (of the HTTP clients)

SUBMIT = re.compile(r"^\s*Submit\s+smtp://127\.0\.0\.1:(\d+)", re.MULTILINE)


def certificate(folder):
    """A certificate for localhost and 127.0.0.1, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", key, "-out", cert]
    subprocess.run([*made, *names, *files], check=True, capture_output=True)
    return cert, key


def one(binary, case, cert=None, key=None):
    """Every case against one host; how many passed and failed."""
    extra = ["--tls-cert", str(cert), "--tls-key", str(key)] if cert else []
    host = Host(binary, *extra)
    passed = failed = 0
    try:
        port = int(SUBMIT.search(host.said).group(1))
        door = submit.Door(port, host.key, cert, Mailbox(host.mailbox))
        for name, function in submit.CASES + corpus.CASES:
            if case not in name:
                continue
            label = f"{name}, {'STARTTLS' if cert else 'in clear'}"
            try:
                function(door)
            except Exception as why:  # any way to fail is a failed case, never the end of the run
                failed += 1
                print(f"FAIL {label}: {why!r:.2000}", flush=True)
            else:
                passed += 1
                print(f"ok {label}", flush=True)
    finally:
        code = host.stop()
    if code != 0:
        print(f"FAIL the host did not stop cleanly (exit code {code}):\n{host.said[-3000:]}")
        failed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="the host to run (default: build target/debug/posthaste)")
    parser.add_argument("--case", default="", help="run only the cases whose name holds this")
    options = parser.parse_args()
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "ci", *quiet], cwd=HERE / "node", check=True)
    submit.PROGRAMS, submit.ENVIRONMENT = debian.ready()
    binary = options.binary or build()
    with tempfile.TemporaryDirectory(prefix="posthaste-smtp-") as folder:
        clear = one(binary, options.case)
        tls = one(binary, options.case, *certificate(pathlib.Path(folder)))
    passed, failed = clear[0] + tls[0], clear[1] + tls[1]
    print(f"smtp clients: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
