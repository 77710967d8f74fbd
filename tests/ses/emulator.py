"""What moto, an emulator of AWS, takes from our SES transport: every composed sample mail, byte for
byte, for the one recipient of its envelope; what it refuses; and what happens when it is gone.

Run by tests/ses/run, with the program that hands mails over.
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import boto3

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPIENT = "bob@xn--mller-kva.example"


class Emulator:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "moto.server", "--host=127.0.0.1", f"--port={port}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **quiet)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, "moto did not start"
                time.sleep(0.05)
        login = {"aws_access_key_id": "id", "aws_secret_access_key": "secret"}
        self.ses = boto3.client("sesv2", "us-east-1", endpoint_url=self.url, **login)

    def mails(self):
        """What was sent so far: recipients and raw message."""
        with urllib.request.urlopen(f"{self.url}/moto-api/data.json") as answer:
            models = json.load(answer).get("ses", {})
        return [(m["destinations"][0], m["raw_data"].encode()) for m in models.get("RawMessage", [])]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def hand_over(program, url, mails):
    said = subprocess.run([program, url, "bob@müller.example", *mails], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    return said.stdout.splitlines()


def foreign(raw):
    return not raw.split(b"\r\n\r\n", 1)[0].isascii()


def main():
    program = sys.argv[1]
    samples = sorted((ROOT / "tests/golden/mime").glob("*.eml"))
    # SES takes no SMTPUTF8; such a mail does not get here.
    samples = [path for path in samples if not foreign(path.read_bytes())]
    assert len(samples) > 20, "no sample mails"
    emulator = Emulator()
    try:
        outcomes = hand_over(program, emulator.url, samples[:1])
        assert not outcomes[0].startswith("handed"), f"an unknown sender passes: {outcomes}"
        assert emulator.mails() == []

        emulator.ses.create_email_identity(EmailIdentity="example.com")
        outcomes = hand_over(program, emulator.url, samples)
        for path, outcome in zip(samples, outcomes, strict=True):
            assert outcome.startswith("handed 250 Ok "), f"{path.name}: {outcome}"
        taken = emulator.mails()
        assert len(taken) == len(samples), f"{len(taken)} mails of {len(samples)}"
        for path, (recipient, raw) in zip(samples, taken):
            assert recipient == RECIPIENT, recipient
            assert raw == path.read_bytes(), f"{path.name} changed on its way"
    finally:
        emulator.stop()
    outcomes = hand_over(program, emulator.url, samples[:1])
    assert outcomes[0].startswith("deferred by Relay: no answer from SES"), outcomes
    print(f"{len(samples)} mails taken by moto as they are")


if __name__ == "__main__":
    sys.exit(main())
