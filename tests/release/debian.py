"""The Debian package, unpacked, traced, and installed in a root of its own."""

import os
import re
import shutil
import stat

from attempt import ROOT, VERSION, check, one, run, works

UNIT = ROOT / "infra" / "release" / "debian" / "posthaste.service"
SETTINGS = "etc/default/posthaste"
INSTALLED = [
    "usr/bin/posthaste", "usr/lib/systemd/system/posthaste.service", "usr/share/man/man1/posthaste.1.gz", SETTINGS,
    "usr/share/bash-completion/completions/posthaste", "usr/share/doc/posthaste/copyright",
    "usr/share/doc/posthaste/THIRD-PARTY-LICENCES.txt", "usr/share/doc/posthaste/NOTICE",
]


def package(out, scratch):
    path = one(out, "posthaste_*_*.deb")
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", path).splitlines() if ": " in line)
    check(fields["Version"] == f"{VERSION}-1", f"{path.name} is of version {fields['Version']}")
    check("libc6" in fields["Depends"], f"{path.name} depends on {fields['Depends']} only")
    run("dpkg-deb", "--extract", path, scratch / "files")
    for name in INSTALLED:
        check((scratch / "files" / name).is_file(), f"{path.name} lacks {name}")
    works(scratch / "files/usr/bin/posthaste")
    traced(scratch / "files/usr/bin/posthaste", scratch)
    if os.geteuid() or not shutil.which("apt-get"):
        print("   not installed: that needs root on Debian")
        return
    run(ROOT / "tests/release/debian_root", scratch / "root")
    installed(path, scratch / "root")


def allowed():
    """The system calls that the unit's filter lets pass."""
    found = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE):
        names = set().union(*(members(name) for name in line.removeprefix("~").split()))
        found = found - names if line.startswith("~") else found | names
    return found


def members(name):
    """The calls of a set, with those of the sets in it."""
    if not name.startswith("@"):
        return {name}
    listed = [line.strip() for line in run("systemd-analyze", "syscall-filter", name).splitlines()[1:]]
    return set().union(*(members(one) for one in listed if one and not one.startswith("#")))


# The service is not root, for whom SQLite makes further calls. With -D it is this process's own child, and gets its
# signals.
TRACED = """#!/bin/sh
drop=
if [ "$(id -u)" = 0 ]; then
    before=
    for word; do
        [ "$before" = --data ] && chown nobody "$word"
        before=$word
    done
    drop="setpriv --reuid=nobody --clear-groups --no-new-privs"
fi
exec $drop strace -D -f -qq -o CALLS/$$ -- BINARY "$@"
"""


def traced(binary, scratch):
    """The service makes no call that its unit forbids."""
    run(ROOT / "tests/debian", "strace", "strace")
    scratch.chmod(0o755)
    calls, script = scratch / "calls", scratch / "traced"
    calls.mkdir()
    calls.chmod(0o777)
    script.write_text(TRACED.replace("CALLS", str(calls)).replace("BINARY", str(binary)), encoding="utf-8")
    script.chmod(0o755)
    works(script)
    text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in calls.iterdir())
    made = set(re.findall(r"^\d+ +(\w+)\(", text, re.MULTILINE))
    check({"bind", "accept4", "openat"} <= made, f"strace saw only {sorted(made)}")
    # The start of the program, which systemd itself makes.
    forbidden = made - allowed() - {"execve"}
    check(not forbidden, f"posthaste.service forbids {sorted(forbidden)}, which the service calls")
    print(f"   {len(made)} system calls, all allowed by the unit")


def installed(path, root):
    """Installs, upgrades, removes and purges it."""
    shutil.copy(path, root / "posthaste.deb")

    def inside(*command):
        return run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command)

    inside("dpkg", "--install", "/posthaste.deb")
    said = inside("posthaste", "--version")
    check(said == f"posthaste {VERSION}\n", f"the installed command prints {said!r}")
    settings = root / SETTINGS
    mode = stat.S_IMODE(settings.stat().st_mode)
    check(mode == 0o600, f"{SETTINGS}, which may hold a password, has the mode {mode:o}")
    wanted = root / "etc/systemd/system/multi-user.target.wants/posthaste.service"
    check(not wanted.is_symlink(), "the package starts the service unasked")
    settings.write_text("POSTHASTE_QUIET=true\n", encoding="utf-8")
    inside("dpkg", "--install", "/posthaste.deb")
    check(settings.read_text(encoding="utf-8") == "POSTHASTE_QUIET=true\n", "an upgrade overwrites the settings")
    inside("dpkg", "--remove", "posthaste")
    check(settings.is_file() and not (root / "usr/bin/posthaste").exists(), "a removal keeps the settings only")
    inside("dpkg", "--purge", "posthaste")
    (root / "posthaste.deb").unlink()
    left = [str(one) for one in root.rglob("*posthaste*")]
    check(not left, f"a purge leaves {left}")
    print("   installed, upgraded, removed and purged")
