"""What a call to AWS means, read from its wire form."""

import json
import re
import urllib.parse

SCOPE = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request")
APP = re.compile(r"\bapp/([^\s#]+)")
CBOR = re.compile(r"/service/[^/]+/operation/([A-Za-z]+)")
# The beginning of the path of a caller whose client does not say whose it is.
CALLER = re.compile(r"/by/([\w-]+)(?=/)")
# SES's second API; what else of it is called is told by method and path.
SES = {("POST", "/v2/email/outbound-emails"): "SendEmail"}


def as_caller(url, app):
    """The address of a tap at this URL for a program whose calls it is to know."""
    return f"{url}/by/{app}"


def caller(path):
    """The program that a path names, if it does, and the path without it."""
    found = CALLER.match(path)
    return (found.group(1), path[found.end():]) if found else ("", path)


def meaning(method, path, headers, body):
    """Service, operation, what it is on, by whom, and the bytes of each message it carries."""
    target = headers.get("x-amz-target", "")
    scope = SCOPE.search(headers.get("authorization", ""))
    service = scope.group(1) if scope else ""
    app = APP.search(headers.get("user-agent", "") + " " + headers.get("x-amz-user-agent", ""))
    plain = urllib.parse.unquote(path.split("?")[0])
    operation, on, entries = f"{method} {plain}", "", []
    if target:
        operation = target.rsplit(".", 1)[-1]
        on, entries = carried(operation, json.loads(body or b"{}"))
        service = service or target.split("_")[0].split(".")[0].lower()
    elif found := CBOR.match(plain):
        operation = found.group(1)
    elif service == "s3":
        bucket, _, key = plain.strip("/").partition("/")
        operation, on = of_object(method, path, key), bucket
    elif body.startswith(b"Action=") or b"&Action=" in body:
        operation = urllib.parse.parse_qs(body.decode())["Action"][0]
    elif named := SES.get((method, plain)):
        operation = named
    return {
        "service": service,
        "operation": operation,
        "on": on,
        "app": app.group(1) if app else "",
        "entries": entries,
    }


def of_object(method, path, key):
    """The operation's name of a call to S3: its price goes by these."""
    query = path.partition("?")[2]
    if method == "GET" and (not key or "list-type" in query):
        return "ListObjects"
    names = {"GET": "GetObject", "PUT": "PutObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}
    if method == "POST" and "delete" in query:
        return "DeleteObjects"
    return names.get(method, method)


def carried(operation, request):
    """What a JSON call is on, and the bytes of each message or event."""
    on = request.get("TableName") or request.get("QueueUrl", "").rsplit("/", 1)[-1]
    on = on or request.get("SecretId") or request.get("Name") or ""
    entries = []
    if operation == "SendMessage":
        entries = [message_bytes(request)]
    elif operation == "SendMessageBatch":
        entries = [message_bytes(one) for one in request["Entries"]]
    elif operation == "PutEvents":
        on = request["Entries"][0].get("EventBusName", "default") if request["Entries"] else ""
        entries = [event_bytes(one) for one in request["Entries"]]
    elif operation in ("BatchWriteItem", "BatchGetItem"):
        on = ",".join(request["RequestItems"])
    elif operation.startswith("Transact"):
        items = [next(iter(one.values())) for one in request["TransactItems"]]
        on = ",".join(sorted({item["TableName"] for item in items}))
    return on, entries


def message_bytes(message):
    """The size that SQS sees: the body, and name, type and value of each attribute."""
    attributes = message.get("MessageAttributes") or {}
    total = len(message["MessageBody"].encode())
    for name, value in attributes.items():
        inside = value.get("StringValue") or value.get("BinaryValue") or ""
        total += len(name) + len(value["DataType"]) + len(inside.encode())
    return total


def event_bytes(event):
    """The size that EventBridge sees: source, type, detail and resources, and 14 for a time."""
    total = 14 if "Time" in event else 0
    for name in ("Source", "DetailType", "Detail"):
        total += len(event.get(name, "").encode())
    return total + sum(len(one.encode()) for one in event.get("Resources") or [])
