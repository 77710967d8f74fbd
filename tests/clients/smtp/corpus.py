"""A corpus of real-world mails, passed through byte for byte while no setting asks for more."""

import pathlib
import re
import smtplib

from submit import Door

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MAILS = sorted((ROOT / "tests" / "corpus" / "inbound").glob("*.eml"))
BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")
# Only these may be added, at the end of the header.
OURS = re.compile(rb"(Date|Message-ID): [^\r\n]*\r\n")


# What RFC 5322, section 2.2, lets a line of the header be.
STRICT = re.compile(rb"[!-9;-~]+:|[ \t]")
# What a mailbox file puts above a mail.
MBOX = re.compile(rb"\A(>?From [^\r\n]*\r\n)+")
FIELD = re.compile(rb"[!-9;-~]+[ \t]*:|[ \t]")


def cut(raw):
    """Header and body: cut at the first empty line, or before the first line that is no field."""
    at = 0
    for line in raw.splitlines(keepends=True):
        if line == b"\r\n":
            return raw[:at], raw[at + 2 :]
        if not FIELD.match(line):
            break
        at += len(line)
    return raw[:at], raw[at:]


def is_strict(raw):
    """Whether each line above the first empty one is a field or continues one, without a NUL."""
    header = MBOX.sub(b"", raw).split(b"\r\n\r\n", 1)[0]
    return b"\0" not in header and all(STRICT.match(line) for line in header.split(b"\r\n") if line)


def is_long(raw):
    """Whether a line is longer than SMTP lets it be (RFC 5321, section 4.5.3.1.6): it is mended or refused."""
    return any(len(line) > 998 for line in raw.split(b"\r\n"))


def without_blind_copies(header):
    return re.sub(rb"(?im)^bcc[ \t]*:.*\r\n(?:[ \t].*\r\n)*", b"", header)


def differs(raw, got):
    """Why `got` is not `raw` with a trace on top and our fields below its header; None if it is."""
    trace = re.match(rb"Received: from [^\r\n]*;\r\n\t[^\r\n]*\r\n", got)
    if not trace:
        return "no trace"
    got = got[trace.end():]
    raw = MBOX.sub(b"", raw)
    if not raw.endswith(b"\r\n"):
        raw += b"\r\n"
    header, body = cut(raw)
    header = without_blind_copies(header)
    if not got.startswith(header):
        return "the header"
    rest = got[len(header):]
    while found := OURS.match(rest):
        rest = rest[found.end():]
    return None if rest == b"\r\n" + body else "the body"


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
        one_author = re.findall(rb"(?im)^from\s*:", cut(raw)[0])
        plain = re.search(rb"(?im)^from: [ -~]*<[a-z]+@example\.com>\r$", cut(raw)[0])
        good = is_strict(raw) and not is_long(raw) and len(one_author) == 1 and plain
        assert BARE.search(raw) or not good, f"{name} was refused with {code}"
    assert len(sent) >= 200, f"{len(sent)} mails were taken, {len(refused)} refused"
    copies = door.copies(len(sent))
    got = {name: door.raw(copies[name]) for name in sent}
    whole = {name: raw for name, raw in sent.items() if is_strict(raw) and not is_long(raw)}
    assert len(whole) >= 200, f"{len(whole)} mails are as the RFCs want them"
    wrong = {name: differs(raw, got[name]) for name, raw in whole.items()}
    wrong = {name: why for name, why in wrong.items() if why}
    # Of others the header is mended: a line that is no field is left out, a blank before a colon too.
    for name, raw in sent.items():
        body = raw.partition(b"\r\n\r\n")[2]
        if is_long(got[name]):
            wrong[name] = "a long line"
        elif not is_strict(got[name]):
            wrong[name] = "a line that is no field"
        elif not is_long(raw) and not got[name].rstrip().endswith(body.rstrip()):
            wrong[name] = "the body"
    assert not wrong, wrong
    print(f"   {len(sent)} mails passed byte for byte, {len(refused)} refused")


CASES = [("a corpus passes byte for byte", bytes_survive)]
