"""AWS on a bad day, as faults for a tap: of the calls to the table, the queues, SES, the bucket and the secrets one in
twenty is refused, by each refusal that its service has.

With STACK_FAULTS set, the functions of drive.py, ses.py and restore.py have such a day, and the operator's commands there:

    STACK_FAULTS=1 tests/stack/run --built
"""

import http.client
import json
import os
import random
import threading

ONE_IN = 20
WRITES = {"PutItem", "UpdateItem", "DeleteItem"}
BATCHES = {"BatchWriteItem": ("UnprocessedItems", {}), "BatchGetItem": ("UnprocessedKeys", {"Responses": {}})}
SENDS = {"SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"}


def error(status, kind, text="a bad day", **more):
    """An error in JSON, as most services write it."""
    headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-ErrorType": kind}
    return status, headers, json.dumps({"__type": kind, "message": text, **more})


def answer(body):
    return 200, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(body)


class BadDay:
    """Give `fault` to a tap. The same calls in the same order meet the same faults."""

    def __init__(self, upstream_port, one_in=ONE_IN):
        self.upstream_port = upstream_port
        self.one_in = one_in
        self.random = random.Random(20)
        self.lock = threading.Lock()
        self.met = {}
        """How many calls met each fault."""

    def strikes(self, name):
        with self.lock:
            if self.random.randrange(self.one_in):
                return False
            self.met[name] = self.met.get(name, 0) + 1
            return True

    def fault(self, call):
        for name, applies, make in FAULTS:
            if applies(call) and self.strikes(name):
                return make(self, call)
        return None

    def partly(self, call):
        """The first message of a batch fails; the others are passed on."""
        request = call.json()
        first, *rest = request["Entries"]
        failed = {"Id": first["Id"], "Code": "InternalError", "SenderFault": False, "Message": "a bad day"}
        found = {"Successful": []}
        if rest:
            body = json.dumps({**request, "Entries": rest})
            headers = {k: v for k, v in call.headers.items() if k.lower() not in ("connection", "content-length")}
            upstream = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=60)
            upstream.request(call.method, call.path, body, headers)
            found = json.loads(upstream.getresponse().read())
            upstream.close()
        return answer({**found, "Failed": [*found.get("Failed", []), failed]})


def throttled(_day, _call):
    return error(400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException")


def collided(_day, call):
    if call.operation == "TransactWriteItems":
        reasons = [{"Code": "TransactionConflict"} for _ in call.json()["TransactItems"]]
        return error(400, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", CancellationReasons=reasons)
    return error(400, "com.amazonaws.dynamodb.v20120810#TransactionConflictException")


def unprocessed(_day, call):
    member, body = BATCHES[call.operation]
    return answer({**body, member: call.json()["RequestItems"]})


def slow_down(_day, _call):
    body = "<Error><Code>SlowDown</Code><Message>a bad day</Message></Error>"
    return 503, {"Content-Type": "application/xml"}, body


FAULTS = [
    ("table: throttled", lambda call: call.service == "dynamodb", throttled),
    ("table: conflict", lambda call: call.operation in WRITES | {"TransactWriteItems"}, collided),
    ("table: batch", lambda call: call.operation in BATCHES, unprocessed),
    ("queue: throttled", lambda call: call.service == "sqs", lambda *_: error(400, "RequestThrottled")),
    ("queue: partly", lambda call: call.operation in SENDS, BadDay.partly),
    (
        "ses: rate", lambda call: call.operation == "SendEmail",
        lambda *_: error(429, "TooManyRequestsException", "Maximum sending rate exceeded."),
    ),
    (
        "ses: control", lambda call: call.service == "ses" and call.operation != "SendEmail",
        lambda *_: error(429, "TooManyRequestsException", "Too many requests"),
    ),
    ("bucket: slow down", lambda call: call.service == "s3", slow_down),
    ("secrets: throttled", lambda call: call.service == "secretsmanager", lambda *_: error(400, "ThrottlingException")),
]


def if_wanted(upstream_port):
    """A bad day, or None."""
    return BadDay(upstream_port) if os.environ.get("STACK_FAULTS") else None
