#!/usr/bin/env python3
"""Runs the official Node and Python clients against a fresh local host.

Only the host is changed in the clients; what they send is read back from the recording relay
through the mailbox and compared. Installs the clients from the lock files beside it, builds the
binary unless one is given, starts it on free ports, and closes with a line like

    clients: N passed, 0 failed

The exit code is 0 only when nothing failed.
"""

import argparse
import os
import pathlib
import subprocess
import sys

from host import Host, NotStarted

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / "tests" / ".venv" / "clients"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="the host to run (default: build target/debug/posthaste)")
    parser.add_argument("--only", choices=["node", "python"], help="run one of the suites")
    parser.add_argument("--case", default="", help="run only the cases whose name holds this")
    parser.add_argument("--skip-install", action="store_true", help="the clients are installed")
    return parser.parse_args()


def build():
    """The debug binary, wherever cargo puts it."""
    subprocess.run(["cargo", "build", "--quiet", "--package", "posthaste"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return pathlib.Path(target) / "debug" / "posthaste"


def install(suites):
    if "python" in suites:
        subprocess.run([ROOT / "tests" / "venv", "clients"], check=True)
    if "node" in suites:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "ci", *quiet], cwd=HERE / "node", check=True)


def command(suite):
    if suite == "python":
        return [VENV / "bin" / "python", HERE / "python" / "suite.py"]
    return ["node", HERE / "node" / "suite.mjs"]


def run(suite, host, case):
    """Runs one suite and counts its `ok` and `FAIL` lines; an early end is a failure too."""
    where = ["--api", host.api, "--mailbox", host.mailbox, "--key", host.key, "--case", case]
    if suite == "python":
        where += ["--smtp", ":".join(map(str, host.smtp))]
    child = subprocess.Popen([*command(suite), *where], stdout=subprocess.PIPE, text=True)
    passed = failed = 0
    ended = False
    for line in child.stdout:
        print(f"{suite}: {line}", end="", flush=True)
        passed += line.startswith("ok ")
        failed += line.startswith("FAIL ")
        ended = ended or line.startswith("end ")
    if child.wait() != 0 and failed == 0 or not ended:
        print(f"{suite}: FAIL the suite ended early with code {child.returncode}")
        failed += 1
    return passed, failed


def main():
    options = arguments()
    suites = [options.only] if options.only else ["node", "python"]
    if not options.skip_install:
        install(suites)
    try:
        host = Host(options.binary or build())
    except NotStarted as why:
        print(why)
        print("clients: 0 passed, 1 failed")
        return 1
    passed = failed = 0
    try:
        for suite in suites:
            good, bad = run(suite, host, options.case)
            passed, failed = passed + good, failed + bad
    finally:
        code = host.stop()
    if code != 0:
        print(f"FAIL the host did not stop cleanly (exit code {code}):\n{host.said[-3000:]}")
        failed += 1
    print(f"clients: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
