"""A workflow of GitHub Actions: held to GitHub's schema, and its steps as shell, in which the page's service takes the
place of the service container."""

import pathlib
import shlex
import subprocess
import sys

from session import Failed

# Actions that need nothing here: the files are there, and so is the language.
IN_PLACE = {"actions/checkout", "actions/setup-python", "actions/setup-node"}


def check(file, venv):
    """Holds the file to GitHub's schema of workflows."""
    command = [venv / "bin" / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(done.stdout + done.stderr)


def shell(file, venv):
    """The steps of all jobs as one script, made in the environment that has a YAML parser."""
    command = [venv / "bin" / "python", pathlib.Path(__file__), file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(done.stdout + done.stderr)
    return done.stdout


def script(workflow):
    """The same of a workflow that is read. Each step is a shell of its own, as on GitHub."""
    lines = []
    for name, job in workflow["jobs"].items():
        for service, given in job.get("services", {}).items():
            if not given.get("image") or not given.get("ports"):
                raise Failed(f"the service {service} of {name} has no image or publishes no port")
        for step in job["steps"]:
            action = step.get("uses", "").partition("@")[0]
            if action in IN_PLACE:
                continue
            if "run" not in step:
                raise Failed(f"{action} is not known here")
            variables = workflow.get("env", {}) | job.get("env", {}) | step.get("env", {})
            if "${{" in step["run"] + "".join(map(str, variables.values())):
                raise Failed("expressions are not evaluated here")
            given = [f"{key}={shlex.quote(str(value))}" for key, value in variables.items()]
            lines.append(f"env {' '.join(given)} bash -e -o pipefail -c {shlex.quote(step['run'])}\n")
    if not lines:
        raise Failed("no step runs anything")
    return "".join(lines)


def main():
    from ruamel.yaml import YAML

    try:
        text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
        sys.stdout.write(script(YAML(typ="safe").load(text)))
    except (Failed, LookupError, TypeError) as why:
        sys.exit(f"{sys.argv[1]}: {why!r}")


if __name__ == "__main__":
    main()
