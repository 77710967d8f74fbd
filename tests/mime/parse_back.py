#!/usr/bin/env python3
"""Reads the composed sample mails with Python's own parser and compares what comes out with
what went in: structure, people, headers, texts, charsets, file names and bytes.

    python3 tests/mime/parse_back.py           composes the mails with cargo first
    python3 tests/mime/parse_back.py FOLDER    reads mails that are already there
"""

import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import collapse_rfc2231_value, getaddresses

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shape(part):
    if part.is_multipart() and part.get_content_maintype() == "multipart":
        inner = " ".join(shape(child) for child in part.iter_parts())
        return f"{part.get_content_subtype()}({inner})"
    return part["content-type"].split(";")[0].strip()


def people(legacy, name):
    """The older half of the library: the newer one leaves the space between encoded words in."""
    values = [value for n, value in legacy.raw_items() if n.lower() == name]
    pairs = getaddresses([" ".join(utf8(value).split()) for value in values])
    return [[words(n), a] for n, a in pairs if a]


def utf8(text):
    """Raw UTF-8 in a header comes out of the parser as lone surrogates (RFC 6532)."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8")


def lines(text):
    return text.replace("\r\n", "\n").replace("\r", "\n")


def leaves(part):
    if part.get_content_maintype() == "multipart":
        for child in part.iter_parts():
            yield from leaves(child)
    else:
        yield part


def words(text):
    """What a reader makes of a text that may hold encoded words."""
    return " ".join(str(make_header(decode_header(text))).split())


def one_line(text):
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", text).split())


def order(contents):
    """The order the mail must have: AMP before the first HTML, everything else as given."""
    kinds = [c["type"].split(";")[0] for c in contents]
    if "text/html" not in kinds:
        return contents
    at = kinds.index("text/html")
    tail = sorted(contents[at:], key=lambda c: c["type"] != "text/x-amp-html")
    return contents[:at] + tail


class Check:
    def __init__(self, name):
        self.name, self.wrong = name, []

    def same(self, what, got, want):
        if got != want:
            self.wrong.append(f"{self.name}: {what}\n   got  {got!r:.300}\n   want {want!r:.300}")


def check_header(check, message, raw, want):
    legacy = message_from_bytes(raw, policy=policy.compat32)
    for name in ("from", "to", "cc", "reply_to"):
        wanted = [[one_line(n), a] for n, a in want[name]]
        check.same(name, people(legacy, name.replace("_", "-")), wanted)
    subject = message["subject"]
    check.same("subject", one_line(subject or ""), one_line(want["subject"]))
    check.same("message id", message["message-id"], f"<{want['message_id']}>")
    check.same("date", int(message["date"].datetime.timestamp()), want["date"])
    ours = {name.lower() for name, _ in want["extra"]}
    seen = set()
    for name, value in want["headers"]:
        low = name.lower()
        if low in seen or low in ours or not value:
            continue
        seen.add(low)
        got = message.get_all(name)
        check.same(name, [words(str(v)) for v in got], [words(one_line(value))])
    for name, value in want["extra"]:
        check.same(name, [" ".join(v.split()) for v in message.get_all(name)], [value])
    for line in raw.split(b"\r\n"):
        check.same("line length", len(line) <= 998, True)
        check.same("line ends", b"\r" in line or b"\n" in line, False)


def check_text(check, part, content, single):
    got = part.get_payload(decode=True)
    if part.get_content_maintype() == "text":
        check.same("charset", part.get_content_charset(), "utf-8")
        got, wanted = lines(got.decode("utf-8")), lines(content["value"])
        if single and not wanted.endswith("\n"):
            got = got.removesuffix("\n")
        check.same("text", got, wanted)
    else:
        check.same("data", got.decode("utf-8"), content["value"])
    for given in content["type"].split(";")[1:]:
        key, _, value = given.strip().partition("=")
        check.same(key, part.get_param(key), value)


def check_file(check, part, want):
    wanted = base64.b64decode(want["content"] + "=" * (-len(want["content"]) % 4))
    if part.get_content_type() == "message/rfc822":
        got = part.get_payload(0).as_bytes(policy=policy.SMTP)
        wanted = wanted.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    else:
        got = part.get_payload(decode=True)
    check.same("file", got, wanted)
    check.same("filename", part.get_filename() or "", " ".join(want["filename"].split()))
    fallback = part.get_param("name")
    if fallback is not None:
        fallback = words(collapse_rfc2231_value(fallback))
    check.same("name", fallback or "", " ".join(want["filename"].split()))
    check.same("disposition", part.get_content_disposition(), "inline" if want["inline"] else "attachment")
    wanted_id = want["content_id"] and f"<{want['content_id'].strip('<>')}>"
    check.same("content id", part["content-id"], wanted_id)
    for given in (want["type"] or "").split(";")[1:]:
        key, _, value = given.strip().partition("=")
        if part.get_content_type() in want["type"]:
            check.same(key, part.get_param(key), value)
    if "charset" not in (want["type"] or "") and part.get_content_maintype() == "text":
        check.same("charset", part.get_content_charset(), guess(wanted))


def guess(data):
    try:
        return None if data.isascii() else data.decode("utf-8") and "utf-8"
    except UnicodeDecodeError:
        return None


def check_mail(path):
    check = Check(path.stem)
    want = json.loads(path.with_suffix(".json").read_text("utf-8"))
    raw = path.read_bytes()
    message = message_from_bytes(raw, policy=policy.default)
    defects = [d for part in message.walk() for d in part.defects]
    check.same("defects", defects, [])
    check.same("shape", shape(message), want["shape"])
    check_header(check, message, raw, want)
    parts = list(leaves(message))
    contents = order(want["contents"])
    for part, content in zip(parts, contents):
        check_text(check, part, content, len(parts) == 1)
    # Files the html shows stand before the others.
    embedded = "related(" in want["shape"]
    files = want["attachments"]
    first = [f for f in files if embedded and f["inline"] and f["content_id"]]
    rest = [f for f in files if f not in first]
    files = first + rest
    bodies = parts[len(contents):] if contents or files else []
    check.same("files", len(bodies), len(files))
    for part, file in zip(bodies, files):
        check_file(check, part, file)
    return check.wrong


def main():
    if len(sys.argv) > 1:
        return report(pathlib.Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        dump = ["cargo", "run", "--quiet", "-p", "posthaste-mime", "--example", "dump", folder]
        subprocess.run(dump, cwd=ROOT, check=True)
        return report(pathlib.Path(folder))


def report(folder):
    mails = sorted(folder.glob("*.eml"))
    wrong = [line for path in mails for line in check_mail(path)]
    print("\n".join(wrong + [f"{len(mails)} mails read, {len(wrong)} differences"]))
    return 1 if wrong or not mails else 0


if __name__ == "__main__":
    sys.exit(main())
