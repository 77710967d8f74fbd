"""A corpus of real-world mails, passed through byte for byte with nothing switched on."""

import pathlib
import re
import smtplib

from submit import Door

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MAILS = sorted((ROOT / "tests" / "corpus" / "inbound").glob("*.eml"))
BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")
# Only these may be added, at the end of the header.
OURS = re.compile(rb"(Date|Message-ID): [^\r\n]*\r\n")


def header_end(raw):
    """Where the header ends: at the first empty line, which is not part of it."""
    at = raw.find(b"\r\n\r\n")
    return len(raw) if at < 0 else at + 2


def differs(raw, got):
    """Why `got` is not `raw` with a trace on top and our fields below its header; None if it is."""
    trace = re.match(rb"Received: from [^\r\n]*;\r\n\t[^\r\n]*\r\n", got)
    if not trace:
        return "no trace"
    got = got[trace.end():]
    raw = re.sub(rb"\A(>?From [^\r\n]*\r\n)+", b"", raw)
    if not raw.endswith(b"\r\n"):
        raw += b"\r\n"
    end = header_end(raw)
    if not got.startswith(raw[:end]):
        return "the header"
    rest = got[end:]
    while found := OURS.match(rest):
        rest = rest[found.end():]
    return None if rest == raw[end:] else "the body"


def bytes_survive(door: Door):
    door.fresh()
    sent, refused = {}, {}
    client = door.smtplib()
    for path in MAILS:
        raw = path.read_bytes()
        name = path.stem.replace("_", "-")
        try:
            client.sendmail("app@example.com", [f"{name}@{door.domain}"], raw, ["BODY=8BITMIME"])
            sent[name] = raw
        except smtplib.SMTPDataError as why:
            refused[name] = (why.smtp_code, raw)
            if why.smtp_code == 421:
                client = door.smtplib()
        except smtplib.SMTPServerDisconnected:
            client = door.smtplib()
    client.quit()
    for name, (code, raw) in refused.items():
        expected = (554, 421) if BARE.search(raw) else (550, 421)
        assert code in expected, (name, code)
        one_author = re.findall(rb"(?im)^from\s*:", raw[: header_end(raw)])
        plain = re.search(rb"(?im)^from: [ -~]*<[a-z]+@example\.com>\r$", raw[: header_end(raw)])
        assert BARE.search(raw) or len(one_author) != 1 or not plain, f"{name} was refused with {code}"
    assert len(sent) >= 200, f"{len(sent)} mails were taken, {len(refused)} refused"
    copies = door.copies(len(sent))
    wrong = {name: differs(raw, door.raw(copies[name])) for name, raw in sent.items()}
    wrong = {name: why for name, why in wrong.items() if why}
    assert not wrong, wrong
    print(f"   {len(sent)} mails passed byte for byte, {len(refused)} refused")


CASES = [("a corpus passes byte for byte", bytes_survive)]
