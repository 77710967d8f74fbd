"""Requests that schemathesis makes up by the API reference, to a fresh service: no answer is a 500, and each has a
status, headers, a content type and a body as the document says.

The seed is fixed and nothing is random besides, so that a run is repeated by running it again.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from api import Api

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "clients"))
from host import Host  # noqa: E402

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
# An allow list of made-up addresses would refuse every call after it.
LEFT_OUT = ("/v3/access_settings/whitelist", "/v3/access_settings/whitelist/{rule_id}")
# Of each call, beside those that cover the bounds of its parameters and fields.
EXAMPLES = 5
SECONDS = 300


def trimmed(document):
    """The document without the header that makes a call act for another account: a made-up one is refused."""
    for path in LEFT_OUT:
        del document["paths"][path]
    for operation in (one for methods in document["paths"].values() for one in methods.values()):
        parameters = operation.get("parameters", [])
        operation["parameters"] = [one for one in parameters if "OnBehalfOf" not in one.get("$ref", "")]
    return document


def main():
    host = Host(sys.argv[1], "--rate-limit=1000000")
    try:
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "openapi.json"
            document.write_text(json.dumps(trimmed(Api(host.api, host.key).document)), encoding="utf-8")
            command = [
                pathlib.Path(sys.executable).with_name("st"), "run", document, "--url", host.api,
                "--header", f"Authorization: Bearer {host.key}",
                "--phases", "coverage,fuzzing", "--checks", CHECKS,
                "--seed", "1", "--generation-deterministic",
                "--max-examples", str(EXAMPLES), "--no-color", "--warnings", "off", "--no-shrink",
            ]
            done = subprocess.run(command, cwd=folder, timeout=SECONDS, check=False)
        return done.returncode
    finally:
        host.stop()


if __name__ == "__main__":
    sys.exit(main())
