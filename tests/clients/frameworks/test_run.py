#!/usr/bin/env python3
"""What counts as skipped and what as failed: `python tests/clients/frameworks/test_run.py`."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import run


def ending_with(code):
    """In place of subprocess.run: every program ends with this code after two lines."""

    def ended(command, check=False, **_):
        done = subprocess.CompletedProcess(command, code, stdout="", stderr="line one\nline two\n")
        if check:
            done.check_returncode()
        return done

    return ended


def outcome(name, *folders, code=None):
    """The exit code and the lines of a run of one part. With `code`, every program that it starts ends with that;
    with `folders`, its programs are looked for there only."""
    with contextlib.ExitStack() as stack:
        if code is not None:
            stack.enter_context(mock.patch("subprocess.run", ending_with(code)))
        stack.enter_context(mock.patch.dict(os.environ, {"PATH": os.pathsep.join(folders)} if folders else {}))
        stack.enter_context(mock.patch("sys.argv", ["run.py", "--binary", "/no/binary", "--only", name]))
        said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        return run.main(), said.getvalue().splitlines()


class Counting(unittest.TestCase):
    def test_a_missing_tool_chain_is_skipped_in_one_line_and_never_passed(self):
        with tempfile.TemporaryDirectory() as empty:
            code, said = outcome("inbound-mail-parser", empty)
        self.assertEqual(code, 3)
        self.assertEqual(said[0], "inbound-mail-parser: SKIPPED, node is not installed")
        self.assertEqual(said[1:], ["frameworks: 0 passed, 0 failed, 1 skipped"])
        for name in ("php-symfony-sendgrid-mailer", "ruby-actionmailbox"):
            code, said = outcome(name, code=3)
            wanted = [f"{name}: SKIPPED, line one line two", "frameworks: 0 passed, 0 failed, 1 skipped"]
            self.assertEqual((code, said), (3, wanted))

    def test_an_installation_that_fails_is_a_failure(self):
        for name in run.PARTS:
            code, said = outcome(name, code=1)
            self.assertEqual((code, said[-1]), (1, "frameworks: 0 passed, 1 failed, 0 skipped"), said)

    def test_a_package_that_the_release_does_not_have_is_missing_and_any_other_one_fails(self):
        for has_package, wanted in ((1, 3), (0, 100)):
            with tempfile.TemporaryDirectory() as folder:
                bodies = {
                    "id": "echo 0",
                    # The lists are updated; nothing can be installed.
                    "apt-get": '[ "$1" = update ] || exit 100',
                    "apt-cache": f"exit {has_package}",
                }
                for name, body in bodies.items():
                    program = pathlib.Path(folder) / name
                    program.write_text(f"#!/bin/bash\n{body}\n")
                    program.chmod(0o755)
                env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
                command = [run.ROOT / "tests" / "debian", "no-such-program", "no-such-package"]
                ended = subprocess.run(command, env=env, capture_output=True, text=True)
            self.assertEqual(ended.returncode, wanted, ended.stderr)


if __name__ == "__main__":
    unittest.main()
