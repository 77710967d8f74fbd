#!/usr/bin/env python3
"""Runs the fenced blocks of the pages in a clean clone, as a reader pastes them.

The clone is a copy of the files that git tracks, with their times, and shares the target folder, so that cargo
builds nothing twice. The word after a block's language says what becomes of it:

    run           it ends with exit code 0; with needs=PROGRAM it is left out where that is missing, and counted
    save=FILE     it is saved under that name, for the blocks after it, and read as with parse
    host          `cargo run`: the service that the page's other blocks call
    parse         bash, node or Python can read it; of other languages nothing is asked
    install       as parse; with --install it is run. Otherwise the packages that tests/docs pins take its place
    workflow=FILE it is saved under that name and held to GitHub's schema of workflows
    steps         the steps of the workflow that it names are run as shell, beside the page's service
    output        the lines that the block before it prints, in this order; … stands for anything

A page with `<!-- host: cargo run -->` has a service from the start, and its API key in KEY. The README's blocks
run in the root of the clone, those of other pages in an empty folder. A page with `<!-- only: --install -->` takes too
long or too much for every run: without --install its blocks are read and not run. The ports 3000, 8025, 2525, 1587 and 9000
become free ones.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import page
import workflow
from service import Service, free_ports, moved
from session import Failed, Shell, shows
from words import ROOT, pages

MODULES = ROOT / "tests" / "docs" / "node_modules"
VENV = ROOT / "tests" / ".venv" / "docs"


def clone(to):
    """Copies what git tracks, as it is in the working tree: on a clean checkout, what a clone has."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def parsed(block):
    """Reads a block without running it."""
    is_module = block.options.get("save", "").endswith(".mjs")
    kind = ["--input-type=module"] if is_module else []
    commands = {"sh": ["bash", "-n"], "js": ["node", *kind, "--check", "-"]}
    if block.language == "python":
        try:
            compile(block.text, "block", "exec")
        except SyntaxError as error:
            raise Failed(str(error)) from None
    elif block.language == "json":
        try:
            json.loads(block.text)
        except ValueError as error:
            raise Failed(str(error)) from None
    elif block.language in commands:
        done = subprocess.run(commands[block.language], input=block.text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(done.stderr)


class Visit:
    """One page, read from top to bottom."""

    def __init__(self, path, copy, options):
        self.path, self.copy, self.options = path, copy, options
        self.text = path.read_text(encoding="utf-8")
        self.ports = free_ports()
        self.service = self.shell = None
        self.printed = ""
        self.counts = {}
        self.is_only_read = page.is_long(self.text) and not options.install

    def environment(self):
        """The reader's: the packages of the pages, and the target folder of the clone's origin."""
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        found = os.environ | {"CARGO_TARGET_DIR": target, "HOME": str(self.folder), "NODE_PATH": str(MODULES)}
        installed = pathlib.Path(self.options.binary or f"{target}/debug/posthaste").parent
        found["PATH"] = f"{VENV / 'bin'}:{installed}:{found['PATH']}"
        found.pop("KEY", None)
        return found

    def start(self, command):
        os.environ["CARGO_TARGET_DIR"] = self.environment()["CARGO_TARGET_DIR"]
        self.service = Service(command.split("#")[0].strip(), self.copy, self.ports, self.options.binary)

    def read(self):
        is_readme = self.path == ROOT / "README.md"
        with tempfile.TemporaryDirectory(prefix="posthaste-page-") as scratch:
            self.folder = self.copy if is_readme else pathlib.Path(scratch)
            if not is_readme and not self.options.install:
                (self.folder / "node_modules").symlink_to(MODULES)
            try:
                if self.is_only_read:
                    for block in page.blocks(self.text):
                        self.take(block)
                    return
                if command := page.host_of(self.text):
                    self.start(command)
                self.shell = Shell(self.folder, self.environment())
                if self.service:
                    self.shell.run(f"export KEY=$(cat {self.service.data}/api-key)")
                for block in page.blocks(self.text):
                    self.take(block)
            finally:
                if self.shell:
                    self.shell.close()
                if self.service:
                    self.service.stop()

    def take(self, block):
        mark, needs = block.mark, block.options.get("needs")
        if not mark:
            return
        is_run = mark in ("run", "steps", "output")
        if needs and not shutil.which(needs) or is_run and self.is_only_read:
            mark = "skipped"
        try:
            self.act(mark, block)
        except Failed as failure:
            raise Failed(f"{self.path.relative_to(ROOT)}:{block.line}: {failure}") from None
        self.counts[mark] = self.counts.get(mark, 0) + 1

    def act(self, mark, block):
        text = moved(block.text, self.ports)
        if mark == "host":
            self.start(block.text.splitlines()[0])
        elif mark in ("save", "workflow"):
            parsed(block)
            file = self.folder / block.options[mark]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if mark == "workflow":
                workflow.check(file, VENV)
        elif mark == "steps":
            self.printed = self.shell.run(workflow.shell(self.folder / text.strip(), VENV))
        elif mark == "run" or mark == "install" and self.options.install:
            self.printed = self.shell.run(text)
        elif mark == "output":
            want = "the page shows lines that are not printed"
            self.printed = self.shell.until(lambda seen: shows(seen, text), want, self.printed)
        elif mark != "skipped":
            parsed(block)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="the service to start in place of cargo run")
    parser.add_argument("--install", action="store_true", help="run the blocks that install packages too")
    parser.add_argument("pages", nargs="*", help="only these, by their paths")
    options = parser.parse_args()
    if options.binary:
        options.binary = str(pathlib.Path(options.binary).resolve())
    chosen = [pathlib.Path(name).resolve() for name in options.pages] or pages()
    failed, totals = 0, {}
    with tempfile.TemporaryDirectory(prefix="posthaste-clone-") as copy:
        copy = pathlib.Path(copy)
        clone(copy)
        for path in chosen:
            visit = Visit(path, copy, options)
            try:
                visit.read()
            except (Failed, page.Broken) as failure:
                failed += 1
                print(f"FAILED {failure}")
            for mark, count in visit.counts.items():
                totals[mark] = totals.get(mark, 0) + count
    counted = ", ".join(f"{count} {mark}" for mark, count in sorted(totals.items()))
    print(f"pages: {len(chosen)}, blocks: {counted}; failed: {failed}")
    return 1 if failed or not totals.get("run") else 0


if __name__ == "__main__":
    sys.exit(main())
