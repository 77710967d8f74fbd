#!/usr/bin/env python3
"""Compares what the corpus expects with what Python's own parser reads: headers, texts, charsets,
file names and bytes. A case where Python is known to be wrong, or to know less, says why; if the
two agree there after all, that reason is stale and reported too."""

import pathlib
import re
import sys
from email import message_from_bytes, policy
from email.header import decode_header
from email.utils import collapse_rfc2231_value

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from cases import all_cases  # noqa: E402

WIRE = policy.compat32.clone(linesep="\r\n", max_line_length=None)


def utf8(text):
    return text.encode("utf-8", "surrogateescape").decode("utf-8")


def words(text):
    text = re.sub(r"\r?\n", "", utf8(text))
    out = ""
    for chunk, charset in decode_header(text):
        out += chunk if isinstance(chunk, str) else chunk.decode(charset or "raw-unicode-escape")
    return out.strip()


def header(message, name):
    values = [words(v) for n, v in message.raw_items() if n.lower() == name]
    return ", ".join(values) if name in ("to", "cc") else (values or [""])[0]


def bare(text):
    """Without quotes: Python does not put a decoded name into them."""
    return re.sub(r'["\\]', "", text)


def leaves(part):
    payload = part.get_payload()
    if part.get_content_maintype() != "multipart":
        yield part
    elif isinstance(payload, list):
        for child in payload:
            yield from leaves(child)
    elif payload:
        part.set_type("text/plain")
        yield part


def body(part):
    if part.get_content_maintype() != "message":
        return part.get_payload(decode=True)
    # Python takes these apart; what it writes again has its own idea of empty lines.
    payload = part.get_payload()
    if isinstance(payload, str):
        return lines(part.get_payload(decode=True))
    return lines(b"\n".join(inner.as_bytes(policy=WIRE) for inner in payload))


def lines(data):
    return re.sub(rb"[\r\n]+", b"\n", data).strip()


def filename(part):
    name = part.get_param("filename", None, "content-disposition")
    name = part.get_param("name") if name is None else name
    if name is None:
        return None
    return words(name) if isinstance(name, str) else utf8(collapse_rfc2231_value(name))


def differences(case):
    message = message_from_bytes(case.raw, policy=policy.compat32)
    for name, want in (("subject", case.subject), ("from", case.sender), ("to", case.to), ("cc", case.cc or "")):
        got = header(message, name)
        same = got == want if name == "subject" else bare(got) == bare(want)
        if not same:
            yield f"{name}: {got!r:.100}, not {want!r:.100}"
    parts = list(leaves(message))
    want = []
    for kind, text in (("text/plain", case.text), ("text/html", case.html)):
        if text is not None:
            pieces = text.pieces or [text.bytes]
            want += [(kind, None, text.charset.lower(), piece) for piece in pieces]
    for file in case.files:
        data = lines(file.bytes) if file.type.startswith("message/") else file.bytes
        charset = file.charset.lower() if file.type.startswith("text/") else None
        want.append((file.type, file.filename, charset, data))
    if len(parts) != len(want):
        yield f"{len(parts)} parts, not {len(want)}"
    for part in parts:
        kind, name = part.get_content_type(), filename(part)
        charset = (part.get_content_charset() or "us-ascii") if kind.startswith("text/") else None
        data = body(part)
        match = [w for w in want if w[0] == kind and w[2] == charset and w[3] == data]
        # A name the mail does not give is invented, which Python leaves to others.
        match = [w for w in match if w[1] == name or name is None or w[1] is None]
        if not match:
            yield f"no {kind} {name!r} {charset} {data!r:.80} expected"
        else:
            want.remove(match[0])


def main():
    wrong, known = [], 0
    for case in all_cases():
        try:
            found = list(differences(case))
        except (LookupError, UnicodeError, TypeError, AttributeError, ValueError) as error:
            found = [f"Python fails: {error!r}"]
        if case.python:
            known += 1
            if not found:
                wrong.append(f"{case.name}: agrees, although {case.python}")
        else:
            wrong += [f"{case.name}: {line}" for line in found]
    print("\n".join(wrong + [f"{len(all_cases())} mails, {known} known to differ, {len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
