#!/usr/bin/env python3
"""How long a function takes from exec to its first answer, how large it is, and what memory it holds.

Every function is started anew --runs times over a stand-in for Lambda's Runtime API and given one event: an
API function a call of its first route with an unknown key, which it looks up in a table that holds nothing and
refuses; `tracking`, which asks for no key, a pixel; a worker a message it cannot read, or a tick of the clock.
So the API's first answer includes the AWS client and a first call, and a sweep's several. `hello` is a bare
function, built with the same profile. What real Lambda adds (fetching and unpacking the code, starting the
sandbox, TLS to DynamoDB) is the same for all but for the size, and not in here.

    cargo build --release -p posthaste-hello && sam build
    python3 tests/cold/cold.py target/lambda --hello target/release/hello

FOLDER holds NAME or NAME/bootstrap for every function of template.yaml.
"""

import argparse
import asyncio
import base64
import functools
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

from aws import Runtime, table

ROOT = pathlib.Path(__file__).parents[2]
# Debian's certificates in one file, as the template names Amazon Linux's.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
WORKERS = {"delivery", "inbound-parse", "ses-feedback", "webhook-fanout"}
TICKED = {"schedule-sweep"}
# The budget for a binary, in bytes, and for mail-send's start, in starts of hello.
MOST_BYTES, MOST_TIMES = 8_000_000, 2.0


@functools.cache
def functions():
    """The binaries that template.yaml names, with the method and path of their first route if they have one."""
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"^ +Binary: (\S+)$", text, re.MULTILINE))
    path = None
    # The API's document: a path, and below it the function that answers each method, as an anchor or an alias.
    for line in text.splitlines():
        if found := re.fullmatch(r" {10}(/\S+):", line):
            path = found[1]
        elif (found := re.fullmatch(r" {12}([a-z]+): [&*](\S+)", line)) and names.get(found[2], ()) is None:
            names[found[2]] = (found[1].upper(), path)
    # CloudFormation calls it once in the life of a stack.
    names.pop("first-account")
    return names


def variables(runtime, aws):
    """What the template gives its functions, all of it to each."""
    queue = f"http://127.0.0.1:{aws}/000000000000"
    return {
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{runtime}",
        "AWS_LAMBDA_FUNCTION_NAME": "under-test",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_REGION": "us-east-1",
        "SSL_CERT_FILE": CERTIFICATES,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{aws}",
        "TABLE_NAME": "posthaste",
        "BUCKET_NAME": "posthaste",
        "BUS_NAME": "posthaste",
        "SEND_QUEUE_URL": f"{queue}/send",
        "EVENTS_QUEUE_URL": f"{queue}/events",
        "RETRIES_QUEUE_URL": f"{queue}/retries",
        "INBOUND_QUEUE_URL": f"{queue}/inbound",
        "FEEDBACK_QUEUE_URL": f"{queue}/feedback",
        "DELIVERY": "smtp://127.0.0.1:9",
        "STACK_SECRET": "1:" + "Ab3d" * 16,
        "HOSTNAME_OF_SERVICE": "mail.example.com",
        "MAIL_HOSTNAME": "mail.example.com",
        "BOUNCE_DOMAIN": "bounce.example.com",
        "TRACKING_URL": "https://api.example.com",
        "PUBLIC_URL": "https://api.example.com",
    }


def event(name, body=b"{}"):
    """The first event of this function."""
    if name in WORKERS:
        record = {
            "messageId": "1",
            "receiptHandle": "1",
            "body": "no job",
            "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1767225600000"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:send",
            "awsRegion": "us-east-1",
        }
        return json.dumps({"Records": [record]}).encode()
    if name in TICKED:
        tick = {
            "version": "0",
            "id": "1",
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": "000000000000",
            "time": "2026-01-01T00:00:00Z",
            "region": "us-east-1",
            "resources": [],
            "detail": {},
        }
        return json.dumps(tick).encode()
    method, path = functions().get(name) or ("GET", "/")
    path = re.sub(r"\{\w+\}", "1", path)
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"}
    key = "SG." + "a" * 22 + "." + "b" * 43
    call = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {key}", "content-type": "application/json"},
        "requestContext": {
            "accountId": "1",
            "apiId": "api",
            "domainName": "api.example.com",
            "domainPrefix": "api",
            "http": http | {"userAgent": "cold"},
            "requestId": "1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1767225600000,
        },
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
    return json.dumps(call).encode()


def memory(pid, field):
    """A figure of the process in MiB (VmRSS now, VmHWM at most)."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{field}:\s+(\d+)", status, re.MULTILINE)[1]) / 1024


async def start(binary, name, aws, events):
    """Runs the function until it has answered the events: seconds to the first, and its memory in MiB after the
    first, and at most."""
    runtime = Runtime(events)
    server = await asyncio.start_server(runtime.serve, "127.0.0.1", 0, limit=1 << 24)
    port = server.sockets[0].getsockname()[1]
    begun = time.perf_counter()
    child = subprocess.Popen(
        [binary],
        env=variables(port, aws),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        answered, kind, body = await asyncio.wait_for(runtime.answers.get(), 30)
        if kind != "response":
            sys.exit(f"{name} answered with an error: {body[:400]!r}")
        idle = memory(child.pid, "VmRSS")
        for _ in events[1:]:
            await asyncio.wait_for(runtime.answers.get(), 30)
        return answered - begun, idle, memory(child.pid, "VmHWM"), body
    finally:
        child.kill()
        child.wait()
        server.close()


def built(folder, name):
    path = folder / name
    return path / "bootstrap" if path.is_dir() else path


async def measure(options):
    empty = await asyncio.start_server(table, "127.0.0.1", 0)
    aws = empty.sockets[0].getsockname()[1]
    names = options.only or functions()
    binaries = {"hello": options.hello} | {name: built(options.folder, name) for name in names}
    times = {name: [] for name in binaries}
    idle = {}
    # Turn by turn, so that a busy moment of the machine falls on all.
    for _ in range(options.runs):
        for name, binary in binaries.items():
            seconds, idle[name], _, _ = await start(binary, name, aws, [event(name)])
            times[name].append(seconds)
    hello = statistics.median(times["hello"])
    print("| function | MB | start, ms | worst of ten, ms | times hello | memory, MiB |")
    print("|---|---|---|---|---|---|")
    for name, binary in binaries.items():
        median = statistics.median(times[name])
        worst = statistics.quantiles(times[name], n=10)[-1]
        print(
            f"| {name} | {binary.stat().st_size / 1e6:.1f} | {median * 1e3:.1f} | {worst * 1e3:.1f} "
            f"| {median / hello:.2f} | {idle[name]:.0f} |"
        )
    large = [name for name in binaries if binaries[name].stat().st_size > MOST_BYTES]
    print(f"\nover {MOST_BYTES / 1e6:.0f} MB: {', '.join(large) or 'none'}")
    if "mail-send" in names:
        times_hello = statistics.median(times["mail-send"]) / hello
        print(f"mail-send starts in {times_hello:.2f} times hello, of {MOST_TIMES}")
        content = base64.b64encode(bytes(4_400_000)).decode()
        body = json.dumps({"attachments": [{"content": content, "filename": "a"}]}).encode()
        events = [event("mail-send"), event("mail-send", body)]
        _, now, most, _ = await start(binaries["mail-send"], "mail-send", aws, events)
        print(f"mail-send with a body of {len(body) / 1e6:.1f} MB: {most - now:.0f} MiB above idle, of 64")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hello", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="*", help="these functions, not all")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
