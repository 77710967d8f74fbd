#!/usr/bin/env python3
"""Compares NOTICE with the licence exceptions of deny.toml and the versions in Cargo.lock."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    notice = (ROOT / "NOTICE").read_text()
    excepted = {one["crate"]: one["allow"] for one in rules["licenses"]["exceptions"]}
    wanted = {
        f"{p['name']} {p['version']} ({', '.join(excepted[p['name']])})"
        for p in lock["package"]
        if p["name"] in excepted
    }
    listed = {line.removeprefix("* ") for line in notice.splitlines() if line.startswith("* ")}
    for line in sorted(wanted - listed):
        print(f"NOTICE lacks: {line}")
    for line in sorted(listed - wanted):
        print(f"NOTICE names what is not in use: {line}")
    if wanted != listed:
        return 1
    print(f"NOTICE names {len(wanted)} crates of deny.toml's exceptions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
