"""Reads the pages of the project: fenced blocks with their marks, links, headings and prose."""

import dataclasses
import re

# Languages whose blocks have to be marked. Other fences (text, mermaid, none) are shown and not tried.
PROGRAMS = {"sh", "js", "python", "json", "go", "php", "ruby", "java", "csharp", "ini", "yaml"}
# What a mark may say. `needs=PROGRAM` may follow `run`.
MARKS = {"run", "parse", "install", "host", "save", "output", "workflow", "steps"}


@dataclasses.dataclass
class Block:
    """A fenced block: ```` ```LANGUAGE MARK [needs=PROGRAM] ````."""

    line: int
    """Of the fence, counted from 1."""
    language: str
    mark: str
    """One of MARKS, or empty."""
    options: dict
    text: str


class Broken(Exception):
    """A page that cannot be read as one."""


def blocks(text):
    """The fenced blocks of a page, in order."""
    found, fence, start = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if fence is None and stripped.startswith("```"):
            fence, start = line[: len(line) - len(line.lstrip())], number
            info, body = stripped[3:].split(), []
        elif fence is not None and stripped == "```":
            found.append(block(start, info, "\n".join(body) + "\n"))
            fence = None
        elif fence is not None:
            body.append(line.removeprefix(fence))
    if fence is not None:
        raise Broken(f"line {start}: the block has no end")
    return found


def block(line, info, text):
    """The block of one fence, whose info string is `info`."""
    language = info[0] if info else ""
    options = dict(word.partition("=")[::2] for word in info[1:])
    marks = [word for word in options if word in MARKS]
    unknown = set(options) - MARKS - {"needs"}
    if unknown or len(marks) > 1:
        raise Broken(f"line {line}: unknown mark {' '.join(info)}")
    if language in PROGRAMS and not marks:
        raise Broken(f"line {line}: a block of {language} is marked run, parse, install, host, save=FILE, workflow=FILE or steps")
    return Block(line, language, marks[0] if marks else "", options, text)


def host_of(text):
    """The command in `<!-- host: COMMAND -->`, with which a page asks for a running service; or None."""
    found = re.search(r"^<!-- host: (.+) -->$", text, re.MULTILINE)
    return found.group(1) if found else None


def is_long(text):
    """Whether a page says that its blocks run only where --install is given."""
    return re.search(r"^<!-- only: --install -->$", text, re.MULTILINE) is not None


def prose(text):
    """The page without its fenced blocks and code spans, with the number of each line."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, re.sub(r"`[^`]*`", "`", line)


def anchors(text):
    """What `#…` may name in a page: its headings as GitHub spells them, and the ids of `<a>`."""
    found = set(re.findall(r'<a id="([^"]+)">', text))
    inside = False
    for line in text.splitlines():
        if line.strip().startswith("```"):
            inside = not inside
        heading = None if inside else re.match(r"#+ (.*)", line)
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
            found.add(words.strip().replace(" ", "-"))
    return found


def links(text):
    """The targets of a page's links and pictures that are no URLs, with their lines."""
    for number, line in prose(text):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if not re.match(r"[a-z]+:", target):
                yield number, target
