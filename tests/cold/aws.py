"""What a function meets when it starts: Lambda's Runtime API, and a table that holds nothing."""

import asyncio
import json
import time


async def request(reader):
    """The method, path, headers and body of a request; None when nothing more comes."""
    try:
        line = await reader.readline()
    except (ConnectionError, asyncio.CancelledError):
        return None
    if not line:
        return None
    method, path, _ = line.decode().split(" ", 2)
    headers = {}
    while (line := await reader.readline()).strip():
        name, value = line.decode().split(":", 1)
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", 0))
    if length:
        body = await reader.readexactly(length)
    elif headers.get("transfer-encoding") == "chunked":
        body = await chunks(reader)
    else:
        body = b""
    return method, path, headers, body


async def chunks(reader):
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def reply(status, body=b"", **headers):
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Runtime:
    """Hands one event to the function that asks first, and notes when and what it answered."""

    def __init__(self, events):
        self.events = list(events)
        self.answers = asyncio.Queue()

    async def serve(self, reader, writer):
        while asked := await request(reader):
            method, path, _, body = asked
            if method == "GET" and path.endswith("/invocation/next"):
                if not self.events:
                    # Lambda holds the question until there is an event; here none will come.
                    return
                event = self.events.pop(0)
                writer.write(
                    reply(
                        200,
                        event,
                        content_type="application/json",
                        lambda_runtime_aws_request_id="8476a536-e9f4-11e8-9739-2dfe598c3fcd",
                        lambda_runtime_deadline_ms=int(time.time() * 1000) + 29_000,
                        lambda_runtime_invoked_function_arn="arn:aws:lambda:us-east-1:1:function:x",
                    )
                )
            else:
                self.answers.put_nowait((time.perf_counter(), path.rsplit("/", 1)[-1], body))
                writer.write(reply(202))
            await writer.drain()


async def table(reader, writer):
    """DynamoDB with an empty table."""
    while asked := await request(reader):
        operation = asked[2].get("x-amz-target", "").rsplit(".", 1)[-1]
        empty = {"Items": [], "Count": 0, "ScannedCount": 0} if operation == "Query" else {}
        body = json.dumps(empty).encode()
        writer.write(reply(200, body, content_type="application/x-amz-json-1.0"))
        await writer.drain()
