"""What the corpus is made of: a case is a mail and what a receiver must get of it.

The expectation is written from the pieces the mail is composed of, never from what any parser
said. `make.py` writes both; `check.py` compares the decoded parts with Python's own parser.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field

FROM = "Ann <ann@example.com>"
TO = "inbox@parse.example"

# What the form is told besides the mail; the Rust test uses the same.
FACTS = {
    "envelope_from": "bounce@example.com",
    "envelope_to": TO,
    "sender_ip": "192.0.2.1",
    "spf": "pass",
    "dkim": [["example.com", True]],
}


@dataclass
class Text:
    """A text in its own bytes; `pieces` are the parts it was joined from."""

    bytes: bytes
    charset: str = "us-ascii"
    pieces: list = None


@dataclass
class File:
    bytes: bytes
    filename: str
    type: str = "application/octet-stream"
    cid: str = None
    charset: str = "us-ascii"

    @property
    def content_type(self):
        return f"{self.type}; charset={self.charset}" if self.type.startswith("text/") else self.type


@dataclass
class Case:
    name: str
    feature: str
    raw: bytes
    to: str = TO
    cc: str = None
    sender: str = FROM
    subject: str = "Hello"
    # Where the body begins; found by the first empty line when not given.
    header: bytes = None
    text: Text = None
    html: Text = None
    files: list = field(default_factory=list)
    # Why Python's parser does not agree; empty when it must.
    python: str = ""
    auto_reply: bool = False
    report: dict = None


def crlf(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def head(extra="", subject="Hello", sender=FROM, to=TO):
    """A header block without the empty line; `extra` lines come last."""
    lines = [f"From: {sender}", f"To: {to}", f"Subject: {subject}"]
    lines += ["Date: Fri, 27 Nov 2026 23:01:22 +0000", "Message-ID: <1@example.com>"]
    lines += ["MIME-Version: 1.0"]
    return crlf("\n".join(lines) + "\n") + crlf(extra)


def mail(extra="", body=b"", **header):
    """A whole mail: the usual header, the extra lines, and the body as it is given."""
    extra = extra if not extra or extra.endswith("\n") else extra + "\n"
    return head(extra, **header) + b"\r\n" + (body if isinstance(body, bytes) else crlf(body))


def part(header="", body=b""):
    """A part of a multipart: header lines, an empty line, the body as it is given."""
    header = header if not header or header.endswith("\n") else header + "\n"
    return crlf(header) + b"\r\n" + (body if isinstance(body, bytes) else crlf(body))


def multi(*parts, boundary="b1", before=b"", after=b""):
    """The body of a multipart."""
    out = before
    for one in parts:
        out += b"--" + boundary.encode() + b"\r\n" + one + b"\r\n"
    return out + b"--" + boundary.encode() + b"--\r\n" + after


def b64(data):
    return base64.encodebytes(data).replace(b"\n", b"\r\n")


def blob(data):
    """Bytes in JSON: short ones readable or as base64, long ones by their hash."""
    if len(data) > 4096:
        return {"sha256": hashlib.sha256(data).hexdigest(), "length": len(data)}
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def unfolded(header):
    """The header as receivers get it: one field a line, with LF. A cut line that is no field is left
    out with its folds; in a `Content-` field that is still open, a parameter goes on without a blank,
    and a cut line alone is left out where a fold follows (an mbox writer's or a gateway's damage)."""
    fields, ends_open = [], False
    lines = header.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    for line, following in zip(lines, [*lines[1:], b""]):
        name, colon, value = line.partition(b":")
        name = name.rstrip()
        if line[:1] in (b" ", b"\t"):
            if fields and fields[-1] is not None:
                fields[-1] += line
        elif not line:
            continue
        elif ends_open and re.match(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+=", line):
            fields[-1] += line
        elif colon and name and all(33 <= byte < 127 for byte in name):
            fields.append(name + b": " + value.lstrip())
        elif ends_open and following[:1] in (b" ", b"\t"):
            continue
        else:
            fields.append(None)
        last = fields[-1] if fields and fields[-1] is not None else b""
        ends_open = last.lower().startswith(b"content-") and last.rstrip().endswith(b";")
    fields = [field for field in fields if field is not None]
    names = [field.partition(b": ") for field in fields]
    lines = (name + b": " + value.replace(b"\r", b"").strip() + b"\n" for name, _, value in names)
    return b"".join(lines)


def form(case):
    """The entries of the POST, in order."""
    header = case.header
    if header is None:
        ends = [at + 2 for at in (case.raw.find(b"\r\n\r\n"),) if at >= 0]
        header = case.raw[: ends[0]] if ends else case.raw
    charsets = {"to": "UTF-8", "from": "UTF-8", "subject": "UTF-8"}
    out = [["headers", blob(unfolded(header))], ["dkim", "{@example.com : pass}"]]
    named = list(zip(case.files, (f"attachment{n}" for n in range(1, 2000))))
    ids = {f.cid: name for f, name in named if f.cid}
    if ids:
        out.append(["content-ids", ids])
    out.append(["to", case.to])
    if case.cc is not None:
        out.append(["cc", case.cc])
        charsets["cc"] = "UTF-8"
    for name, text in (("html", case.html), ("from", None), ("text", case.text)):
        if name == "from":
            out.append(["from", case.sender])
        elif text is not None:
            out.append([name, blob(text.bytes)])
            charsets[name] = text.charset
    out.append(["sender_ip", FACTS["sender_ip"]])
    out.append(["envelope", {"to": [FACTS["envelope_to"]], "from": FACTS["envelope_from"]}])
    out.append(["attachments", str(len(case.files))])
    out.append(["subject", case.subject])
    if case.files:
        info = {}
        for f, name in named:
            info[name] = {"filename": f.filename, "name": f.filename, "type": f.type}
            if f.cid:
                info[name]["content-id"] = f.cid
        out.append(["attachment-info", info])
        charsets["filename"] = "UTF-8"
    out.append(["charsets", charsets])
    out.append(["SPF", FACTS["spf"]])
    for f, name in named:
        out.append([name, blob(f.bytes), {"filename": f.filename, "type": f.content_type}])
    return out


def described(case):
    data = {"feature": case.feature, "form": form(case), "auto_reply": case.auto_reply}
    if case.report is not None:
        data["report"] = case.report
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=False) + "\n"
