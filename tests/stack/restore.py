#!/usr/bin/env python3
"""A stack is lost with its account and comes back elsewhere: infra/backup.py on two emulators.

    tests/stack/restore.py FUNCTIONS POSTHASTE

Keys, templates and the state of mails are there again, a large body is, and a link that the first stack signed is
taken by the second: the secret came along.
"""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

import bad_day
from drive import mail, sender, step
from parts import Api, credentials, first_key, surroundings, until
from rights import Record
from stack import client, deploy
from tap import Tap

ROOT = pathlib.Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def tapped(record):
    """A relay, an emulator, and the address before it that functions and the backup call."""
    with surroundings() as (relay, emulator), contextlib.closing(Tap(emulator.port, seen=record.seen)) as tap:
        day = bad_day.if_wanted(emulator.port)
        tap.fault = day and day.fault
        yield relay, emulator, tap.url
        if day:
            step(f"on a bad day: {day.met}")


def backup(endpoint, *arguments):
    """Runs infra/backup.py against an emulator; what it says."""
    done = subprocess.run(
        [sys.executable, ROOT / "infra" / "backup.py", *arguments],
        env=credentials(endpoint) | {"AWS_DEFAULT_REGION": "us-east-1"}, capture_output=True, text=True, check=False,
    )
    if done.returncode:
        sys.exit(f"backup.py {arguments[0]}: {done.stderr}")
    return done.stdout.strip()


def first(binaries, posthaste, folder, record):
    """A stack at work, saved; its key, its group, the signed path and the message's id."""
    with tapped(record) as (relay, emulator, url):
        parameters = {"Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none", "HostnameOfService": "mail.example.com"}
        resources = deploy(emulator.url, binaries, parameters, called=url)
        api = Api(emulator.port, resources["Api"], first_key(posthaste, resources["Table"], emulator.url))
        sender(api, relay)
        group, _ = api.expect(201, "POST", "/v3/asm/groups", {"name": "News", "description": "Our news"})
        _, headers = api.expect(202, "POST", "/v3/mail/send", mail("Signed", asm={"group_id": group["id"]}))
        sent = until("the mail with a link", lambda: relay.with_subject("Signed"), 60)[0]
        path = re.search(r"https://[^/>]+(/asm/unsubscribe[^>]*)>", str(sent["list-unsubscribe"])).group(1)
        api.expect(201, "POST", "/v3/templates", {"name": "Kept", "generation": "dynamic"})
        client("s3", emulator.url).put_object(Bucket=resources["Bucket"], Key="mail/x/y", Body=b"large")
        said = backup(
            url, "save", "--table", resources["Table"], "--bucket", resources["Bucket"],
            "--secret", resources["StackSecret"], folder,
        )
        step(f"saved: {said}")
        record.save(pathlib.Path("target/stack/saved.json"), resources)
        return api.key, group["id"], path, headers["x-message-id"]


def second(binaries, folder, record, key, group, path, message):
    """Another stack, with what was saved."""
    with tapped(record) as (relay, emulator, url):
        ring = client("secretsmanager", emulator.url).create_secret(
            Name="ring", SecretString=(folder / "secret").read_text()
        )
        parameters = {
            "Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none", "HostnameOfService": "mail.example.com",
            "SecretRing": ring["ARN"], "SecretRingVersion": ring["VersionId"],
        }
        resources = deploy(emulator.url, binaries, parameters, called=url)
        api = Api(emulator.port, resources["Api"], key)
        api.expect(401, "GET", "/v3/scopes")
        into = ["--table", resources["Table"], "--bucket", resources["Bucket"]]
        step(f"restored: {backup(url, 'restore', *into, folder)}")
        found, _ = api.expect(200, "GET", "/v3/templates?generations=dynamic&page_size=10")
        if [one["name"] for one in found["result"]] != ["Kept"]:
            sys.exit(f"a template did not come along: {found}")
        api.expect(200, "GET", f"/v3/messages/{message}")
        body = client("s3", emulator.url).get_object(Bucket=resources["Bucket"], Key="mail/x/y")["Body"].read()
        if body != b"large":
            sys.exit(f"a large body is another: {body}")
        status, page, _ = api.call("POST", path)
        left, _ = api.expect(200, "GET", f"/v3/asm/groups/{group}/suppressions")
        if status != 200 or left != ["ada@example.net"]:
            sys.exit(f"a link of the lost stack: {status} {page}; left the group: {left}")
        record.save(pathlib.Path("target/stack/restored.json"), {**resources, "SecretRing": ring["ARN"]})
        step("the key, the template, the message and the signed link of the lost stack are good in the other")


def main():
    binaries, posthaste = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "saved"
        found = first(binaries, posthaste, folder, Record())
        second(binaries, folder, Record(), *found)
    print("what was saved of a stack makes another")
    return 0


if __name__ == "__main__":
    sys.exit(main())
