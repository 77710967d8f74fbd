"""Checks that `sam build` made a Linux binary of every function that template.yaml names, or of those
named by arguments."""

import pathlib
import sys

import cfnlint.decode.cfn_yaml

TEMPLATE = pathlib.Path("template.yaml")
BUILT = pathlib.Path(".aws-sam/build")


def functions() -> list[str]:
    """The logical names of the functions in the template."""
    resources = cfnlint.decode.cfn_yaml.load(str(TEMPLATE))["Resources"]
    return [
        name
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Serverless::Function"
    ]


def fault(name: str) -> str | None:
    """Why the artifact of this function is not one, if it is not."""
    binary = BUILT / name / "bootstrap"
    if not binary.is_file():
        return "was not built"
    if binary.read_bytes()[:4] != b"\x7fELF":
        return "is not a Linux binary"
    if not binary.stat().st_mode & 0o111:
        return "cannot be executed"
    return None


def main() -> int:
    names = sys.argv[1:] or functions()
    faults = [f"{name} {why}" for name in names if (why := fault(name))]
    for line in faults or [f"{len(names)} functions built"]:
        print(line)
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
