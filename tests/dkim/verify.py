#!/usr/bin/env python3
"""Has our signatures judged by dkimpy, a verifier that shares no code with ours.

    python3 tests/dkim/verify.py

Signs every composed sample mail (tests/golden/mime) with a fresh key, verifies each by the record
that an owner is told to publish, then spoils each and sees it fail. Needs dkimpy 1.1.
"""

import pathlib
import subprocess
import sys
import tempfile

import dkim

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = b"s1._domainkey.example.com."


def verify(mail, record):
    asked = []

    def dns(name, timeout=5):
        asked.append(name)
        return record if name == NAME else None

    ok = dkim.verify(mail, dnsfunc=dns)
    assert asked, "the verifier never looked the key up"
    return ok


def main():
    mails = sorted((ROOT / "tests/golden/mime").glob("*.eml"))
    assert mails, "no sample mails"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["cargo", "run", "-q", "-p", "posthaste-identity", "--example", "sign", folder, *mails],
            cwd=ROOT,
            check=True,
        )
        folder = pathlib.Path(folder)
        record = (folder / "record.txt").read_bytes()
        for mail in mails:
            signed = (folder / mail.name).read_bytes()
            assert signed.endswith(mail.read_bytes()), f"{mail.name}: the mail itself changed"
            assert verify(signed, record), f"{mail.name}: the signature does not verify"
            head, body = signed.split(b"\r\n\r\n", 1)
            spoilt = [
                head + b"\r\n\r\n" + body + b"one more line\r\n",
                signed.replace(b"\r\nFrom:", b"\r\nFrom: eve <eve@example.net>,", 1),
            ]
            for other in spoilt:
                assert other != signed, mail.name
                assert not verify(other, record), f"{mail.name}: verifies though it was changed"
    print(f"{len(mails)} signed mails verified by dkimpy")


if __name__ == "__main__":
    sys.exit(main())
