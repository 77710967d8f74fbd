"""Mails handed in while things go wrong, and what became of each."""

import collections
import http.client
import json
import threading
import time

from local import Relay

MEMBERS = {"message", "field", "help"}


def shapely(body):
    """Whether an error's body has the contract's shape."""
    try:
        errors = json.loads(body)["errors"]
        return bool(errors) and all(set(one) == MEMBERS and one["message"] for one in errors)
    except (ValueError, KeyError, TypeError):
        return False


class Load:
    """Hands in mails, `rate` a second at most, until it is told to stop.

    `post(body)` gives status, body and headers of POST /v3/mail/send. `more(number)` is what a mail has
    beside the usual.
    """

    def __init__(self, post, rate, more=lambda number: {}, threads=8):
        self.post, self.more, self.pause = post, more, threads / rate
        self.accepted, self.refused, self.unanswered = {}, [], 0
        self.shapeless, self.longest = [], 0.0
        self.next, self.lock, self.over = 0, threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.work) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def work(self):
        while not self.over.is_set():
            with self.lock:
                number, self.next = self.next, self.next + 1
            began = time.time()
            try:
                status, body, headers = self.post(mail(number, self.more(number)))
            except (OSError, http.client.HTTPException):
                with self.lock:
                    self.unanswered += 1
                continue
            with self.lock:
                self.longest = max(self.longest, time.time() - began)
                if status == 202:
                    self.accepted[number] = headers["x-message-id"]
                else:
                    self.refused.append((time.time(), status))
                    if not shapely(body):
                        self.shapeless.append((status, body))
            self.over.wait(max(0.0, began + self.pause - time.time()))

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def under_way(self):
        return self.accepted.keys() - Relay.seen.keys()

    def statuses(self):
        return dict(collections.Counter(status for _, status in self.refused))

    def failures(self):
        """(second, 1) of each 5xx, which is what the gateway counts."""
        return [(at, 1) for at, status in self.refused if status >= 500]


def mail(number, more):
    return {
        "personalizations": [{"to": [{"email": f"r{number}@example.com"}]}],
        "from": {"email": "news@example.com"},
        "subject": "drill",
        "headers": {"X-Drill": str(number)},
        "content": [{"type": "text/plain", "value": "did it arrive?"}],
        **more,
    }
