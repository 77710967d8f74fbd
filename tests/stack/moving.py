"""The account of a stack moves: `posthaste export --aws` and `posthaste import --aws`, by the stack's table and queues."""

import json
import pathlib
import subprocess
import sys
import tempfile

from parts import credentials

# Files of an export that are the same bytes in the account that the import wrote.
SAME = ("unsubscribes.csv", "unsubscribes.jsonl", "groups.csv", "groups.jsonl", "group_members.csv", "group_members.jsonl")


def fill(api):
    """What moves: a template whose second version is active, and those who want no mail."""
    made, _ = api.expect(201, "POST", "/v3/templates", {"name": "Moved", "generation": "dynamic"})
    for name, active in (("first", 0), ("second", 1)):
        version = {"name": name, "subject": "{{word}}", "html_content": "<p>{{word}}</p>", "active": active}
        api.expect(201, "POST", f"/v3/templates/{made['id']}/versions", version)
    group, _ = api.expect(201, "POST", "/v3/asm/groups", {"name": "News", "description": "of the week"})
    api.expect(201, "POST", f"/v3/asm/groups/{group['id']}/suppressions", {"recipient_emails": ["ada@example.org"]})
    gone = {"recipient_emails": ["eve@example.org", "bob@example.org"]}
    api.expect(201, "POST", "/v3/asm/suppressions/global", gone)


def said(binary, endpoint, variables, *line):
    """What the command prints, as JSON."""
    env = {**credentials(endpoint), **variables}
    ran = subprocess.run([binary, *line, "--aws", "--json"], env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"posthaste {' '.join(line)} --aws: {ran.returncode}: {ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout)


def moved(api, binary, endpoint, variables):
    """Out of the owner's account and into an empty one of the same stack. The step."""
    fill(api)
    with tempfile.TemporaryDirectory() as folder:
        first, second = (pathlib.Path(folder) / name for name in ("first", "second"))
        said(binary, endpoint, variables, "export", "--account", "owner", str(first))
        said(binary, endpoint, variables, "account", "create", "newcomer")
        report = said(
            binary, endpoint, variables, "import", "--from", str(first), "--account", "newcomer", "--trust-senders",
        )
        templates = report["parts"]["templates"]
        if not templates["created"] or templates["created"] != templates["read"]:
            sys.exit(f"templates that did not move: {report}")
        said(binary, endpoint, variables, "export", "--account", "newcomer", str(second))
        for name in SAME:
            if (first / name).read_bytes() != (second / name).read_bytes():
                sys.exit(f"{name} is another after the move: {(second / name).read_text()}")
        lines = (second / "group_members.jsonl").read_text() + (second / "unsubscribes.jsonl").read_text()
        if not all(f"{who}@example.org" in lines for who in ("ada", "bob", "eve")):
            sys.exit(f"who wants no mail is lost: {lines}")
        versions = [
            (version["name"], version["active"])
            for line in (second / "templates.jsonl").read_text().splitlines()
            for version in json.loads(line)["versions"] if version["subject"] == "{{word}}"
        ]
        if sorted(versions) != [("first", 0), ("second", 1)]:
            sys.exit(f"versions after the move: {versions}")
    return "the account of a stack was exported and imported with --aws, byte-equal lists and templates"
