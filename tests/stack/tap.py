"""Stands between what calls AWS and the emulator: counts every call, and can let one go wrong.

A program is tapped by its AWS_ENDPOINT_URL: `http://127.0.0.1:{tap.port}`. What comes is passed on as
it is, Host and signature included, but for the caller's name at the beginning of a path (`as_caller` in wire.py). What the emulator does by itself (a queue polled for a function)
passes no tap.

`fault` is asked before a call is passed on, by the thread of its connection. It gets the Call, and
what it returns decides: None passes it on, a number passes it on after so many seconds, a tuple
(status, headers, body) is the answer, and HANG_UP closes the connection without one.

`seen` is told of each call after its answer, with both bodies; kept calls have none, for the bodies of
a long run would fill the memory.
"""

import dataclasses
import http.client
import http.server
import json
import select
import socket
import sys
import threading
import time

from wire import caller, meaning

HANG_UP = object()

# What belongs to one connection and not to the message (RFC 9110, 7.6.1).
OF_THE_CONNECTION = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "expect"}


@dataclasses.dataclass
class Call:
    """One call to AWS and what came of it."""

    service: str
    """As in the signature: dynamodb, sqs, s3, ses, events, secretsmanager, ssm, monitoring, logs."""
    operation: str
    """The operation's name where the protocol says it, otherwise method and path."""
    on: str
    """The table, queue, bucket or bus; empty where the call names none."""
    app: str
    """AWS_SDK_UA_APP_ID of the caller, or the name in its path, so that calls can be told apart by function."""
    entries: list
    """The bytes of each message or event it carries."""
    method: str
    path: str
    headers: dict
    body: bytes
    sent: int
    """Bytes of the request's body."""
    at: float = dataclasses.field(default_factory=time.time)
    status: int = 0
    """0 while there is no answer, and where none came."""
    answer: bytes = b""
    received: int = 0
    """Bytes of the answer's body."""
    seconds: float = 0.0
    """Until the answer was there, delays of a fault included."""
    faulted: bool = False
    """Whether the answer, or that there is none, is the fault's doing."""

    def json(self):
        """The request, where it is JSON."""
        return json.loads(self.body or b"{}")


class Tap:
    """A proxy on a port of its own. Everything on it may be used from any thread."""

    def __init__(self, upstream_port, fault=None, seen=None):
        self.upstream_port = upstream_port
        self.fault = fault
        self.seen = seen
        self.closing = threading.Event()
        self._calls = []
        self._lock = threading.Lock()
        self._open = set()
        handler = type("Handler", (Connection,), {"tap": self})
        self.server = Server(("127.0.0.1", 0), handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True)
        self.thread.start()

    @property
    def calls(self):
        """The calls that have ended so far, in the order in which they did."""
        with self._lock:
            return list(self._calls)

    def clear(self):
        """Forgets the calls so far; gives them."""
        with self._lock:
            calls, self._calls = self._calls, []
        return calls

    def close(self):
        """Ends what waits, hangs up on everybody and stops."""
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        with self._lock:
            waiting = list(self._open)
        for connection in waiting:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.thread.join()

    def joined(self, connection, there):
        with self._lock:
            (self._open.add if there else self._open.discard)(connection)

    def keep(self, call):
        if self.seen:
            self.seen(call)
        call.body = call.answer = b""
        with self._lock:
            self._calls.append(call)


def readable(connection):
    """Whether something has come; on a connection that waits for nothing that is its end. `select` knows no
    more than 1,024 files, and functions open that many."""
    asked = select.poll()
    asked.register(connection, select.POLLIN)
    return bool(asked.poll(0))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """A caller that went away is no news; anything else is a fault of the tap's and is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Connection(http.server.BaseHTTPRequestHandler):
    """One caller's connection, and one of its own to the emulator."""

    tap = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    upstream = None

    def setup(self):
        super().setup()
        self.tap.joined(self.connection, True)

    def finish(self):
        self.tap.joined(self.connection, False)
        if self.upstream:
            self.upstream.close()
        super().finish()

    def log_message(self, *_):
        pass

    def request_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def take(self):
        body = self.request_body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        app, path = caller(self.path)
        call = Call(
            **meaning(self.command, path, headers, body),
            method=self.command, path=path, headers=headers, body=body, sent=len(body),
        )
        call.app = app or call.app
        began = time.monotonic()
        answer = self.answer(call)
        call.seconds = time.monotonic() - began
        if answer is HANG_UP:
            self.close_connection = True
            self.tap.keep(call)
            return
        call.status, given, call.answer = answer
        call.received = len(call.answer)
        # Kept first: whoever has an answer finds its call.
        self.tap.keep(call)
        self.give(*answer[:2], answer[2], call.method == "HEAD")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = take

    def answer(self, call):
        """Status, headers and body; or HANG_UP."""
        wanted = self.tap.fault(call) if self.tap.fault else None
        if isinstance(wanted, (int, float)):
            call.faulted = True
            if self.tap.closing.wait(wanted):
                return HANG_UP
        elif wanted is not None:
            call.faulted = True
            return wanted
        return self.passed_on(call)

    def passed_on(self, call):
        """Asks the emulator; one that breaks off is broken off here too, as the caller would see it."""
        headers = {k: v for k, v in call.headers.items() if k not in OF_THE_CONNECTION}
        headers["content-length"] = str(len(call.body))
        try:
            upstream = self.connected()
            upstream.putrequest(call.method, call.path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                upstream.putheader(name, value)
            upstream.endheaders(call.body)
            answer = upstream.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self.upstream.close()
            self.upstream = None
            return HANG_UP
        return answer.status, answer.getheaders(), body

    def connected(self):
        """The connection to the emulator; a new one where it has closed the last meanwhile."""
        if self.upstream and self.upstream.sock and readable(self.upstream.sock):
            self.upstream.close()
        if not self.upstream:
            self.upstream = http.client.HTTPConnection("127.0.0.1", self.tap.upstream_port)
        if not self.upstream.sock:
            self.upstream.connect()
            self.upstream.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.upstream

    def give(self, status, headers, body, bare):
        if isinstance(body, str):
            body = body.encode()
        lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, '')}"]
        length = str(len(body))
        for name, value in headers.items() if isinstance(headers, dict) else headers:
            if name.lower() == "content-length":
                length = value if bare else length
            elif name.lower() not in OF_THE_CONNECTION:
                lines.append(f"{name}: {value}")
        if status >= 200 and status not in (204, 304):
            lines.append(f"Content-Length: {length}")
        head = "\r\n".join(lines) + "\r\n\r\n"
        self.wfile.write(head.encode("latin-1") + (b"" if bare else body))
