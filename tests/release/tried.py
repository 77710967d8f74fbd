#!/usr/bin/env python3
"""Tries what infra/release/make made, each piece in an empty folder as its user installs it: it prints its version,
starts, answers `posthaste health`, and a mail that is sent to it is in its mailbox.

    tried.py FOLDER     with the archive, the Debian package, the wheel and the npm packages

As root on Debian the package is also installed, upgraded and removed in a root of its own, made by debootstrap, and
the system calls of the service are compared with those that its unit allows.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile

from attempt import ROOT, VERSION, check, one, run, target, works
from debian import package


def archive(out, scratch):
    path = one(out, "posthaste-*-*.tar.gz")
    name = path.name.removesuffix(".tar.gz")
    run("tar", "xzf", path, "-C", scratch)
    listed = {str(entry.relative_to(scratch / name)) for entry in (scratch / name).rglob("*") if entry.is_file()}
    for wanted in ["posthaste", "LICENSE-MIT", "NOTICE", "THIRD-PARTY-LICENCES.txt", "posthaste.1", "posthaste.service"]:
        check(wanted in listed, f"{path.name} lacks {wanted}")
    works(scratch / name / "posthaste")


def checksums(out, _):
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=out)
    named = {line.split("  ")[1] for line in (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    there = {path.name for path in out.iterdir()} - {"SHA256SUMS"}
    check(named == there, f"SHA256SUMS names {named}, there are {there}")


def stack(out, scratch):
    """What the template names is there, each a zip with a program that Lambda starts."""
    found = list(out.glob("posthaste_stack-*.tar.gz"))
    if not found:
        print("   the functions of a stack were not made")
        return
    path = one(out, "posthaste_stack-*.tar.gz")
    run("tar", "xzf", path, "-C", scratch)
    folder = scratch / path.name.removesuffix(".tar.gz")
    template = (folder / "template.yaml").read_text(encoding="utf-8")
    check("BuildMethod" not in template, f"{path.name} would be built again")
    named = set(re.findall(r"^      CodeUri: (\S+)$", template, re.MULTILINE))
    there = {str(one.relative_to(folder)) for one in folder.glob("functions/*")}
    check(named == there and len(named) > 15, f"{path.name}: the template names {named}, there are {there}")
    for name in sorted(named):
        with zipfile.ZipFile(folder / name) as package:
            [entry] = package.infolist()
            is_program = entry.filename == "bootstrap" and entry.external_attr >> 16 & 0o111
            check(is_program and package.read(entry)[:4] == b"\x7fELF", f"{name} holds no program")
    for wanted in ["LICENSE-MIT", "NOTICE", "THIRD-PARTY-LICENCES.txt"]:
        check((folder / wanted).is_file(), f"{path.name} lacks {wanted}")
    print(f"   {len(named)} functions")


def wheel(out, scratch):
    path = one(out, "*.whl")
    tag = path.stem.split("-")[-1]
    check(tag.startswith("manylinux_"), f"{path.name} is for {tag}, which no registry accepts")
    run(sys.executable, "-m", "venv", scratch / "venv")
    run(scratch / "venv/bin/pip", "install", "--quiet", "--no-index", path)
    check("THIRD-PARTY-LICENCES.txt" in run(sys.executable, "-m", "zipfile", "--list", path), f"{path.name} lacks the licences")
    works(scratch / "venv/bin/posthaste")
    run(scratch / "venv/bin/pip", "uninstall", "--quiet", "--yes", "posthaste-server")
    check(not (scratch / "venv/bin/posthaste").exists(), "pip leaves the binary behind")


def npm(out, scratch):
    packages = [one(out, "posthaste-server-[0-9]*.tgz"), one(out, "posthaste-server-[a-z]*.tgz")]
    run("npm", "install", "--offline", "--no-audit", "--no-fund", *packages, cwd=scratch)
    said = run("npx", "--offline", "posthaste", "--version", cwd=scratch)
    check(said == f"posthaste {VERSION}\n", f"npx posthaste --version prints {said!r}")
    works(scratch / "node_modules/.bin/posthaste")


def binstall(out, scratch):
    """cargo binstall finds the archive by the metadata, from a server on this machine."""
    tool = shutil.which("cargo-binstall") or str(pathlib.Path(target(), "tools/cargo-binstall/bin/cargo-binstall"))
    if not os.access(tool, os.X_OK):
        print("   cargo-binstall is not there: its metadata was only compared with the archive's name")
        return
    path = one(out, "posthaste-*-*.tar.gz")
    (scratch / "releases/download" / f"v{VERSION}").mkdir(parents=True)
    shutil.copy(path, scratch / "releases/download" / f"v{VERSION}")
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", scratch],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        port = re.search(r"port (\d+)", server.stdout.readline()).group(1)
        manifest = tomllib.loads((ROOT / "infra/local/Cargo.toml").read_text(encoding="utf-8"))
        url = manifest["package"]["metadata"]["binstall"]["pkg-url"].replace("{ repo }", f"http://127.0.0.1:{port}")
        run(tool, "--no-confirm", "--no-track", "--no-symlinks", "--disable-telemetry", "--strategies", "crate-meta-data",
            "--manifest-path", ROOT / "infra/local", "--pkg-url", url, "--install-path", scratch / "bin", "posthaste")
    finally:
        server.kill()
        server.communicate()
    works(scratch / "bin/posthaste")


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    for attempt in [checksums, archive, stack, wheel, npm, binstall, package]:
        with tempfile.TemporaryDirectory(prefix="posthaste-tried-") as scratch:
            print(f"-- {attempt.__name__}", flush=True)
            attempt(out, pathlib.Path(scratch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
