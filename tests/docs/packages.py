"""The system packages that the suites install, as their sources ask `tests/debian` for them, and as CONTRIBUTING.md lists
them."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# A shell's call, and a Python program's: the second argument and those after it are packages.
SHELL = re.compile(r"tests/debian \S+((?: [a-z0-9][a-z0-9.+-]*)+)(?=;|$| \|\|)", re.MULTILINE)
CALL = re.compile(r"debian(?:\(|\", )\"[^\"]+\"((?:, \"[^\"]+\")+)[^\n]*$|debian\(f\"[^\"]+\"((?:, \"[^\"]+\")+)\)", re.MULTILINE)
# Lists that are handed to such a call: of packages, or of what to look for and its package.
LIST = re.compile(r"^ *(?:packages|WANTED) = \[([^\[\]]*)\]$", re.MULTILINE)
PAIR = re.compile(r"\(\"[^\"]+\", (\"[^\"]+\")\)")


def asked_for():
    """Each package that some suite installs."""
    tracked = ["git", "ls-files", "-z", "tests", "infra/release"]
    listed = subprocess.run(tracked, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.suffix not in ("", ".py") or path.name.startswith("test_") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if "debian" not in text:
            continue
        for words in SHELL.findall(text):
            yield from words.split()
        for one, other in CALL.findall(text):
            yield from re.findall(r"\"([^\"]+)\"", one + other)
        for items in LIST.findall(text):
            yield from re.findall(r"\"([^\"]+)\"", " ".join(PAIR.findall(items)) or items)


def listed():
    """The packages in the table of CONTRIBUTING.md."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("### System packages")[1]
    rows = re.findall(r"^\| `.*?\| (.*) \|$", section, re.MULTILINE)
    return {name for row in rows for name in re.split(r"[,;] ", row)}
