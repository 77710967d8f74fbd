"""Tests of the programs that make a release."""

import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "infra" / "release"
sys.path.insert(0, str(RELEASE))

import npm
import versions

CHANGES = "# Changelog\n\n## [Unreleased]\n\n{waiting}## [0.2.0] - 2026-12-01\n\n- x\n\n## [0.1.0] - 2026-11-28\n\n- y\n"


def faults(version="0.2.0", locked=None, waiting="", changes=CHANGES, readme="version 0.2, alpha", tags=(), tagged=False):
    return list(versions.faults(
        version, locked or {"posthaste": version}, changes.format(waiting=waiting), readme, tags, tagged
    ))


class Versions(unittest.TestCase):
    def test_between_releases_changes_may_wait(self):
        self.assertEqual(faults(), [])
        self.assertEqual(faults(waiting="- z\n\n"), [])
        self.assertEqual(faults(version="0.2.1", waiting="- z\n\n"), [])
        self.assertEqual(faults(tags=["v0.2.0"]), [])

    def test_what_does_not_agree_is_named(self):
        for wrong, words in [
            ({"version": "0.2.0-dev"}, "three numbers"),
            ({"version": "0.1.0", "readme": "version 0.1"}, "older than 0.2.0"),
            ({"locked": {"posthaste": "0.2.0", "delivery": "0.1.0"}}, "delivery is 0.1.0"),
            ({"readme": "version 0.1"}, "README.md"),
            ({"readme": "version 0.20"}, "README.md"),
            ({"tags": ["v0.1.0"]}, "the tag v0.1.0"),
            ({"changes": "# Changelog\n"}, "no heading"),
            ({"changes": CHANGES.replace("0.1.0", "0.3.0")}, "not first"),
            ({"changes": CHANGES.replace("0.1.0", "0.2.0")}, "there twice"),
        ]:
            with self.subTest(words):
                [fault] = faults(**wrong)
                self.assertIn(words, fault)

    def test_ten_is_newer_than_nine(self):
        changes = CHANGES.replace("0.2.0", "0.10.0").replace("0.1.0", "0.9.0")
        self.assertEqual(faults(version="0.10.0", changes=changes, readme="version 0.10"), [])

    def test_a_release_has_its_tag_its_heading_and_nothing_that_waits(self):
        self.assertEqual(faults(tags=["v0.2.0"], tagged=True), [])
        self.assertEqual(len(faults(tagged=True)), 1)
        self.assertEqual(len(faults(tags=["v0.2.0"], waiting="- z\n\n", tagged=True)), 1)
        [fault] = faults(version="0.2.1", tags=["v0.2.1"], tagged=True)
        self.assertIn("no heading of 0.2.1", fault)


class Archive(unittest.TestCase):
    def packed(self, folder, name):
        command = [RELEASE / "archive.py", folder / "posthaste", folder / name, "1700000000"]
        subprocess.run(command, check=True)
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    def test_the_same_files_make_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "posthaste" / "completions").mkdir(parents=True)
            for name in ["b", "completions/a", "a"]:
                (folder / "posthaste" / name).write_text(name)
            (folder / "posthaste" / "b").chmod(0o700)
            first = self.packed(folder, "first.tar.gz")
            os.utime(folder / "posthaste" / "a", (1, 1))
            (folder / "posthaste" / "a").chmod(0o600)
            self.assertEqual(self.packed(folder, "second.tar.gz"), first)
            listed = subprocess.run(
                ["tar", "tvzf", folder / "first.tar.gz"], check=True, capture_output=True, text=True
            ).stdout
            modes = [(line.split()[0], line.split()[1], line.split()[-1]) for line in listed.splitlines()]
            self.assertEqual(modes, [
                ("drwxr-xr-x", "root/root", "posthaste/"), ("-rw-r--r--", "root/root", "posthaste/a"),
                ("-rwxr-xr-x", "root/root", "posthaste/b"), ("drwxr-xr-x", "root/root", "posthaste/completions/"),
                ("-rw-r--r--", "root/root", "posthaste/completions/a"),
            ])
            (folder / "posthaste" / "a").write_text("other")
            self.assertNotEqual(self.packed(folder, "third.tar.gz"), first)


class Wrapper(unittest.TestCase):
    """The npm package that runs the binary of another one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        modules = self.folder / "node_modules"
        self.script = modules / npm.NAME / "bin" / "posthaste.js"
        self.script.parent.mkdir(parents=True)
        self.script.write_bytes((RELEASE / "npm" / "posthaste.js").read_bytes())
        self.binary = modules / npm.carrier(npm.platform(), "1.0.0")["name"] / "bin" / "posthaste"

    def carried(self, text):
        self.binary.parent.mkdir(parents=True)
        self.binary.write_text(f"#!/bin/sh\n{text}\n")
        self.binary.chmod(0o755)

    def started(self, *words):
        return subprocess.Popen(
            ["node", self.script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def test_words_output_and_exit_code_pass(self):
        self.carried('printf "<%s>" "$@"; echo wrong >&2; exit 7')
        wrapper = self.started("account", "a b", "")
        self.assertEqual(wrapper.communicate(), ("<account><a b><>", "wrong\n"))
        self.assertEqual(wrapper.returncode, 7)

    def test_a_signal_reaches_the_binary_and_its_end_is_that_of_the_wrapper(self):
        stop = 'process.on("SIGTERM", () => { console.log("stopped"); process.exit(0); });'
        self.carried(f"exec node -e '{stop} console.log(\"ready\"); setInterval(() => {{}}, 1e6);'")
        wrapper = subprocess.Popen(
            ["node", self.script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.assertEqual(wrapper.stdout.readline(), "ready\n")
        wrapper.send_signal(signal.SIGTERM)
        self.assertEqual(wrapper.communicate()[0], "stopped\n")
        self.assertEqual(wrapper.returncode, 0)

    def test_a_binary_that_a_signal_ends_ends_the_wrapper_by_it(self):
        self.carried("kill -KILL $$")
        wrapper = self.started()
        wrapper.communicate()
        self.assertEqual(wrapper.returncode, -signal.SIGKILL)

    def test_a_platform_without_a_package_is_said(self):
        wrapper = self.started("--version")
        _, said = wrapper.communicate()
        self.assertEqual(wrapper.returncode, 1)
        self.assertIn(self.binary.parts[-3], said)


if __name__ == "__main__":
    unittest.main()
