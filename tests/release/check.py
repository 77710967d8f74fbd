"""Checks what describes the packages and the images, against each other and against the sources."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTAINER = ROOT / "infra" / "container"
RELEASE = ROOT / "infra" / "release"
MANIFEST = ROOT / "infra" / "local" / "Cargo.toml"
# Of ten, by systemd's own count. A service without any restriction has 9.6.
EXPOSURE = 1.5


def variables():
    """Every environment variable that the page names."""
    page = (ROOT / "infra" / "VARIABLES.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))


def unknown(text, where):
    """Variables of the service that the page does not have."""
    named = set(re.findall(r"\bPOSTHASTE_[A-Z_]+\b", text))
    yield from (f"{where}: the service reads no {name}" for name in sorted(named - variables()))


def unit():
    """The unit as systemd reads it, with a program that is there."""
    text = (RELEASE / "debian" / "posthaste.service").read_text(encoding="utf-8")
    yield from unknown(text, "posthaste.service")
    yield from unknown((RELEASE / "debian" / "posthaste.default").read_text(encoding="utf-8"), "posthaste.default")
    with tempfile.TemporaryDirectory(prefix="posthaste-unit-") as folder:
        path = pathlib.Path(folder, "posthaste.service")
        path.write_text(text.replace("/usr/bin/posthaste", "/bin/true"), encoding="utf-8")
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True, check=False)
        # What it says of units of this machine is not about ours.
        ours = [line for line in said.stderr.splitlines() if "posthaste" in line]
        yield from ours
        command = ["systemd-analyze", "security", "--offline=true", f"--threshold={round(EXPOSURE * 10)}", path]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        level = re.search(r"Overall exposure level for posthaste.service: ([\d.]+)", said.stdout)
        if not level or said.returncode:
            yield f"posthaste.service: exposed more than {EXPOSURE}: {level.group(0) if level else said.stderr}"
        else:
            print(f"posthaste.service: exposure {level.group(1)} of 10")


def package():
    """The metadata of the Debian package and of cargo binstall."""
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["package"]
    deb, binstall = manifest["metadata"]["deb"], manifest["metadata"]["binstall"]
    installed = set()
    for source, to, _ in deb["assets"]:
        name = pathlib.PurePath(source).name
        installed.add("/" + (to + name if to.endswith("/") else to))
        if not source.startswith("target/") and not (MANIFEST.parent / source).is_file():
            yield f"Cargo.toml: {source} is not there"
    yield from (f"Cargo.toml: {name} is not installed" for name in deb["conf-files"] if name not in installed)
    service = (RELEASE / "debian" / "posthaste.service").read_text(encoding="utf-8")
    for name in re.findall(r"^(?:ExecStart|EnvironmentFile)=-?(\S+)", service, re.MULTILINE):
        if name not in installed:
            yield f"posthaste.service: the package has no {name}"
    make = (RELEASE / "make").read_text(encoding="utf-8")
    for made in re.findall(r"target/package/(\S+)", " ".join(source for source, _, _ in deb["assets"])):
        if made not in make:
            yield f"infra/release/make: does not make {made}"
    name = re.search(r"^name=(\S+)$", make, re.MULTILINE).group(1)
    template = name.replace("$version", "{ version }").replace("$triple", "{ target }")
    if not binstall["pkg-url"].endswith(f"/v{{ version }}/{template}.tar.gz"):
        yield f"Cargo.toml: the archive is {template}.tar.gz, not {binstall['pkg-url']}"
    if binstall["bin-dir"] != f"{template}/{{ bin }}{{ binary-ext }}":
        yield f"Cargo.toml: the binary is in {template}, not in {binstall['bin-dir']}"


def wheel():
    """The wheel is of the same crate, and needs a version of maturin that the tests have."""
    project = tomllib.loads((RELEASE / "pypi" / "pyproject.toml").read_text(encoding="utf-8"))
    if "version" not in project["project"]["dynamic"]:
        yield "pyproject.toml: has a version of its own"
    if (RELEASE / "pypi" / project["tool"]["maturin"]["manifest-path"]).resolve() != MANIFEST:
        yield "pyproject.toml: is not about infra/local"


def image():
    """The recipe's variables, compiler and targets."""
    recipe = (CONTAINER / "Dockerfile").read_text(encoding="utf-8")
    yield from unknown(recipe, "Dockerfile")
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]["channel"]
    if f"FROM rust:{channel.rpartition('.')[0]}-" not in recipe:
        yield f"Dockerfile: does not compile with Rust {channel}"
    for name in ["local", "aws"]:
        if not re.search(rf"^FROM base AS {name}\n(?:.+\n)*?ENTRYPOINT ", recipe, re.MULTILINE):
            yield f"Dockerfile: no stage {name} with an entry point"


def compose():
    """The compose file: what it gives the service, and what it opens."""
    text = (CONTAINER / "compose.yaml").read_text(encoding="utf-8")
    yield from unknown(text, "compose.yaml")
    services = yaml.safe_load(text)["services"]
    recipe = (CONTAINER / "Dockerfile").read_text(encoding="utf-8")
    exposed = set(re.search(r"AS local\n.*?EXPOSE ([\d ]+)", recipe, re.DOTALL).group(1).split())
    for name, service in services.items():
        build = service["build"]
        if not (CONTAINER / build["context"] / build.get("dockerfile", "Dockerfile")).is_file():
            yield f"compose.yaml: {name} has no Dockerfile"
        for port in service.get("ports", []):
            address, _, inside = port.rsplit(":", 2)
            if address != "127.0.0.1":
                yield f"compose.yaml: {name} opens {port} to the network"
            if name == "posthaste" and inside not in exposed:
                yield f"compose.yaml: nothing listens on {inside} in {name}"
    if f"AS {services['posthaste']['build']['target']}\n" not in recipe:
        yield "compose.yaml: the Dockerfile has no such target"
    if services["app"]["environment"]["SENDGRID_API_KEY"] != services["posthaste"]["environment"]["POSTHASTE_API_KEY"]:
        yield "compose.yaml: the application has another key"
    read = set(re.findall(r"\b[A-Z]+_[A-Z_]+\b", (CONTAINER / "app" / "app.mjs").read_text(encoding="utf-8")))
    yield from (f"app.mjs: does not read {name}" for name in services["app"]["environment"] if name not in read)
    wanted = json.loads((CONTAINER / "app" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((CONTAINER / "app" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    if lock[""]["dependencies"] != wanted:
        yield "package-lock.json: other dependencies than package.json"
    if any("resolved" in one for one in lock.values()):
        yield "package-lock.json: names where packages come from"


def main():
    checks = [unit, package, wheel, image, compose]
    found = [fault for check in checks for fault in check()]
    for fault in found:
        print(fault)
    print(f"release: {len(checks)} checks, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
