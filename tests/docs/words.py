"""Checks every page that git tracks: the words, the links, the marks of its blocks, and the README's length. Of the
template and of the sources only the words: those of comments and of texts."""

import pathlib
import re
import subprocess
import sys

import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
README_LINES = 150

# The words of this project's past, and those that name a person where a component acts. The right side says
# what to write.
BANNED = {
    r"contracts?": "the v3 API, or SendGrid",
    r"the original": "SendGrid",
    r"packed|unpacked": "compressed, decompressed",
    r"later sends?": "scheduled mail",
    r"proven senders?": "verified sender",
    r"switche[sd] off|switch it off": "suspended, disabled",
    r"every other day": "day-to-day operation",
    r"but for": "except",
    r"none of ours": "not ours",
    r"again and again": "repeatedly",
    r"for want of": "because … is missing",
    r"learnt": "recorded",
    r"whoever|nobody|somebody|everybody|himself|herself": "name the component or the role",
    r"he|his|him": "name the component or the role",
    r"told": "reported",
    r"otherwise than": "unlike",
    r"hears? (?:of|late|nothing)": "receives",
    r"tells? (?:of|nobody)": "reports",
}
# What a page for operators has to have.
HEADINGS = {
    "infra/README.md": [
        "1. Tools", "2. What takes days", "3. Deploy", "4. Where it is", "5. The first account and its key",
        "6. The first domain", "7. Look before the first mail", "8. Names for the API and for tracking", "9. Receiving",
        "10. Alarms", "The first ninety days", "What only an account can show",
    ],
    "infra/OPERATIONS.md": [
        "Alarms", "Day-to-day operation", "Quotas", "A budget and cost anomalies", 'Reputation and "under review"',
        "Gradual deployment and rollback", "Backups outside of the account", "What stays after an erasure",
        "A second region", "Draining", "Certificates",
    ],
}
# GitHub shows these as they were written then.
HISTORY = {"CHANGELOG.md"}
# A comment, or a text in one of the forms that Rust has; a character, so that a quotation mark begins no text.
SOURCE = re.compile(r"""//[^\n]*|r(#+)".*?"\1|"(?:[^"\\]|\\.)*"|'(?:\\.|[^\\'\n])'""", re.DOTALL)
# Words of mail servers, looked for in what they write.
DATA = "shared/mime/src/report/phrases/"


def pages():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    return [ROOT / name for name in sorted(listed.stdout.split("\0")) if name and (ROOT / name).exists()]


def sources():
    """The sources of the service, without those of tests."""
    listed = subprocess.run(["git", "ls-files", "-z", "*/src/*.rs"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in sorted(listed.stdout.split("\0")):
        is_test = "/tests/" in name or name.endswith("tests.rs") or name.startswith("shared/testkit/")
        if name and not is_test and not name.startswith(DATA) and (ROOT / name).exists():
            yield ROOT / name


def source_prose(text):
    """What a source says in comments and in texts of more than one word, each on its line."""
    text = text.split("#[cfg(test)]\nmod tests {")[0]
    lines = [""] * (text.count("\n") + 1)
    for found in SOURCE.finditer(text):
        said = found.group()
        if said.startswith("//") or " " in said:
            first = text.count("\n", 0, found.start())
            for number, line in enumerate(said.split("\n"), first):
                lines[number] += " " + re.sub(r"^//[/!]?|\\$", "", line)
    return "\n".join(lines)


def wrong_words(text):
    """The banned words in a page's prose, also over the end of a line: line, word, and what to write."""
    numbers, lines = zip(*page.prose(text), strict=True) if text.strip() else ((), ())
    whole = "\n".join(lines)
    for pattern, better in BANNED.items():
        pattern = rf"\b(?:{pattern})\b".replace(" ", r"\s+")
        for found in re.finditer(pattern, whole, re.IGNORECASE):
            yield numbers[whole.count("\n", 0, found.start())], " ".join(found.group().split()), better


def dead_links(path, text):
    """The links of a page that lead nowhere in the repository."""
    for number, target in page.links(text):
        name, _, anchor = target.partition("#")
        to = (path.parent / name).resolve() if name else path
        if not to.exists():
            yield number, target
        elif anchor and to.suffix == ".md" and anchor not in page.anchors(to.read_text(encoding="utf-8")):
            yield number, target


def section(text, heading):
    """What stands below a heading, up to the next of its level or above."""
    level = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    rest = text[level.end():]
    end = re.search(rf"^#{{1,{len(level.group(1))}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def wrong_paths(text, template):
    """Paths of the template that the page of the API does not list as served, or lists as not served."""
    routes = set(re.findall(r"^ {10}(/[^$\s]\S*):$", template, re.MULTILINE))
    spans = lambda heading: set(re.findall(r"`(/[\w/.]+)`", section(text, heading)))
    served, missing = spans("What is served"), spans("What is not served")
    within = lambda route, paths: any(route == path or route.startswith(f"{path}/") for path in paths)
    yield from (f"does not list {route}" for route in sorted(routes) if not within(route, served - missing))
    yield from (f"says that {path} is not served" for path in sorted(missing) if any(within(one, {path}) for one in routes))


def unexplained(text, template):
    """Alarms of the template that the page for operators does not name."""
    alarms = set(re.findall(r"^  (\w+Alarm):$", template, re.MULTILINE))
    named = set(re.findall(r"\w+Alarm", text))
    yield from sorted(alarm for alarm in alarms - named if not alarm.endswith("DeadLettersAlarm"))


def faults(path):
    """What is wrong with one page, one text each. Of the template and of sources only the words are looked at."""
    text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
    if path.suffix == ".rs":
        text = source_prose(text)
    if path.suffix in (".yaml", ".rs"):
        yield from (f"{name}:{line}: {word!r}; write: {better}" for line, word, better in wrong_words(text))
        return
    try:
        page.blocks(text)
    except page.Broken as broken:
        yield f"{name}: {broken}"
    for number, target in dead_links(path, text):
        yield f"{name}:{number}: {target} leads nowhere"
    if name.name not in HISTORY:
        for number, word, better in wrong_words(text):
            yield f"{name}:{number}: {word!r}; write: {better}"
    if str(name) == "functions/README.md":
        template = (ROOT / "template.yaml").read_text(encoding="utf-8")
        yield from (f"{name}: {fault}" for fault in wrong_paths(text, template))
    if str(name) == "infra/OPERATIONS.md":
        template = (ROOT / "template.yaml").read_text(encoding="utf-8")
        yield from (f"{name}: says nothing about {alarm}" for alarm in unexplained(text, template))
    for heading in HEADINGS.get(str(name), []):
        if not re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE):
            yield f"{name}: has no heading {heading!r}"
    if str(name) == "README.md" and (lines := len(text.splitlines())) > README_LINES:
        yield f"README.md: {lines} lines; the limit is {README_LINES}"


def main():
    listed, code = [*pages(), ROOT / "template.yaml"], list(sources())
    found = [fault for path in [*listed, *code] for fault in faults(path)]
    for fault in found:
        print(fault)
    print(f"pages: {len(listed)}, sources: {len(code)}, faults: {len(found)}")
    return 1 if found or not listed or not code else 0


if __name__ == "__main__":
    sys.exit(main())
