"""The webhook that hears of everything: takes the posts, counts events and bytes."""

import http.server
import json
import threading


class Receiver:
    """Answers every post with 200."""

    def __init__(self, address):
        self.lock = threading.Lock()
        self.events = {}
        self.posts = 0
        self.bytes = 0
        handler = type("Handler", (Post,), {"receiver": self})
        self.server = http.server.ThreadingHTTPServer((address, 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://{address}:{self.server.server_address[1]}/events"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def took(self, body, head):
        with self.lock:
            self.posts += 1
            self.bytes += len(body) + head
            for event in json.loads(body):
                self.events[event["sg_event_id"]] = event["event"]

    def count(self, kind):
        """How many different events of a kind have come."""
        with self.lock:
            return sum(one == kind for one in self.events.values())

    def taken(self):
        """Posts and bytes since this was last asked."""
        with self.lock:
            told, self.posts, self.bytes = (self.posts, self.bytes), 0, 0
        return told

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Post(http.server.BaseHTTPRequestHandler):
    receiver = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        head = len(self.requestline) + 2 + sum(len(k) + len(v) + 4 for k, v in self.headers.items()) + 2
        self.receiver.took(body, head)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
