"""What surrounds the stack on this machine: the emulator, a relay, and a caller of the API."""

import contextlib
import email
import email.policy
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from aiosmtpd.controller import Controller


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, ask, seconds):
    """The first answer that is something, asked again and again; the test ends without one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.2)
    sys.exit(f"not within {seconds} s: {what}")


def end(process, seconds):
    """Asks a process to end, and makes it when it has not within so long."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Emulator:
    """The emulator as a process, with a folder of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        env = {
            **os.environ,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self.port),
            "TMPDIR": self.folder.name,
            "PERSIST_STATE": "0",
        }
        self.log = pathlib.Path(self.folder.name) / "log"
        command = pathlib.Path(sys.executable).with_name("ministack")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [command], env=env, stdout=log, stderr=log, cwd=self.folder.name
            )
        until("the emulator answers", self.answers, 60)

    def answers(self):
        if self.process.poll() is not None:
            sys.exit(self.log.read_text(errors="replace"))
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        end(self.process, 20)
        self.folder.cleanup()


class Relay:
    """Takes every mail and keeps it."""

    def __init__(self):
        self.mails = []
        self.raw = []
        """Envelope recipients and bytes of each, as they came."""
        self.port = free_port()
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.controller.start()

    async def handle_DATA(self, _server, _session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.raw.append((envelope.rcpt_tos, envelope.content))
        self.mails.append(mail)
        return "250 taken"

    def with_subject(self, text):
        return [mail for mail in self.mails if text in str(mail["subject"])]


@contextlib.contextmanager
def surroundings():
    """A relay and the emulator, until what is done with them ends; if that fails, with the emulator's log, in
    which is what the functions wrote too."""
    relay, emulator = Relay(), Emulator()
    try:
        yield relay, emulator
    except BaseException:
        print(emulator.log.read_text(errors="replace")[-6000:])
        raise
    finally:
        emulator.stop()
        relay.controller.stop()


class Api:
    """Calls the HTTP API with a key, as the gateway's address would be called."""

    def __init__(self, port, api_id, key):
        self.port = port
        self.host = f"{api_id}.execute-api.localhost:{port}"
        self.key = key

    def call(self, method, path, body=None, key=None):
        """Status, decoded body and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Host": self.host, "Authorization": f"Bearer {key or self.key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        try:
            decoded = json.loads(text) if text else None
        except ValueError:
            decoded = text
        return answer.status, decoded, answer.headers

    def expect(self, status, method, path, body=None, key=None):
        """The decoded body and headers of an answer that has this status."""
        got, decoded, headers = self.call(method, path, body, key)
        if got != status:
            sys.exit(f"{method} {path}: {got} instead of {status}: {decoded}")
        return decoded, headers


def credentials(endpoint):
    """What a program that calls the emulator finds in its environment."""
    return {
        **os.environ,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


class AwsHost:
    """`posthaste --aws`: the stack's API and its port for submission in one process, with the variables of
    its functions."""

    def __init__(self, binary, endpoint, variables):
        self.process = subprocess.Popen(
            [binary, "--aws", "--port", "0", "--submission-port", "0"],
            env={**credentials(endpoint), **variables},
            stdout=subprocess.PIPE,
            text=True,
        )
        # The first line comes once it listens; none when it ended.
        found = re.search(r"on http://([^\s,]+), .* smtp://(\S+):(\d+)", self.process.stdout.readline())
        if not found:
            sys.exit("posthaste --aws did not start")
        self.address = found.group(1)
        self.submission = (found.group(2), int(found.group(3)))

    def post(self, path, body, key):
        """Status and headers."""
        connection = http.client.HTTPConnection(self.address, timeout=120)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, text, answer.headers

    def stop(self):
        """Ends it as a container is ended."""
        self.process.terminate()
        if self.process.wait(20):
            sys.exit(f"posthaste --aws ended with {self.process.returncode}")


def first_key(binary, table, endpoint):
    """Makes the first account with the operator's command."""
    env = credentials(endpoint)
    command = [binary, "account", "create", "owner", "--aws", "--table", table]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", said.stdout)
    if said.returncode or not found:
        sys.exit(f"no first key: {said.stdout}{said.stderr}")
    return found.group()
