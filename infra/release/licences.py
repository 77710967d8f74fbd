#!/usr/bin/env python3
"""Writes the licences of every crate that the binary is made of: its name, its licence and the texts it carries.

    licences.py > THIRD-PARTY-LICENCES.txt
    licences.py NAME…                             of these packages of the workspace, instead of `posthaste`

Equal texts are written once. A crate without a text of its own gets the standard one of its licence.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
# What a crate carries for its own tests and examples is not in the binary.
APART = {"tests", "test", "benches", "examples", "fuzz"}
RULE = "=" * 100
# Where a licence's standard text is found when a crate has none: a file of this repository, or of another crate.
STANDARD = {"Apache-2.0": "LICENSE-APACHE", "MIT": "LICENSE-MIT", "MPL-2.0": "cssparser"}


def host():
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    return re.search(r"^host: (.+)$", said, re.MULTILINE).group(1)


def crates(names):
    """The crates from registries that these packages depend on for this platform, by name and version."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={host()}"]
    said = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {one["id"]: one for one in said["packages"]}
    nodes = {one["id"]: one for one in said["resolve"]["nodes"]}
    waiting = [key for key, one in packages.items() if one["name"] in names and not one["source"]]
    if len(waiting) != len(names):
        sys.exit(f"the workspace has not all of {names}")
    seen = set()
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        linked = (one for one in nodes[key]["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"]))
        waiting += [one["pkg"] for one in linked]
    found = [packages[key] for key in seen if packages[key]["source"]]
    return sorted(found, key=lambda one: (one["name"], one["version"]))


def texts(folder):
    """The licence texts that a crate carries, also those of C sources inside it."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if APART & set(inside.parts) or not path.is_file() or path.suffix in {".rs", ".c", ".h", ".py", ".go", ".json"}:
            continue
        if NAMES.match(path.name) or inside.parts[0] == "LICENSES":
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            if text:
                yield text


def standard(crate, carried):
    """The text for a crate that carries none."""
    for licence, source in STANDARD.items():
        if re.search(rf"\b{re.escape(licence)}(?![\w.-])", crate["license"] or ""):
            break
    else:
        sys.exit(f"{crate['name']} {crate['version']} carries no text of its licence {crate['license']}")
    if licence == "MPL-2.0":
        return next(texts[0] for (name, _), texts in carried.items() if name == source)
    text = (ROOT / source).read_text(encoding="utf-8").strip()
    if licence == "MIT":
        authors = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
        text = re.sub(r"^Copyright .*$", f"Copyright (c) {authors}", text, count=1, flags=re.MULTILINE)
    return text


def main():
    listed = crates(sys.argv[1:] or ["posthaste"])
    carried = {(one["name"], one["version"]): list(texts(pathlib.Path(one["manifest_path"]).parent)) for one in listed}
    users = collections.defaultdict(list)
    for one in listed:
        own = carried[one["name"], one["version"]] or [standard(one, carried)]
        for text in dict.fromkeys(own):
            users[text].append(f"{one['name']} {one['version']}")
    print("Posthaste is made of Rust's standard library (MIT OR Apache-2.0), of SQLite (public domain) and of")
    print("these crates. The texts of their licences follow.\n")
    for one in listed:
        print(f"* {one['name']} {one['version']}: {one['license']}")
    for text, names in users.items():
        print(f"\n{RULE}\n{', '.join(names)}\n{RULE}\n\n{text}")
    print(f"licences: {len(listed)} crates, {len(users)} texts", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
