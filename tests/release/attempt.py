"""What the attempts of tried.py and containers.py share."""

import json
import os
import pathlib
import subprocess
import sys
import tomllib
import urllib.request
from urllib.parse import urlsplit

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

from host import Host

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
MAIL = {
    "personalizations": [{"to": [{"email": "you@example.com"}]}],
    "from": {"email": "me@example.com"},
    "subject": "From a package",
    "content": [{"type": "text/plain", "value": "It works."}],
}


def run(*command, **more):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds, sentence):
    if not holds:
        sys.exit(sentence)


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    check(len(found) == 1, f"{folder} has {len(found)} of {pattern}")
    return found[0]


def works(command):
    """The installed command, by its path, as a service that takes a mail."""
    said = run(command, "--version")
    check(said == f"posthaste {VERSION}\n", f"{command} --version prints {said!r}")
    host = Host(command)
    port = urlsplit(host.api).port
    health = json.loads(run(command, "health", "--port", port))
    check(health["status"] == "ok" and health["version"] == VERSION, f"{command} health prints {health}")
    headers = {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{host.api}/v3/mail/send", json.dumps(MAIL).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        check(answer.status == 202, f"mail/send answers {answer.status}")
    [raw] = host.raws(1)
    check(b"\r\nSubject: From a package\r\n" in raw, f"the mailbox has another mail: {raw[:500]}")
    check(host.stop() == 0, f"{command} does not stop in order: {host.said}")


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
