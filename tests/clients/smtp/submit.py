"""What each client does, and what must come of it."""

import email
import email.message
import email.policy
import json
import pathlib
import re
import secrets
import smtplib
import ssl
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
QUEUED = re.compile(r"2\.0\.0 Ok: queued as ([A-Za-z0-9_-]{22})")
CASES = []
PROGRAMS, ENVIRONMENT = {}, {}

HEADER = {
    "to": ["Jörg <one@DOMAIN>", "two@DOMAIN"],
    "sub": {"-name-": ["Jörg", "Zoë"]},
    "unique_args": {"order": "4711"},
    "category": ["smtp"],
}


def case(name):
    def keep(function):
        CASES.append((name, function))
        return function

    return keep


class Door:
    """The port, the key, the certificate to trust (without one, nothing is encrypted), the mailbox."""

    def __init__(self, port, key, cert, mailbox):
        self.port, self.key, self.cert, self.mailbox = port, key, cert, mailbox
        self.fresh()

    def fresh(self):
        """A domain that no other case writes to."""
        self.domain = f"{secrets.token_hex(6)}.smtp.example.com"
        return self.domain

    def smtplib(self):
        client = smtplib.SMTP("localhost", self.port, timeout=60)
        if self.cert:
            client.starttls(context=ssl.create_default_context(cafile=self.cert))
        client.login("apikey", self.key)
        return client

    def copies(self, count):
        """All copies for this case's domain, by recipient."""
        found = self.mailbox.wait(f"rcpt:@{self.domain}", count)
        return {copy.recipient.split("@")[0]: copy for copy in found}

    def raw(self, copy):
        with self.mailbox.open(f"/api/v1/message/{copy.id}/raw") as answer:
            return answer.read()


def letter(door, text="Hello\n.\n..dots\n"):
    message = email.message.EmailMessage()
    message["From"] = "App <app@example.com>"
    message["To"] = f"one@{door.domain}"
    message["Subject"] = "Grüße"
    message.set_content(text)
    return message


def check(copy, text="Hello\n.\n..dots\n", subject="Grüße"):
    assert copy.subject == subject, copy.subject
    assert copy.text.rstrip("\n") == text.rstrip("\n"), copy.text
    assert [e["event"] for e in events(copy)] == ["processed", "delivered"], copy.told


def events(copy, patience=60):
    """What happened to a copy, once its delivery is written down: the relay has it a moment before."""
    end = time.monotonic() + patience
    while len(copy.told["Events"] or []) < 2 and time.monotonic() < end:
        copy.told = copy.mailbox.get(f"/api/v1/message/{copy.id}/events")
    return copy.told["Events"]


def queued(answer):
    found = QUEUED.search(answer)
    assert found, answer
    return found.group(1)


