#!/usr/bin/env python3
"""Writes the inbound corpus: `inbound/NAME.eml`, and beside it `NAME.json` with the form it must
become. Run it after a change to `cases/` and commit what it writes; `--check` only compares."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from cases import all_cases  # noqa: E402
from kit import described  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "inbound"


def main():
    cases = all_cases()
    names = [case.name for case in cases]
    features = [case.feature for case in cases]
    for what in (names, features):
        twice = {one for one in what if what.count(one) > 1}
        if twice:
            sys.exit(f"twice: {twice}")
    files = {}
    for case in cases:
        files[f"{case.name}.eml"] = case.raw
        files[f"{case.name}.json"] = described(case).encode()
    there = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    if "--check" in sys.argv:
        stale = sorted(n for n in files.keys() | there.keys() if files.get(n) != there.get(n))
        print("\n".join(stale + [f"{len(cases)} cases, {len(stale)} files differ"]))
        return 1 if stale else 0
    for name in there.keys() - files.keys():
        (FOLDER / name).unlink()
    for name, data in files.items():
        if there.get(name) != data:
            (FOLDER / name).write_bytes(data)
    print(f"{len(cases)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
