#!/usr/bin/env python3
"""What others build on the v3 API, against a fresh local host: django-anymail, the official parser of
received mail for Node, and Debian's Symfony bridge and Action Mailbox.

Only the host is changed in each. Installs the first two from the lock files beside it, and Debian's
packages by their names. A part whose tool chain this machine does not have, and may not install, is named in
a line and counted as skipped; an installation that fails is a failure. Builds the binary unless one is given,
and closes with a line like

    frameworks: 10 passed, 0 failed, 0 skipped

The exit code is 0 when nothing failed, and 3 when all that was asked for was skipped.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent)]
VENV = ROOT / "tests" / ".venv" / "clients-frameworks"
SHARE = "/usr/share/php/Symfony/Component"
INGRESS = "/rails/action_mailbox/sendgrid/inbound_emails"


class Missing(Exception):
    """The machine lacks the tool chain of a part."""


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def quietly(*command, lacks=None, **options):
    """Runs a command, and shows what it printed only if it fails. The exit code `lacks` says that the machine
    does not have what it asks for."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    said = (done.stderr or done.stdout).strip()[-1000:]
    if lacks and done.returncode == lacks:
        raise Missing(said)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with code {done.returncode}: {said}")


def debian(what, *packages):
    quietly(str(ROOT / "tests" / "debian"), what, *packages, lacks=3)


def lines(command, env=None):
    """The `ok` and `FAIL` lines of a program; that it ends early is a failure too."""
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env)
    said = [line for line in child.stdout.splitlines() if line.startswith(("ok ", "FAIL "))]
    if not said or child.returncode and not any(line.startswith("FAIL") for line in said):
        said.append(f"FAIL it ended early with code {child.returncode}")
    return said


def where(host):
    name, port = host.smtp
    return ["--api", host.api, "--mailbox", host.mailbox, "--key", host.key, "--smtp-host", name, "--smtp-port", str(port)]


def anymail(start):
    quietly(ROOT / "tests" / "venv", "clients/frameworks")
    command = [VENV / "bin" / "python", HERE / "anymail_suite.py", *where(start())]
    return lines(command, {**os.environ, "PYTHONPATH": str(HERE.parent / "python")})


def inbound_parser(start):
    needs("node", "npm")
    quietly("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=HERE / "node")
    return lines(["node", HERE / "node" / "parser.mjs", *where(start())])


def symfony(start):
    needs("openssl")
    debian(f"file:{SHARE}/Mailer/Bridge/Sendgrid/autoload.php", "php-cli", "php-symfony-sendgrid-mailer")
    debian(f"file:{SHARE}/HttpClient/autoload.php", "php-symfony-http-client")
    with tempfile.TemporaryDirectory() as folder:
        cert, key = certificate(pathlib.Path(folder))
        host = start("--tls-cert", str(cert), "--tls-key", str(key))
        said = lines(["php", HERE / "symfony.php", host.api.partition("//")[2], host.key, cert])
        return [*said, checked("the mail that Symfony sent arrives whole", lambda: arrived(host))]


def certificate(folder):
    """A certificate for localhost and 127.0.0.1, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    quietly(*made, *names, "-keyout", str(key), "-out", str(cert))
    return cert, key


def arrived(host):
    import email
    from email.policy import default

    for raw in host.raws(2):
        mail = email.message_from_bytes(raw, policy=default)
        assert mail["Subject"] == "Grüße" and mail["Reply-To"] == "reply@sender.example", mail["Subject"]
        assert mail["From"].addresses[0].display_name == "Shop ü", mail["From"]
        bodies = [mail.get_body((kind,)).get_content().strip() for kind in ("plain", "html")]
        assert bodies == ["text", "<p>html</p>"], bodies
        [file] = mail.iter_attachments()
        assert (file.get_filename(), file.get_content()) == ("list.bin", b"\x00\xff"), file.get_filename()


def action_mailbox(start):
    from api import Api, deliver

    packages = ["ruby-actionmailbox", "ruby-railties", "ruby-sqlite3", "ruby-webrick"]
    debian("ruby:action_mailbox/engine", "ruby", *packages)
    host = start()
    command = ["ruby", HERE / "actionmailbox.rb", "secret"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as site:
        try:
            port = int(site.stdout.readline())
            url = f"http://actionmailbox:secret@127.0.0.1:{port}{INGRESS}"
            Api(host.api, host.key).parse("rails.example", url)
            deliver(host.smtp, "box@raw.rails.example", LETTER)
            told = json.loads(site.stdout.readline())
        finally:
            site.terminate()
    return [checked("Action Mailbox reads the raw mode", lambda: read(told))]


LETTER = (
    "From: Ann <ann@sender.example>\r\nTo: box@raw.rails.example\r\n"
    "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nReferences: <1@sender.example>\r\n <2@sender.example>\r\n"
    'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b1"\r\n\r\n'
    "--b1\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello\r\n"
    '--b1\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="list.csv"\r\n\r\na,b\r\n--b1--\r\n'
).encode()


def read(told):
    wanted = {
        "subject": "Grüße",
        "from": ["ann@sender.example"],
        "references": ["1@sender.example", "2@sender.example"],
        "text": "Hello",
        "files": [["list.csv", "a,b"]],
        # Rails adds the recipient of the envelope, which is in `To` too.
        "to": ["box@raw.rails.example"],
    }
    told["to"] = sorted(set(told["to"]))
    assert told == wanted, told


def checked(name, check):
    try:
        check()
    except Exception as why:  # any way to fail is a failed case, never the end of the run
        return f"FAIL {name}: {why!r:.2000}"
    return f"ok {name}"


PARTS = {
    "django-anymail": anymail,
    "inbound-mail-parser": inbound_parser,
    "php-symfony-sendgrid-mailer": symfony,
    "ruby-actionmailbox": action_mailbox,
}


def part(name, function, binary):
    """Runs one part with a host of its own: how much passed, failed and was skipped."""
    from host import Host

    hosts = []

    def start(*flags):
        hosts.append(Host(binary, "--no-inbound-dns", *flags))
        return hosts[-1]

    try:
        said = function(start)
    except Missing as why:
        print(f"{name}: SKIPPED, {' '.join(str(why).split())}", flush=True)
        return 0, 0, 1
    except Exception as why:  # as above
        said = [f"FAIL {why!r:.2000}"]
    finally:
        codes = [host.stop() for host in hosts]
    said += [f"FAIL the host ended with {code}" for code in codes if code != 0]
    print("\n".join(f"{name}: {line}" for line in said), flush=True)
    failed = sum(line.startswith("FAIL") for line in said)
    return len(said) - failed, failed, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="the host to run (default: build target/debug/posthaste)")
    parser.add_argument("--only", choices=PARTS, help="run one part")
    options = parser.parse_args()
    binary = options.binary
    if not binary:
        subprocess.run(["cargo", "build", "--quiet", "--package", "posthaste"], cwd=ROOT, check=True)
        binary = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "posthaste"
    chosen = {name: run for name, run in PARTS.items() if options.only in (None, name)}
    counts = [part(name, run, binary) for name, run in chosen.items()]
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"frameworks: {passed} passed, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return 0 if passed else 3


if __name__ == "__main__":
    sys.exit(main())
