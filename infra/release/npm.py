#!/usr/bin/env python3
"""Makes the npm packages: one that carries the binary of this machine's platform, and the one that users install.

    npm.py FOLDER VERSION OUT     FOLDER holds the unpacked archive of the release; OUT gets the two .tgz
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAME = "posthaste-server"
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "NOTICE", "THIRD-PARTY-LICENCES.txt"]
# As Node names this machine; the binary is linked with its C library.
PLATFORM = "const { platform, arch, report } = process; const { header } = report.getReport(); " \
    "console.log(JSON.stringify({ platform, arch, libc: header.glibcVersionRuntime ? 'glibc' : 'musl' }))"


def platform():
    said = subprocess.run(["node", "-e", PLATFORM], check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def carrier(here, version):
    """The manifest of the package with the binary."""
    found = {
        "name": f"{NAME}-{here['platform']}-{here['arch']}",
        "version": version,
        "description": f"The binary of {NAME} for {here['platform']} on {here['arch']}",
        "license": "(MIT OR Apache-2.0)",
        "os": [here["platform"]],
        "cpu": [here["arch"]],
        "files": ["bin/posthaste", *LICENCES],
    }
    if here["platform"] == "linux":
        found["libc"] = [here["libc"]]
    return found


def wrapper(version, carriers):
    """The manifest of the package that users install. It names the carriers that this release has."""
    return {
        "name": NAME,
        "version": version,
        "description": "A self-hosted email delivery service that speaks SendGrid's v3 API",
        "license": "(MIT OR Apache-2.0)",
        "keywords": ["email", "sendgrid", "smtp", "testing"],
        "bin": {"posthaste": "bin/posthaste.js"},
        "engines": {"node": ">=18"},
        "files": ["bin/posthaste.js", *LICENCES],
        "optionalDependencies": {name: version for name in carriers},
    }


def pack(manifest, folder, files, out):
    """Writes a package's files, each from its path, and packs them."""
    with tempfile.TemporaryDirectory(prefix="posthaste-npm-") as made:
        made = pathlib.Path(made)
        (made / "bin").mkdir()
        (made / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        for to, path in files.items():
            shutil.copy(path, made / to)
        for name in LICENCES:
            shutil.copy(folder / name, made / name)
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", str(out.resolve())], cwd=made, check=True)


def main():
    folder, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    binary = carrier(platform(), version)
    pack(binary, folder, {"bin/posthaste": folder / "posthaste"}, out)
    files = {"bin/posthaste.js": HERE / "npm" / "posthaste.js", "README.md": HERE / "npm" / "README.md"}
    pack(wrapper(version, [binary["name"]]), folder, files, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
