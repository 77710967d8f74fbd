"""Mail from real senders through the host's SMTP port to a Flask receiver, compared byte for byte.

    tests/inbound/run

Prints what was proven, and how much memory a mail of 30 MB took.
"""

import base64
import contextlib
import hashlib
import json
import logging
import os
import pathlib
import queue
import random
import re
import smtplib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus" / "inbound"
sys.path.insert(0, str(ROOT / "tests" / "clients"))

from host import Host  # noqa: E402
from postfix import missing, postfix  # noqa: E402
from receiver import Receiver  # noqa: E402

SENDER, BOX = "bounce@example.com", "inbox@parse.example"


def call(host, path, body):
    request = urllib.request.Request(host.api + path, json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {host.key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


@contextlib.contextmanager
def parsing(binary, *flags):
    """A host that posts the mail of three hostnames: parsed, raw, and checked for spam. It asks no DNS:
    what the world publishes about example.com is not what is tested here."""
    host, receiver = Host(binary, "--no-inbound-dns", *flags), Receiver()
    try:
        call(host, "/v3/whitelabel/domains", {"domain": "parse.example"})
        for name, more in [("", {}), ("raw.", {"send_raw": True}), ("spam.", {"spam_check": True})]:
            setting = {"hostname": f"{name}parse.example", "url": receiver.url, **more}
            call(host, "/v3/user/webhooks/parse/settings", setting)
        yield host, receiver
    finally:
        receiver.stop()
        code = host.stop()
    assert code == 0, f"the host ended with {code}:\n{host.said[-3000:]}"


def same(what, got, want):
    assert got == want, f"{what}\n   got  {got!r:.400}\n   want {want!r:.400}"


def swaks(host, *options, to=BOX):
    name, port = host.smtp
    command = ["swaks", "--server", name, "--port", str(port), "--from", SENDER, "--to", to]
    command += ["--ehlo", "mail.example.com", "--pipeline", *options]
    said = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert said.returncode == 0, said.stdout + said.stderr


def composed_by_swaks(host, receiver):
    """Text and files that swaks puts together itself."""
    bytes_of = random.Random(8).randbytes
    with tempfile.TemporaryDirectory() as folder:
        files = {"logo.png": ("image/png", bytes_of(70_000)), "list.bin": ("application/x-list", bytes_of(1))}
        options = ["--header", "Subject: From swaks", "--body", "Hello from swaks"]
        for name, (kind, data) in files.items():
            path = pathlib.Path(folder) / name
            path.write_bytes(data)
            options += ["--attach-type", kind, "--attach-name", name, "--attach", f"@{path}"]
        swaks(host, *options)
    post = receiver.next()
    same("subject", post.fields["subject"], "From swaks")
    same("text", post.fields["text"].rstrip("\r\n"), "Hello from swaks")
    same("envelope", json.loads(post.fields["envelope"]), {"to": [BOX], "from": SENDER})
    same("sender_ip", post.fields["sender_ip"], "127.0.0.1")
    same("attachments", post.fields["attachments"], str(len(files)))
    want = {f"attachment{n}": (name, *rest) for n, (name, rest) in enumerate(files.items(), 1)}
    same("files", post.files, want)
    info = {key: {"filename": v[0], "name": v[0], "type": v[1]} for key, v in want.items()}
    same("attachment-info", json.loads(post.fields["attachment-info"]), info)


def travels(raw):
    """Whether SMTP carries these bytes as they are: lines that end in CRLF, and no NUL."""
    return raw.endswith(b"\r\n") and not re.search(rb"\r(?!\n)|(?<!\r)\n|\0", raw)


def value(data, want):
    """A field as the corpus writes it."""
    if isinstance(want, dict) and "sha256" in want:
        return {"sha256": hashlib.sha256(data).hexdigest(), "length": len(data)}
    if isinstance(want, dict) and "base64" in want:
        return {"base64": base64.b64encode(data).decode()}
    return json.loads(data) if isinstance(want, dict) else data.decode("utf-8", "replace")


def check_case(post, want):
    # What another host and another DNS would say.
    here = {"sender_ip": "127.0.0.1", "SPF": "none", "dkim": "none"}
    names = [entry[0] for entry in want]
    same("names", [name for name, _ in post.raw], names)
    for (name, data), entry in zip(post.raw, want):
        expected = here.get(name, entry[1])
        if name == "headers":
            # The host writes a field of its own in front.
            trace, _, data = data.partition(b"\n")
            assert trace.startswith(b"Received: from ") and b" with ESMTP id " in trace, trace
        same(name, value(data, expected), expected)
        if len(entry) > 2:
            filename, kind, _ = post.files[name]
            same(f"{name}: type", kind, entry[2]["type"])
            # Browsers write a backslash as it is, and so do we; Werkzeug takes it for an escape.
            # `attachment-info`, compared above, has the whole name.
            same(f"{name}: name", filename, entry[2]["filename"].replace("\\", ""))


def corpus(host, receiver):
    """Every mail that SMTP can carry, by Python's own client over one connection."""
    count = 0
    with smtplib.SMTP(*host.smtp, local_hostname="mail.example.com", timeout=60) as client:
        client.ehlo()
        for path in sorted(CORPUS.glob("*.eml")):
            raw = path.read_bytes()
            if not travels(raw):
                continue
            client.sendmail(SENDER, [BOX], raw, ["BODY=8BITMIME"])
            want = json.loads(path.with_suffix(".json").read_bytes())["form"]
            try:
                check_case(receiver.next(), want)
            except AssertionError as wrong:
                raise AssertionError(f"{path.stem}: {wrong}") from None
            count += 1
    assert count > 150, f"only {count} mails travel"
    return count


def from_file(host, receiver):
    """The same by swaks, which ends what it is given with a line end of its own."""
    names = ["client_outlook", "client_gmail_inline", "shape_winmail", "charset_koi8_r", "shape_invite"]
    for name in names:
        path = CORPUS / f"{name}.eml"
        with tempfile.NamedTemporaryFile() as file:
            file.write(path.read_bytes().removesuffix(b"\r\n"))
            file.flush()
            swaks(host, "--data", f"@{file.name}", to=f"Swaks+{name}@PARSE.example")
        post = receiver.next()
        same(name, json.loads(post.fields["envelope"])["to"], [f"Swaks+{name}@PARSE.example"])
        want = json.loads(path.with_suffix(".json").read_bytes())["form"]
        texts = {entry[0]: entry[1] for entry in want if entry[0] in ("text", "html", "charsets")}
        for field, data in post.raw:
            if field in texts:
                same(f"{name}: {field}", value(data, texts[field]), texts[field])


def by_postfix(host, receiver):
    """Mails of the corpus through a server as others run it: queued, and handed over by its own client
    with what it adds on top. One of them to three recipients in one transaction."""
    names = ["client_outlook", "client_gmail_inline", "shape_winmail", "charset_koi8_r", "shape_invite"]
    with postfix(*host.smtp) as server:
        for name in names:
            raw = (CORPUS / f"{name}.eml").read_bytes()
            server.send(SENDER, [f"Postfix+{name}@PARSE.example"], raw)
            post = received(server, receiver)
            envelope = json.loads(post.fields["envelope"])
            same(name, envelope, {"to": [f"Postfix+{name}@PARSE.example"], "from": SENDER})
            assert "by mail.example.com (Postfix" in post.fields["headers"], post.fields["headers"]
            want = json.loads((CORPUS / f"{name}.json").read_bytes())["form"]
            kept = ("text", "html", "charsets", "subject", "from", "attachments", "attachment-info")
            texts = {entry[0]: entry[1] for entry in want if entry[0] in kept}
            got = {field: data for field, data in post.raw if field in kept}
            same(f"{name}: names", sorted(got), sorted(texts))
            for field, data in got.items():
                same(f"{name}: {field}", value(data, texts[field]), texts[field])
        boxes = [f"{box}@parse.example" for box in ("a", "b", "c")]
        server.send(SENDER, boxes, b"From: bounce@example.com\r\nSubject: Three\r\n\r\nHello\r\n")
        envelopes = [json.loads(received(server, receiver).fields["envelope"]) for _ in boxes]
        same("three recipients", sorted(e["to"] for e in envelopes), [[box] for box in boxes])
    assert receiver.posts.empty(), "a mail came twice"
    return len(names)


def received(server, receiver):
    try:
        return receiver.next()
    except queue.Empty:
        raise AssertionError(f"postfix did not deliver:\n{server.log()[-3000:]}") from None


def raw_mode(host, receiver):
    raw = (CORPUS / "client_outlook.eml").read_bytes()
    with smtplib.SMTP(*host.smtp) as client:
        client.sendmail(SENDER, ["x@raw.parse.example"], raw, ["BODY=8BITMIME"])
    post = receiver.next()
    same("email", dict(post.raw)["email"], raw)
    assert "text" not in post.fields and not post.files, post.fields.keys()


def refused(host, receiver):
    with smtplib.SMTP(*host.smtp) as client:
        try:
            client.sendmail(SENDER, ["bob@elsewhere.example"], b"Subject: x\r\n\r\nx\r\n")
        except smtplib.SMTPRecipientsRefused as refusal:
            same("relaying", refusal.recipients["bob@elsewhere.example"][0], 550)
        else:
            raise AssertionError("it relays")
    assert receiver.posts.empty()


def peak(host):
    """The most memory that the process has had, in bytes."""
    status = pathlib.Path(f"/proc/{host.process.pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024


def thirty_megabytes(binary):
    """On a fresh host: what it held before is what it needs anyway."""
    size = 30 << 20
    head = f"From: {SENDER}\r\nTo: {BOX}\r\nSubject: Large\r\nMIME-Version: 1.0\r\n".encode()
    head += b"Content-Type: application/octet-stream; name=large.bin\r\n"
    head += b"Content-Transfer-Encoding: base64\r\n\r\n"
    lines = (size - len(head)) // 78
    data = random.Random(30).randbytes(lines * 57)
    raw = head + base64.encodebytes(data).replace(b"\n", b"\r\n")
    with parsing(binary) as (host, receiver):
        with smtplib.SMTP(*host.smtp, timeout=120) as client:
            client.sendmail(SENDER, [BOX], b"Subject: small\r\n\r\nsmall\r\n")
            receiver.next()
            before = peak(host)
            client.sendmail(SENDER, [BOX], raw)
        post = receiver.next()
        same("the file", post.files["attachment1"][2], data)
        return len(raw), peak(host) - before


@contextlib.contextmanager
def spamd():
    """SpamAssassin's own daemon on a free port, with the rules of the package and no network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    with tempfile.TemporaryDirectory() as home:
        command = ["spamd", "--local", "--nouser-config", "--max-children=1", "--helper-home-dir", home]
        command += [f"--listen=127.0.0.1:{port}", "--syslog=stderr"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            said = ""
            for line in process.stderr:
                said += line
                if "server started on" in line or "ready to accept" in line.lower():
                    break
            else:
                raise AssertionError(f"spamd did not start:\n{said}")
            yield f"spamd://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


# The text that every filter must call spam (SpamAssassin's GTUBE).
GTUBE = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"


def scored(binary):
    with spamd() as url, parsing(binary, "--spam-filter", url) as (host, receiver):
        swaks(host, "--body", GTUBE, to="x@spam.parse.example")
        spam = receiver.next().fields
        assert float(spam["spam_score"]) > 900, spam["spam_score"]
        assert "GTUBE" in spam["spam_report"], spam["spam_report"]
        swaks(host, "--body", "Shall we have lunch?", to="x@spam.parse.example")
        ham = receiver.next().fields
        assert float(ham["spam_score"]) < 5, ham["spam_report"]
        swaks(host, "--body", GTUBE)
        unasked = receiver.next().fields
        assert "spam_score" not in unasked, "only where the setting asks"


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    binary, began = sys.argv[-1], time.monotonic()
    with parsing(binary) as (host, receiver):
        composed_by_swaks(host, receiver)
        from_file(host, receiver)
        count = corpus(host, receiver)
        raw_mode(host, receiver)
        refused(host, receiver)
        without = missing()
        relayed = None if without else by_postfix(host, receiver)
    print(f"swaks and {count} mails of the corpus: fields and files as expected, byte for byte")
    print(f"not tried: {without}" if without else f"{relayed} mails of the corpus the same through postfix")
    size, grown = thirty_megabytes(binary)
    print(f"a mail of {size / 2**20:.1f} MiB: {grown / 2**20:.1f} MiB, {grown / size:.2f} times its size")
    assert grown < 4 * size, "a mail takes less than four times its size"
    if "--spamd" in sys.argv:
        scored(binary)
        print("SpamAssassin's scores are posted where the setting asks")
    else:
        print("not tried: spamd is not here and cannot be installed")
    print(f"received mail: passed in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
