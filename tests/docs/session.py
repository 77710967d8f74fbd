"""A shell that runs the blocks of one page one after another, as a reader pastes them."""

import os
import pathlib
import queue
import re
import signal
import subprocess
import threading
import time

# After its end a block's program may still print: a receiver in the background, for one. Blocks that install
# packages, or build with them, take minutes.
PATIENCE = 600


class Failed(Exception):
    """A block did not do what the page says."""


class Shell:
    """One bash for a page: variables and functions of a block are there in the next."""

    def __init__(self, folder, environment):
        self.scratch = pathlib.Path(folder)
        self.process = subprocess.Popen(
            ["bash", "--norc", "-eu", "-o", "pipefail"], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )
        self.lines = queue.Queue()
        self.ended = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, text):
        """Runs a block to its end; what was printed meanwhile."""
        self.ended += 1
        file = self.scratch / f".block-{self.ended}.sh"
        file.write_text(text, encoding="utf-8")
        end = f"@@ end of block {self.ended}"
        self.process.stdin.write(f". ./{file.name} </dev/null\necho '{end}'\n")
        self.process.stdin.flush()
        return self.until(lambda seen: end in seen, "the block does not end").replace(end + "\n", "")

    def until(self, enough, why, seen=""):
        """Reads what is printed until that is enough; all of it, after `seen`."""
        deadline = time.monotonic() + PATIENCE
        while not enough(seen):
            line = self.next_line()
            if line is None and self.process.poll() is not None and self.lines.empty():
                raise Failed(f"exit code {self.process.returncode}; printed:\n{seen}")
            if time.monotonic() > deadline:
                raise Failed(f"{why}; printed so far:\n{seen}")
            seen += line or ""
        return seen

    def next_line(self):
        """The next line that is printed; None at the end, and when there is none for a moment: the end of the
        shell does not show while a program in the background holds its output."""
        try:
            return self.lines.get(timeout=0.2)
        except queue.Empty:
            return None

    def close(self):
        """Ends the shell with everything that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


def shows(printed, expected):
    """Whether each line of `expected` is in what was printed, in order; `…` stands for anything."""
    at = 0
    printed = printed.splitlines()
    for line in expected.strip().splitlines():
        pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
        at = next((i + 1 for i in range(at, len(printed)) if re.search(pattern, printed[i])), None)
        if at is None:
            return False
    return True
