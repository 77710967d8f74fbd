#!/usr/bin/env python3
"""Makes a folder from which the stack is deployed without a compiler: the template, and a zip of each function.

    sam build && infra/package.py target/lambda posthaste-0.1.0
    cd posthaste-0.1.0 && sam deploy --stack-name posthaste --resolve-s3 --capabilities CAPABILITY_IAM …

`infra/release/make` makes such a folder of each release. The first argument is a folder with NAME/bootstrap, or NAME,
for every function; `infra/package.py names` prints their names. The same binaries make the same
bytes. Rolling back is deploying the folder of the release before.
"""

import pathlib
import re
import sys
import zipfile

TEMPLATE = pathlib.Path(__file__).resolve().parents[1] / "template.yaml"
METADATA = re.compile(r"    Metadata:\n      BuildMethod: rust-cargolambda\n      BuildProperties:\n        Binary: (\S+)\n")
CODE = re.compile(r"^(      CodeUri: functions/(\S+))$", re.MULTILINE)
# The first moment that a zip can hold.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def zipped(binary, path):
    """A deployment package of one function."""
    entry = zipfile.ZipInfo("bootstrap", LONG_AGO)
    entry.external_attr = 0o755 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w") as package:
        package.writestr(entry, binary.read_bytes())


def built(folder, name):
    """The binary of a function, as `sam build` leaves it or as cargo does."""
    path = folder / name
    path = path / "bootstrap" if path.is_dir() else path
    if path.read_bytes()[:4] != b"\x7fELF":
        sys.exit(f"{path} is not a Linux binary")
    return path


def main():
    if len(sys.argv) != 3 and sys.argv[1:] != ["names"]:
        sys.exit(__doc__)
    text = TEMPLATE.read_text(encoding="utf-8")
    names = METADATA.findall(text)
    if not names or [name for _, name in CODE.findall(text)] != names:
        sys.exit(f"{TEMPLATE} has another form than this program knows")
    if sys.argv[1:] == ["names"]:
        print("\n".join(names))
        return
    folder, out = map(pathlib.Path, sys.argv[1:])
    (out / "functions").mkdir(parents=True)
    for name in names:
        zipped(built(folder, name), out / "functions" / f"{name}.zip")
    packaged = CODE.sub(r"\1.zip", METADATA.sub("", text))
    (out / "template.yaml").write_text(packaged, encoding="utf-8")
    print(f"{out}: the template and {len(names)} functions")


if __name__ == "__main__":
    main()
