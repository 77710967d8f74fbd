#!/usr/bin/env python3
"""Builds every test of the workspace and runs the programs of it, two at a time, the long ones first. `cargo test` runs
one program after another, so that a core idles while the last long test of each is on.

    tests/tools/rust_tests.py           all of them, then the examples of the documentation
    tests/tools/rust_tests.py --times   prints also the seconds and CPU seconds of the ten longest

The output of a program is printed when it ends. The exit code is 1 if one of them failed.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).parents[2]
AT_A_TIME = 2
# Those that take longest, in this order; the others follow.
FIRST = ("posthaste-hostile", "posthaste-tests", "mail-send", "posthaste-store", "account-settings", "delivery")


def programs(messages):
    """The test programs among cargo's messages: name of the package, path, and folder of the package."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            package = message["package_id"].rpartition("#")[2].partition("@")[0]
            package = folder.name if package[:1].isdigit() else package
            yield package, message["executable"], folder


def ordered(found):
    def place(program):
        package, path, _ = program
        names = [at for at, name in enumerate(FIRST) if package == name]
        return (names or [len(FIRST)])[0], -os.path.getsize(path), path

    return sorted(found, key=place)


def has_examples(folder):
    sources = (path.read_text(encoding="utf-8") for path in (folder / "src").rglob("*.rs"))
    return any(f"{mark} ```" in text for text in sources for mark in ("///", "//!"))


class Runner:
    def __init__(self, waiting):
        self.waiting = list(waiting)
        self.lock = threading.Lock()
        self.failed = []
        self.times = []

    def work(self):
        while True:
            with self.lock:
                if not self.waiting:
                    return
                package, path, folder = self.waiting.pop(0)
            began = time.monotonic()
            environment = dict(os.environ, CARGO_MANIFEST_DIR=str(folder))
            done = subprocess.run([path], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            seconds = time.monotonic() - began
            name = f"{package}: {pathlib.Path(path).name.rpartition('-')[0]}"
            with self.lock:
                self.times.append((seconds, name))
                print(f"\n     Running {name}, {seconds:.1f} s", flush=True)
                sys.stdout.buffer.write(done.stdout)
                sys.stdout.buffer.flush()
                if done.returncode != 0:
                    self.failed.append(f"{name} (exit code {done.returncode})")

    def run(self):
        threads = [threading.Thread(target=self.work) for _ in range(AT_A_TIME)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def main():
    cargo = ["cargo", "test", "--workspace", "--locked"]
    build = [*cargo, "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        return built.returncode
    found = list(programs(built.stdout))
    packages = {(package, folder) for package, _, folder in found}
    runner = Runner(ordered(found))
    count = len(runner.waiting)
    began = time.monotonic()
    runner.run()
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # For a package without examples, rustdoc takes seconds to find that out.
    chosen = [f"--package={package}" for package, folder in sorted(packages) if has_examples(folder)]
    # The features that cargo builds with are those of the packages named: with the one that depends on all, they are
    # those of the build above.
    examples = ["cargo", "test", "--locked", "--doc", "--no-fail-fast", "--package=posthaste-tests", *chosen]
    documented = subprocess.run(examples, cwd=ROOT)
    if documented.returncode != 0 or not chosen:
        runner.failed.append("examples of the documentation")
    if "--times" in sys.argv:
        for each, name in sorted(runner.times, reverse=True)[:10]:
            print(f"{each:7.1f} s  {name}")
        print(f"CPU seconds with the build: {used.ru_utime + used.ru_stime:.0f}")
    print(f"test programs: {count} in {seconds:.0f} s, {len(runner.failed)} failed")
    for name in runner.failed:
        print(f"failed: {name}")
    return 1 if runner.failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
