"""Makes the folder of a release (infra/package.py) and lets SAM package it into the emulator's S3, as `sam deploy`
does.

    tests/sam/packaged.py FOLDER    FOLDER has the functions; without it each is a small program

SAM runs from tests/.venv/sam, the emulator from tests/.venv/stack, which starts this.
"""

import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "stack"))

from parts import Emulator  # noqa: E402
from stack import REGION, client, functions, template  # noqa: E402
from samtranslator.yaml_helper import yaml_parse  # noqa: E402

BUCKET = "packages"


def small(folder):
    """A folder with a small program in place of each function."""
    for name in functions(template()).values():
        shutil.copy("/bin/true", folder / name)
    return folder


def made(functions_in, out):
    """Every file of the release's folder with its bytes."""
    subprocess.run([ROOT / "infra" / "package.py", functions_in, out], check=True, stdout=subprocess.DEVNULL)
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "small").mkdir()
        source = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else small(scratch / "small")
        first, second = made(source, scratch / "one"), made(source, scratch / "two")
        assert first == second, "the same binaries make other bytes"
        emulator = Emulator()
        try:
            s3 = client("s3", emulator.url)
            s3.create_bucket(Bucket=BUCKET)
            env = os.environ | {
                "AWS_ENDPOINT_URL": emulator.url, "AWS_DEFAULT_REGION": REGION, "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test", "SAM_CLI_TELEMETRY": "0",
            }
            packaged = scratch / "packaged.yaml"
            subprocess.run(
                [ROOT / "tests" / ".venv" / "sam" / "bin" / "sam", "package", "--template-file", "template.yaml",
                 "--s3-bucket", BUCKET, "--output-template-file", packaged],
                cwd=scratch / "one", env=env, check=True, capture_output=True,
            )
            resources = yaml_parse(packaged.read_text())["Resources"]
            found = [one["Properties"]["CodeUri"] for one in resources.values()
                     if one["Type"] == "AWS::Serverless::Function"]
            for uri in found:
                bucket, _, key = uri.removeprefix("s3://").partition("/")
                package = zipfile.ZipFile(io.BytesIO(s3.get_object(Bucket=bucket, Key=key)["Body"].read()))
                [entry] = package.infolist()
                assert entry.filename == "bootstrap" and entry.external_attr >> 16 & 0o111, f"{uri}: {entry}"
        finally:
            emulator.stop()
    print(f"{len(found)} functions packaged and in the bucket")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
