#!/usr/bin/env python3
"""How tests/run counts its steps: `python tests/tools/test_steps.py`."""

import pathlib
import subprocess
import unittest

STEPS = pathlib.Path(__file__).resolve().parent / "steps"


def run(*lines):
    """The exit code and the lines after the seconds of a run of these steps."""
    script = "\n".join(["set -uo pipefail", f'. "{STEPS}"', *lines, "finish"])
    child = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert not child.stderr, child.stderr
    said = child.stdout.splitlines()
    ends = said[said.index("seconds of each step:") :]
    return child.returncode, [line for line in ends[1:] if not line.startswith(" ")]


class Counting(unittest.TestCase):
    def test_a_step_that_lacks_what_it_needs_is_skipped_and_never_passed(self):
        lacks = 'step_or_skip lacks bash -c "exit 3"'
        self.assertEqual(run(lacks), (0, ["skipped: lacks", "steps: 0 passed, 0 failed, 1 skipped"]))
        wanted = ["skipped: lacks", "steps: 1 passed, 0 failed, 1 skipped"]
        self.assertEqual(run("step_or_skip runs true", lacks), (0, wanted))

    def test_every_other_code_is_a_failure(self):
        wanted = ["failed: a", "failed: b", "failed: c", "steps: 0 passed, 3 failed"]
        steps = ['step_or_skip a bash -c "exit 1"', "step_or_skip b /no/such/program 2>/dev/null"]
        self.assertEqual(run(*steps, 'step c bash -c "exit 3"'), (1, wanted))

    def test_what_must_pass_ends_the_run(self):
        wanted = ["failed: lints", "steps: 1 passed, 1 failed"]
        self.assertEqual(run("must format true", "must lints false", "step never true"), (1, wanted))


if __name__ == "__main__":
    unittest.main()
