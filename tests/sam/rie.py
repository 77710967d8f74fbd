#!/usr/bin/env python3
"""The built functions before AWS's own Runtime Interface Emulator, as `sam local` and Lambda's images run
them: mail-send takes a mail, delivery sends it to a relay.

The stack is deployed onto the emulator of tests/stack; what a function finds in its environment is what the
template gives it there. What the emulator would invoke by itself (delivery, by the send queue) is switched
off, so that this test is who invokes.
"""

import http.client
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/stack"))

from drive import mail, sender, step  # noqa: E402
from parts import Api, Emulator, Relay, credentials, end, first_key, free_port, until  # noqa: E402
from stack import client, deploy  # noqa: E402
from tap import Tap  # noqa: E402

INVOKE = "/2015-03-31/functions/function/invocations"
MACHINES = {"x86_64": "x86_64", "aarch64": "arm64"}


def emulator_of_aws():
    """The program as aws-sam-cli brings it."""
    name = f"aws-lambda-rie-{MACHINES[platform.machine()]}"
    found = list(ROOT.glob(f"tests/.venv/sam/lib/python3*/site-packages/samcli/local/rapid/{name}"))
    if not found:
        sys.exit(f"{name} is not there: tests/venv sam brings it")
    return found[0]


class Function:
    """One function before the Runtime Interface Emulator."""

    def __init__(self, name, binary, variables, endpoint):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        own = {
            "PATH": os.environ["PATH"],
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "LAMBDA_TASK_ROOT": str(binary.parent),
            **{k: v for k, v in credentials(endpoint).items() if k.startswith("AWS_")},
            **variables,
            "AWS_ENDPOINT_URL": endpoint,
        }
        command = [
            emulator_of_aws(),
            f"--runtime-interface-emulator-address=127.0.0.1:{self.port}",
            f"--runtime-api-address=127.0.0.1:{free_port()}",
            binary,
        ]
        self.log = pathlib.Path(self.folder.name) / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=own, cwd=self.folder.name, stdout=log, stderr=log)
        until(f"{name} can be invoked", self.listens, 30)

    def listens(self):
        if self.process.poll() is not None:
            sys.exit(self.log.read_text(errors="replace"))
        try:
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=5).connect()
        except OSError:
            return False
        return True

    def invoke(self, event):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", INVOKE, json.dumps(event))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status != 200:
            sys.exit(f"an invocation: {answer.status} {text}\n{self.log.read_text(errors='replace')}")
        return json.loads(text)

    def stop(self):
        end(self.process, 20)
        self.folder.cleanup()


def request(key, body):
    """POST /v3/mail/send as API Gateway hands it on (payload format 2.0)."""
    path = "/v3/mail/send"
    return {
        "version": "2.0",
        "routeKey": f"POST {path}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {key}", "content-type": "application/json"},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "domainName": "api.execute-api.us-east-1.amazonaws.com",
            "domainPrefix": "api",
            "http": {"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1",
                     "userAgent": "test"},
            "requestId": "request",
            "routeKey": f"POST {path}",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1767225600000,
        },
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def batch(messages):
    """Messages of SQS as Lambda hands them on."""
    return {"Records": [{
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:send",
        "awsRegion": "us-east-1",
    } for message in messages]}


def not_by_itself(lambdas, resources):
    """Stops the emulator from invoking delivery."""
    [mapping] = lambdas.list_event_source_mappings(FunctionName=resources["DeliveryFunction"])["EventSourceMappings"]
    lambdas.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    off = lambda: lambdas.get_event_source_mapping(UUID=mapping["UUID"])["State"] == "Disabled"
    until("delivery is left alone", off, 60)


class Queue:
    """The send queue, read by this test."""

    def __init__(self, endpoint, url):
        self.queues, self.url = client("sqs", endpoint), url
        self.have = []

    def take(self, count):
        def there():
            got = self.queues.receive_message(
                QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=1, AttributeNames=["All"]
            )
            self.have += got.get("Messages", [])
            return len(self.have) >= count

        until(f"{count} jobs are queued", there, 60)
        taken, self.have = self.have, []
        if len(taken) != count:
            sys.exit(f"{len(taken)} jobs instead of {count}")
        return taken


