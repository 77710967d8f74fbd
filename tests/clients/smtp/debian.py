"""Debian's swaks and msmtp: installed where that is allowed, or else unpacked beside the tests without root."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
HOME = ROOT / "tests" / ".venv" / "debian"
# What each needs: swaks finds its TLS in a module that its package only recommends.
WANTED = [("swaks", "swaks"), ("perl:Net::SSLeay", "libnet-ssleay-perl"), ("msmtp", "msmtp")]
# The same without root: msmtp with the libraries that a small installation lacks.
PACKAGES = ["swaks", "msmtp", "libgsasl18", "libntlm0", "libidn12", "libgssglue1", "libsecret-1-0", "libnet-ssleay-perl"]


def ready():
    """The programs by name, and the environment they run in."""
    installed = [subprocess.run([ROOT / "tests" / "debian", *wanted]).returncode == 0 for wanted in WANTED]
    if all(installed):
        return {"swaks": "swaks", "msmtp": "msmtp"}, dict(os.environ)
    done = HOME / "done"
    if not done.exists():
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        fetch = ["apt-get", "download", "-qq", *PACKAGES]
        subprocess.run(fetch, cwd=HOME, check=True, capture_output=True)
        for package in sorted(HOME.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, HOME], check=True)
        done.touch()
    libraries = ":".join(str(path) for path in sorted((HOME / "usr" / "lib").glob("*-linux-gnu*")))
    names = {name: str(HOME / "usr" / "bin" / name) for name in ("swaks", "msmtp")}
    modules = ":".join(str(path) for path in sorted((HOME / "usr" / "lib").glob("*-linux-gnu*/perl5/5.*")))
    return names, {**os.environ, "LD_LIBRARY_PATH": libraries, "PERL5LIB": modules}
