"""Has our signatures judged by dkimpy: those of the signer alone over every composed sample mail
(tests/golden/mime), and those of mails that a host took, signed and delivered for a domain made
through its API. Each by the record that the owner is told to publish; spoilt, each must fail.

Run by tests/dkim/run, with the folder of the built programs.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

import dkim

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

from host import Host  # noqa: E402


def verify(mail, records):
    asked = []

    def dns(name, timeout=5):
        asked.append(name)
        return records.get(name.decode().rstrip("."))

    ok = dkim.verify(mail, dnsfunc=dns)
    assert asked, "the verifier never looked the key up"
    return ok


def check(name, signed, records):
    """The signature holds, and does no more when a reader would see something else."""
    assert verify(signed, records), f"{name}: the signature does not verify"
    head, body = signed.split(b"\r\n\r\n", 1)
    spoilt = [
        head + b"\r\n\r\n" + body + b"one more line\r\n",
        signed.replace(b"\r\nFrom:", b"\r\nFrom: eve <eve@example.net>,", 1),
    ]
    for other in spoilt:
        assert other != signed, name
        assert not verify(other, records), f"{name}: verifies though it was changed"


HEAD = b"From: ann@example.com\r\nTo: a@x.example\r\nSubject:  odd\r\n\twords \r\n\r\n"

# Ends and lines of bodies that canonicalizers get wrong (RFC 6376, section 3.4).
BODIES = {
    "blanks at the end": b"Hello\r\n   \r\n",
    "tabs and empty lines at the end": b"Hello\r\n\t\r\n \r\n\r\n",
    "only blanks": b"   \r\n\t\r\n",
    "empty": b"",
    "one empty line": b"\r\n",
    "no final line end": b"Hello\r\nyou",
    "trailing blanks in every line": b"a  \r\n b \t c\t\r\n\r\n\r\nd \r\n",
    "8-bit": "Grüße 🌼 \r\n".encode() + b"\xff\xfe \r\n",
    "a very long line": b"x y  " * 200_000 + b"\r\n",
}


def samples(programs):
    mails = sorted((ROOT / "tests/golden/mime").glob("*.eml"))
    assert mails, "no sample mails"
    with tempfile.TemporaryDirectory() as odd, tempfile.TemporaryDirectory() as folder:
        for name, body in BODIES.items():
            path = pathlib.Path(odd) / f"{name}.eml"
            path.write_bytes(HEAD + body)
            mails.append(path)
        # dkimpy reads no such field; without the blanks its relaxed form is the same (section 3.4.2).
        blank = pathlib.Path(odd) / "a blank before a colon.eml"
        blank.write_bytes(HEAD.replace(b"To:", b"To \t:") + b"Hello\r\n")
        mails.append(blank)
        subprocess.run([programs / "examples" / "sign", folder, *mails], check=True)
        folder = pathlib.Path(folder)
        records = {"s1._domainkey.example.com": (folder / "record.txt").read_bytes()}
        for mail in mails:
            signed = (folder / mail.name).read_bytes()
            assert signed.endswith(mail.read_bytes()), f"{mail.name}: the mail itself changed"
            signed = signed.replace(b"To \t:", b"To:")
            check(mail.name, signed, records)
    return len(mails)


def call(host, path, body):
    request = urllib.request.Request(host.api + path, json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {host.key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def delivered(programs):
    """From the call that makes the domain to what the relay took."""
    host = Host(programs / "posthaste")
    try:
        domain = call(host, "/v3/whitelabel/domains", {"domain": "example.org"})
        records = {r["host"]: r["data"].encode() for r in domain["dns"].values()}
        texts = ["Hello", "Grüße 🌼\n.\n..\nFrom here\n", "x" * 5000]
        for text in texts:
            mail = {
                "personalizations": [{"to": [{"email": "bob@example.net", "name": "Müller, Bob"}]}],
                "from": {"email": "ann@example.org", "name": "Ann"},
                "subject": "Signed: ä",
                "content": [{"type": "text/plain", "value": text}, {"type": "text/html", "value": f"<p>{text}"}],
            }
            call(host, "/v3/mail/send", mail)
        for raw in host.raws(len(texts)):
            assert b"d=example.org;" in raw.split(b"\r\n\r\n", 1)[0]
            check("a delivered mail", raw, records)
    finally:
        host.stop()
    return len(texts)


def main():
    programs = pathlib.Path(sys.argv[1])
    count = samples(programs) + delivered(programs)
    print(f"{count} signed mails verified by dkimpy")


if __name__ == "__main__":
    sys.exit(main())
