#!/usr/bin/env python3
"""`sam local start-api` answers POST /v3/mail/send: the function in a container, the stack's table and queues
on the emulator of tests/stack, whose own delivery takes the mail to a relay.

    start_api.py FUNCTIONS POSTHASTE IMAGE
"""

import http.client
import json
import os
import pathlib
import platform
import socket
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/stack"))

from drive import mail, sender, step  # noqa: E402
from parts import Api, Emulator, Relay, credentials, end, first_key, free_port, until  # noqa: E402
from stack import client, deploy, functions, template  # noqa: E402

SAM = ROOT / "tests/.venv/sam/bin/sam"
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64"}


class Network:
    """A network of containers of its own, on which this machine has an address."""

    def __init__(self):
        self.name = f"posthaste-{os.getpid()}"
        self.docker("create", self.name)
        self.address = self.docker("inspect", self.name, "--format", "{{(index .IPAM.Config 0).Gateway}}")

    def docker(self, *words):
        said = subprocess.run(["docker", "network", *words], capture_output=True, text=True, check=False)
        if said.returncode:
            sys.exit(f"docker network {' '.join(words)}: {said.stderr}")
        return said.stdout.strip()

    def close(self):
        self.docker("rm", self.name)


class Door:
    """Leads from an address of containers to a port that only this machine sees."""

    def __init__(self, address, port):
        self.port = port
        try:
            self.listener = socket.create_server((address, 0))
        except OSError:
            sys.exit(f"{address} is not this machine's: the engine keeps containers on a machine of its own")
        self.url = f"http://{address}:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            inside = socket.create_connection(("127.0.0.1", self.port))
            for one, other in ((caller, inside), (inside, caller)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while said := one.recv(65_536):
                other.sendall(said)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def for_containers(folder, binaries, endpoint):
    """The template as `sam local` takes it: what was built, and where AWS is. It gives a function no other
    variables than those that the template names."""
    source = template()
    for name, binary in functions(source).items():
        properties = source["Resources"][name]["Properties"]
        properties["CodeUri"] = str(binaries / binary)
    source["Globals"]["Function"]["Environment"]["Variables"]["AWS_ENDPOINT_URL"] = endpoint
    source["Parameters"]["Architecture"]["Default"] = ARCHITECTURES[platform.machine()]
    path = pathlib.Path(folder) / "template.json"
    path.write_text(json.dumps(source))
    return path


def variables(folder, endpoint, resources, lambdas):
    """What `sam local` cannot know: the values that the deployed function has."""
    given = lambdas.get_function_configuration(FunctionName=resources["MailSendFunction"])
    path = pathlib.Path(folder) / "variables.json"
    known = given["Environment"]["Variables"] | {"AWS_ENDPOINT_URL": endpoint}
    path.write_text(json.dumps({"MailSendFunction": known}))
    return path


class StartApi:
    """`sam local start-api` as a process."""

    def __init__(self, folder, template_path, variables_path, network, image):
        self.port = free_port()
        command = [
            SAM, "local", "start-api", "--template", template_path, "--env-vars", variables_path,
            "--host", "127.0.0.1", "--port", str(self.port), "--no-watch", "--region", "us-east-1",
            "--docker-network", network, "--invoke-image", image, "--skip-pull-image",
            "--layer-cache-basedir", pathlib.Path(folder) / "layers",
        ]
        env = {**credentials(""), "SAM_CLI_TELEMETRY": "0", "HOME": folder}
        del env["AWS_ENDPOINT_URL"]
        self.log = pathlib.Path(folder) / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log)
        until("sam local start-api listens", self.listens, 60)

    def listens(self):
        if self.process.poll() is not None:
            sys.exit(self.log.read_text(errors="replace"))
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def post(self, key, body):
        """Status, decoded body and headers. The first call builds an image and starts a container."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", "/v3/mail/send", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, answer.headers

    def stop(self):
        end(self.process, 30)


def drive(local, relay, key):
    status, text, headers = local.post(key, mail("From a container"))
    if status != 202 or text or not headers["x-message-id"]:
        sys.exit(f"a mail: {status} {text}")
    got = until("the mail", lambda: relay.with_subject("From a container"), 60)[0]
    if headers["x-message-id"] not in str(got["message-id"]):
        sys.exit(f"another message: {got['message-id']}")
    step("sam local start-api answers POST /v3/mail/send with 202, and the mail arrives")
    bad = mail("Bad")
    del bad["personalizations"][0]["to"]
    status, text, _ = local.post(key, bad)
    if status != 400 or not json.loads(text)["errors"]:
        sys.exit(f"a bad request: {status} {text}")
    status, text, _ = local.post("SG." + "a" * 22 + "." + "b" * 43, mail("Stranger"))
    if status != 401:
        sys.exit(f"a stranger's key: {status} {text}")
    step("and what is wrong with 400 and 401")


def main():
    binaries, posthaste = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    image = sys.argv[3]
    relay, emulator = Relay(), Emulator()
    network, local = Network(), None
    door = Door(network.address, emulator.port)
    try:
        with tempfile.TemporaryDirectory() as folder:
            parameters = {"Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none",
                          "HostnameOfService": "mail.example.com"}
            resources = deploy(emulator.url, binaries, parameters)
            key = first_key(posthaste, resources["Table"], emulator.url)
            sender(Api(emulator.port, resources["Api"], key), relay)
            given = variables(folder, door.url, resources, client("lambda", emulator.url))
            local = StartApi(folder, for_containers(folder, binaries, door.url), given, network.name, image)
            try:
                drive(local, relay, key)
            except BaseException:
                print(local.log.read_text(errors="replace")[-6000:])
                raise
            finally:
                local.stop()
    finally:
        door.close()
        network.close()
        emulator.stop()
        relay.controller.stop()
    print("sam local answers as it must")
    return 0


if __name__ == "__main__":
    sys.exit(main())