def run(name, *arguments, given=""):
    done = subprocess.run(
        [PROGRAMS.get(name, name), *map(str, arguments)],
        env=ENVIRONMENT, input=given.encode(), capture_output=True, timeout=120,
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


@case("smtplib sends")
def smtplib_sends(door):
    door.fresh()
    with door.smtplib() as client:
        message = letter(door)
        message["Bcc"] = f"two@{door.domain}"
        # send_message leaves Bcc out by itself; what raw senders put there must go too.
        raw = message.as_bytes(policy=email.policy.SMTP)
        to = [f"{n}@{door.domain}" for n in ("one", "two")]
        # What is not offered is asked for all the same, and politely ignored.
        refused = client.sendmail("app@example.com", to, raw, ["RET=HDRS", "ENVID=7"], ["NOTIFY=NEVER"])
        assert refused == {}, refused
    for copy in door.copies(2).values():
        check(copy)
        assert b"\r\nBcc:" not in door.raw(copy)


@case("smtplib says what the header says")
def smtplib_header(door):
    door.fresh()
    for ascii_only in (True, False):
        text = json.dumps(HEADER, ensure_ascii=ascii_only).replace("DOMAIN", door.domain)
        message = letter(door, "Dear -name-,\n")
        message["X-SMTPAPI"] = text
        with door.smtplib() as client:
            client.send_message(message)
        copies = door.copies(2)
        check(copies["one"], "Dear Jörg,\n")
        check(copies["two"], "Dear Zoë,\n")
        assert copies["two"].people("To") == [("", f"two@{door.domain}")]
        for event in events(copies["one"]):
            assert event["order"] == "4711" and event["category"] == ["smtp"], event
        door.fresh()


@case("smtplib uses AUTH LOGIN, and a wrong key is told")
def smtplib_login(door):
    client = smtplib.SMTP("localhost", door.port, timeout=60)
    if door.cert:
        client.starttls(context=ssl.create_default_context(cafile=door.cert))
    client.ehlo()
    client.user, client.password = "apikey", "SG.wrong"
    code, text = failing(client)
    assert code == 535, (code, text)
    client.password = door.key
    code, text = client.auth("LOGIN", client.auth_login)
    assert code == 235, (code, text)
    client.quit()


def failing(client):
    try:
        return client.auth("LOGIN", client.auth_login)
    except smtplib.SMTPAuthenticationError as why:
        return why.smtp_code, why.smtp_error


@case("without TLS there is no login where there could be TLS")
def no_login_in_clear(door):
    client = smtplib.SMTP("localhost", door.port, timeout=60)
    client.ehlo()
    assert client.has_extn("starttls") == bool(door.cert)
    assert client.has_extn("auth") == (not door.cert)
    code, _ = client.docmd("MAIL FROM:<app@example.com>")
    assert code == 530, code
    client.quit()


@case("smtplib sends addresses beyond ASCII")
def smtplib_utf8(door):
    door.fresh()
    with door.smtplib() as client:
        message = letter(door)
        del message["To"]
        message["To"] = f"jörg@{door.domain}"
        client.send_message(message)
    (copy,) = door.copies(1).values()
    check(copy)


@case("Nodemailer sends")
def nodemailer(door):
    door.fresh()
    transport = {
        "host": "localhost", "port": door.port, "requireTLS": bool(door.cert), "ignoreTLS": not door.cert,
        "auth": {"user": "apikey", "pass": door.key},
        "tls": {"ca": door.cert.read_text()} if door.cert else {},
    }
    mail = {"from": "App <app@example.com>", "subject": "Grüße", "text": "Hello\n.\n..dots\n"}
    header = json.dumps(HEADER).replace("DOMAIN", door.domain)
    mails = [
        {**mail, "to": f"three@{door.domain}", "bcc": f"four@{door.domain}", "html": "<p>Hello</p>",
         "attachments": [{"filename": "Übersicht.txt", "content": "file"}]},
        {**mail, "to": "x@example.com", "text": "Dear -name-", "headers": {"X-SMTPAPI": {"prepared": True, "value": header}}},
    ]
    code, said = run("node", HERE / "node" / "send.mjs", given=json.dumps({"transport": transport, "mails": mails}))
    assert code == 0, said
    for answer in json.loads(said):
        queued(answer)
    copies = door.copies(4)
    check(copies["three"])
    assert list(copies["three"].files()) == ["Übersicht.txt"], copies["three"].files()
    check(copies["four"])
    check(copies["two"], "Dear Zoë")


@case("swaks sends, pipelined")
def swaks(door):
    door.fresh()
    tls = ["--tls", "--tls-verify", "--tls-ca-path", door.cert] if door.cert else []
    said = ""
    for method in ("PLAIN", "LOGIN"):
        code, said = run(
            "swaks", "--server", f"localhost:{door.port}", "--auth", method, "--auth-user", "apikey",
            "--auth-password", door.key, "--from", "app@example.com", "--to", f"{method.lower()}@{door.domain}",
            "--header", "Subject: swaks", "--body", "Hello", "--pipeline", *tls,
        )
        assert code == 0, said
        queued(said)
    for copy in door.copies(2).values():
        check(copy, "Hello", "swaks")


@case("msmtp sends")
def msmtp(door):
    door.fresh()
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "msmtprc"
        tls = f"tls on\ntls_starttls on\ntls_trust_file {door.cert}\n" if door.cert else "tls off\n"
        for method in ("plain", "login"):
            config.write_text(
                f"account default\nhost localhost\nport {door.port}\nfrom app@example.com\n"
                f"auth {method}\nuser apikey\npassword {door.key}\n{tls}"
            )
            config.chmod(0o600)
            message = letter(door).as_string()
            code, said = run("msmtp", "-C", config, "-d", f"{method}@{door.domain}", given=message)
            assert code == 0, said
            queued(said)
    copies = door.copies(2)
    check(copies["plain"])
    check(copies["login"])
