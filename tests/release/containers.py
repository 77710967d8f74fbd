"""Runs the images that tests/release/containers built, as the README says, and the compose file."""

import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from attempt import MAIL, ROOT, VERSION, check, run

PATIENCE = 120
COMPOSE = ROOT / "infra" / "container" / "compose.yaml"
# As strict as a cluster may be.
STRICT = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
# The image's own check, asked more often.
OFTEN = ["--health-interval", "1s", "--health-start-period", "1s"]


def asked(url, body=None, **headers):
    """Status and body of a request."""
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.read()


def is_healthy(name, since, wanted="healthy"):
    """Waits until the engine finds a container healthy."""
    filters = ["--filter", f"container={name}", "--filter", "event=health_status"]
    command = ["docker", "events", "--since", str(since), "--until", str(since + PATIENCE), *filters]
    with subprocess.Popen([*command, "--format", "{{.Status}}"], stdout=subprocess.PIPE, text=True) as events:
        found = next((line for line in events.stdout if line.strip() == f"health_status: {wanted}"), None)
        events.kill()
    check(found, f"{name} is not {wanted}: {run('docker', 'inspect', name)}")


def published(name, port):
    """Where a port of a container is reached."""
    return f"http://{run('docker', 'port', name, port).split()[0]}"


def mails(mailbox, count):
    """The mails of a mailbox, once there are so many."""
    end = time.monotonic() + PATIENCE
    with urllib.request.urlopen(f"{mailbox}/live", timeout=PATIENCE) as live:
        while True:
            found = json.loads(asked(f"{mailbox}/api/v1/messages")[1])
            if found["total"] >= count:
                return found["messages"]
            check(time.monotonic() < end, f"{count} mails did not come")
            while live.readline().strip():
                pass


def local():
    """The whole service, with its folder in a volume that outlives the container."""
    ports = [word for port in (3000, 8025, 1025) for word in ("-p", f"127.0.0.1::{port}")]
    flags = [*STRICT, *OFTEN, *ports, "-v", "posthaste-tried:/var/lib/posthaste", "-e", "POSTHASTE_OPEN_TO_NETWORK=true"]
    key = None
    for count in (1, 2):
        since = int(time.time())
        run("docker", "run", "--detach", "--name", "local", *flags, "posthaste")
        is_healthy("local", since)
        inside = ["docker", "exec", "local"]
        check(run(*inside, "id", "-u") == "10001\n", "the service runs as another user")
        health = json.loads(asked(f"{published('local', 3000)}/health")[1])
        want = {"status": "ok", "version": VERSION, "checks": {"table": "ok", "queues": "ok"}}
        check(health == want, f"health is {health}")
        said = run(*inside, "cat", ".posthaste/api-key").strip()
        check(key in (None, said), "a new container on the volume has another key")
        key = said
        check("local" in run(*inside, "posthaste", "account", "list"), "the operator's commands do not reach the service")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        status, _ = asked(f"{published('local', 3000)}/v3/mail/send", json.dumps(MAIL).encode(), **headers)
        check(status == 202, f"mail/send answers {status}")
        mails(published("local", 8025), count)
        run("docker", "stop", "--time", "30", "local")
        code = run("docker", "inspect", "--format", "{{.State.ExitCode}}", "local").strip()
        check(code == "0", f"the service stops with {code}: {run('docker', 'logs', 'local')}")
        run("docker", "rm", "local")
    run("docker", "volume", "rm", "posthaste-tried")
    print("local: healthy, as user 10001 on a read-only root; mail and key outlive the container")


def aws():
    """The API of a stack: with its variables and without a table behind them, as no stack is here."""
    alone = ["docker", "run", "--rm", *STRICT, "-e", "AWS_EC2_METADATA_DISABLED=true", "posthaste-aws"]
    refused = subprocess.run(alone, capture_output=True, text=True, check=False)
    check(refused.returncode == 2 and "TABLE_NAME is not set" in refused.stderr, f"without variables: {refused}")
    variables = {
        "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        # Nothing listens there.
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "TABLE_NAME": "posthaste", "BUCKET_NAME": "bodies",
        "BOUNCE_DOMAIN": "bounce.example", "PUBLIC_URL": "https://post.example", "STACK_SECRET": "1:" + "A" * 43,
    }
    variables |= {f"{name}_QUEUE_URL": f"https://queue.example/1/{name}" for name in ("SEND", "RETRIES", "EVENTS", "INBOUND")}
    flags = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    since = int(time.time())
    run("docker", "run", "--detach", "--name", "aws", *STRICT, *OFTEN, *flags, "posthaste-aws")
    is_healthy("aws", since, "unhealthy")
    asked = subprocess.run(["docker", "exec", "aws", "posthaste", "health"], capture_output=True, text=True, check=False)
    check(asked.returncode == 1 and '"table":"unavailable"' in asked.stderr, f"without a table: {asked}")
    run("docker", "stop", "--time", "30", "aws")
    run("docker", "rm", "aws")
    print("aws: needs its variables, and is unhealthy without its table")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def compose():
    """The application and Posthaste, on free ports: its mail is in the mailbox, and its webhook gets the events."""
    ports = {}

    def moved(found):
        ports[found.group(1)] = free_port()
        return f"127.0.0.1:{ports[found.group(1)]}:"

    text = re.sub(r"127\.0\.0\.1:(\d+):", moved, COMPOSE.read_text(encoding="utf-8"))
    # Built before, with the network of this machine.
    text = text.replace("    build:\n      context: app\n", "    image: posthaste-example\n")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        command = ["docker-compose", "--file", file.name, "--project-directory", COMPOSE.parent, "--project-name", "tried"]
        run(*command, "config", "--quiet")
        run(*command, "up", "--detach", "--no-build")
        try:
            page = f"http://127.0.0.1:{ports['8080']}"
            # The published port takes connections before the application does.
            until(lambda: asked(page), "the application answers")
            to = urllib.parse.urlencode({"to": "you@example.com"}).encode()
            _, said = asked(f"{page}/welcome", to)
            check(said.startswith(b"sent: "), f"the application says {said}")
            [mail] = mails(f"http://127.0.0.1:{ports['8025']}", 1)
            check(mail["Subject"] == "Welcome", f"the mailbox has {mail}")
            until(lambda: check_events(asked(f"{page}/events")[1].decode()), "the webhook gets the events")
        except BaseException:
            print(run(*command, "logs", "--no-color"))
            raise
        finally:
            run(*command, "down", "--volumes")
    print("compose: the application sends, and its webhook receives processed and delivered")


class NotYet(Exception):
    """What is waited for has not happened."""


def check_events(said):
    if not {"processed", "delivered"} <= {line.split()[0] for line in said.splitlines()}:
        raise NotYet(said)


def until(attempt, what):
    """Repeats an attempt until it succeeds."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except (OSError, NotYet) as error:
            if time.monotonic() > end:
                sys.exit(f"{what}: not within {PATIENCE} seconds ({error})")
        time.sleep(0.2)


def main():
    local()
    aws()
    compose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
