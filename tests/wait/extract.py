#!/usr/bin/env python3
"""Hands 500 mails with codes and links to a built binary, and says how many of them it reads right.

    tests/wait/extract.py target/release/posthaste

The mails are those that infra/mailbox/tests/it/extract makes: sign-in, sign-up and reset mails in ten languages. Each
goes in by SMTP, and its codes and links come from `GET /api/v1/message/{id}/codes` and `/links`. A mail is read right
when these are the code that a person would type in and the link that a person would follow, and nothing else.
"""

import collections
import json
import os
import pathlib
import smtplib
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from measure import start

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITE = ["cargo", "test", "--quiet", "-p", "posthaste-mailbox", "--test", "it", "--", "--ignored", "--exact", "extract::write"]


def ask(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def read(mailbox, address):
    """The codes of the mail to an address, and the links to follow."""
    found = ask(f"{mailbox}/api/v1/wait?query=to:{address}&timeout=60s")["ID"]
    codes = ask(f"{mailbox}/api/v1/message/{found}/codes")["Codes"]
    links = ask(f"{mailbox}/api/v1/message/{found}/links")["Links"]
    return [one["Code"] for one in codes], [one["URL"] for one in links if one["Kind"] == "action"]


def measure(host, folder, mails):
    """By language: how many mails there are, and how many are read right; and of those that were held out."""
    counts = collections.defaultdict(lambda: [0, 0])
    smtp = urllib.parse.urlsplit(host["no_login"])
    for number, mail in enumerate(mails):
        address = f"mail{number}@x.example"
        with smtplib.SMTP(smtp.hostname, smtp.port) as session:
            session.sendmail("no-reply@lumen.example", [address], (folder / mail["file"]).read_bytes())
        want = [[one] if one else [] for one in (mail["code"], mail["link"])]
        got = list(read(host["mailbox"], address))
        if got != want:
            print(f"{mail['name']}: {got}, expected {want}")
        for group in (mail["name"].split()[0], *(["held out"] if mail["is_held_out"] else []), "all"):
            counts[group][0] += 1
            counts[group][1] += got == want
    return counts


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(WRITE, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"POSTHASTE_MAILS": name})
        process, host = start(sys.argv[1])
        try:
            counts = measure(host, folder, json.loads((folder / "mails.json").read_text()))
        finally:
            process.terminate()
            process.wait(30)
    for group, (mails, right) in counts.items():
        print(f"{group}: {right} of {mails} mails are read right ({100 * right / mails:.1f} %)")
    sys.exit(counts["all"][1] * 100 < counts["all"][0] * 99)


if __name__ == "__main__":
    main()
