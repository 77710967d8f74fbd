#!/usr/bin/env python3
"""Holds Cargo.toml, Cargo.lock, CHANGELOG.md, README.md and the tags of HEAD to one version, and prints it.

    versions.py             what is true between releases too
    versions.py --tagged    what a release needs besides: its tag on HEAD, its heading in CHANGELOG.md with a date, and
                            nothing that waits under [Unreleased]
"""

import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)
UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def number(version):
    """A version to compare."""
    return tuple(int(part) for part in version.split("."))


def faults(version, locked, changelog, readme, tags, tagged):
    """What does not agree, one sentence each.

    `version` is that of Cargo.toml, `locked` those of the workspace's packages in Cargo.lock, `tags` the names of
    HEAD's tags that begin with v.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"Cargo.toml: {version} is no version of three numbers"
        return
    for name, other in sorted(locked.items()):
        if other != version:
            yield f"Cargo.lock: {name} is {other}, not {version}"
    released = [found.group(1) for found in HEADING.finditer(changelog)]
    if not released:
        yield "CHANGELOG.md: no heading `## [VERSION] - DATE`"
        return
    if released != sorted(released, key=number, reverse=True) or len(set(released)) < len(released):
        yield f"CHANGELOG.md: the newest version is not first, or one is there twice: {', '.join(released)}"
    if number(version) < number(released[0]):
        yield f"Cargo.toml: {version} is older than {released[0]}, which CHANGELOG.md has"
    short = version.rpartition(".")[0]
    if not re.search(rf"\bversion {re.escape(short)}\b", readme):
        yield f"README.md: does not name version {short}"
    for tag in tags:
        if tag != f"v{version}":
            yield f"the tag {tag} is on a commit of version {version}"
    if not tagged:
        return
    if f"v{version}" not in tags:
        yield f"HEAD has no tag v{version}"
    if version != released[0]:
        yield f"CHANGELOG.md: no heading of {version} with a date"
    waiting = UNRELEASED.search(changelog)
    if waiting and waiting.group(1).strip():
        yield "CHANGELOG.md: changes wait under [Unreleased]"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def tags_of_head():
    listed = subprocess.run(
        ["git", "tag", "--points-at", "HEAD", "--list", "v*"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return listed.stdout.split()


def main():
    if sys.argv[1:] not in ([], ["--tagged"]):
        sys.exit(__doc__)
    version = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    packages = tomllib.loads(read("Cargo.lock"))["package"]
    # What comes from a registry has a source.
    own = {one["name"]: one["version"] for one in packages if "source" not in one and one["name"] != "workspace-hack"}
    tagged = bool(sys.argv[1:])
    found = list(faults(version, own, read("CHANGELOG.md"), read("README.md"), tags_of_head(), tagged))
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        return 1
    print(version)
    return 0


if __name__ == "__main__":
    sys.exit(main())