def expect(status, answer):
    if answer["statusCode"] != status:
        sys.exit(f"{answer} instead of {status}")
    return answer


def taken(mail_send, queue, key):
    """What is right is queued, what is wrong is refused."""
    answer = expect(202, mail_send.invoke(request(key, mail("By hand"))))
    message = answer["headers"]["x-message-id"]
    bad = mail("Bad")
    del bad["personalizations"][0]["to"]
    problems = json.loads(expect(400, mail_send.invoke(request(key, bad)))["body"])["errors"]
    if not any("personalizations" in (one["field"] or "") for one in problems):
        sys.exit(f"a bad request is refused otherwise: {problems}")
    expect(401, mail_send.invoke(request("SG." + "a" * 22 + "." + "b" * 43, mail("Stranger"))))
    step(f"mail-send answers 202 with X-Message-Id {message}, 400 and 401")
    return message, queue.take(1)


def delivered(delivery, relay, message, jobs):
    for _ in range(2):
        answer = delivery.invoke(batch(jobs))
        if answer != {"batchItemFailures": []}:
            sys.exit(f"delivery answers {answer}")
    [got] = relay.with_subject("By hand")
    if message not in str(got["message-id"]) or got.get_content().strip() != "The sun is up.":
        sys.exit(f"another mail: {got}")
    step("delivery sends it to the relay, and only once when the job comes twice")


def partly(mail_send, delivery, broken, relay, queue, key):
    """Of a batch only that comes back which the table fails for."""
    for subject in ("First", "Second"):
        answer = expect(202, mail_send.invoke(request(key, mail(subject))))
        if subject == "Second":
            broken.add(answer["headers"]["x-message-id"].encode())
    jobs = queue.take(2)
    [fails] = [one["MessageId"] for one in jobs if any(name.decode() in one["Body"] for name in broken)]
    answer = delivery.invoke(batch(jobs))
    if answer != {"batchItemFailures": [{"itemIdentifier": fails}]}:
        sys.exit(f"of a batch with one that fails comes back {answer}")
    broken.clear()
    answer = delivery.invoke(batch(jobs))
    if answer != {"batchItemFailures": []}:
        sys.exit(f"of the same batch, mended, comes back {answer}")
    count = [len(relay.with_subject(subject)) for subject in ("First", "Second")]
    if count != [1, 1]:
        sys.exit(f"the relay got {count}")
    step("of a batch the one that failed comes back, and nothing is sent twice for it")


def main():
    binaries, posthaste = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    relay, emulator = Relay(), Emulator()
    broken, running = set(), []

    def fault(call):
        """The table refuses what is about a broken mail."""
        if call.service == "dynamodb" and any(name in call.body for name in broken):
            error = {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": "broken"}
            return 500, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(error)
        return None

    tap = Tap(emulator.port, fault=fault)
    try:
        parameters = {"Delivery": f"smtp://127.0.0.1:{relay.port}?tls=none", "HostnameOfService": "mail.example.com"}
        resources = deploy(emulator.url, binaries, parameters)
        key = first_key(posthaste, resources["Table"], emulator.url)
        sender(Api(emulator.port, resources["Api"], key), relay)
        lambdas = client("lambda", emulator.url)
        not_by_itself(lambdas, resources)
        for name, logical in (("mail-send", "MailSendFunction"), ("delivery", "DeliveryFunction")):
            given = lambdas.get_function_configuration(FunctionName=resources[logical])
            variables = given["Environment"]["Variables"]
            running.append(Function(name, binaries / name / "bootstrap", variables, tap.url))
        mail_send, delivery = running
        step("mail-send and delivery run before the Runtime Interface Emulator")
        queue = Queue(emulator.url, resources["SendQueue"])
        message, jobs = taken(mail_send, queue, key)
        delivered(delivery, relay, message, jobs)
        partly(mail_send, delivery, broken, relay, queue, key)
    except BaseException:
        for function in running:
            print(function.log.read_text(errors="replace")[-4000:])
        raise
    finally:
        for function in running:
            function.stop()
        tap.close()
        emulator.stop()
        relay.controller.stop()
    print("the functions answer the Runtime Interface Emulator as they must")
    return 0


if __name__ == "__main__":
    sys.exit(main())
