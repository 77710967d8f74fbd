"""Reads mails back from the mailbox of the local host (Mailpit's REST calls)."""

import json
import time
import urllib.parse
import urllib.request


class Mailbox:
    def __init__(self, base):
        self.base = base
        self.waited = {}

    def open(self, path, timeout=30):
        return urllib.request.urlopen(self.base + path, timeout=timeout)

    def get(self, path):
        with self.open(path) as answer:
            return json.load(answer)

    def search(self, query, limit):
        return self.get(f"/api/v1/search?limit={limit}&query=" + urllib.parse.quote(query))

    def count(self, query):
        return self.search(query, 1)["messages_count"]

    def wait(self, query, count, patience=60, light=False):
        """The copies that match, oldest first, as soon as there are `count` of them.

        The mailbox tells of every change, so nothing here sleeps and asks again. With `light`,
        only the lines of the list.
        """
        self.waited[query] = count
        end = time.monotonic() + patience
        with self.open("/live", timeout=patience) as live:
            while (found := self.count(query)) < count:
                if time.monotonic() > end:
                    raise AssertionError(f"{found} of {count} mails came for {query}")
                # An event ends with an empty line; comments keep the stream alive.
                while live.readline().strip():
                    pass
        assert found == count, f"{found} mails came for {query}, wanted {count}"
        lines = self.search(query, 0)["messages"]
        return lines if light else [Copy(self, line["ID"]) for line in reversed(lines)]

    def check_again(self):
        """What was waited for has not become more since."""
        for query, count in self.waited.items():
            found = self.count(query)
            assert found == count, f"{found} mails by now for {query}, wanted {count}"


class Copy:
    """One recipient's copy: headers, bodies and files as they arrived."""

    def __init__(self, mailbox, identity):
        self.mailbox = mailbox
        self.id = identity
        self.message = mailbox.get(f"/api/v1/message/{identity}")
        self.told = mailbox.get(f"/api/v1/message/{identity}/events")
        self.headers = mailbox.get(f"/api/v1/message/{identity}/headers")

    @property
    def recipient(self):
        (recipient,) = self.told["Envelope"]["To"]
        return recipient

    @property
    def subject(self):
        return self.message["Subject"]

    @property
    def text(self):
        return lines(self.message["Text"])

    @property
    def html(self):
        return lines(self.message["HTML"])

    def people(self, field):
        """Pairs of name and address of `From`, `To`, `Cc`, `Bcc` or `ReplyTo`."""
        found = self.message[field]
        found = found if isinstance(found, list) else [found]
        return [(person["Name"], person["Address"]) for person in found]

    def files(self, field="Attachments"):
        """File name → type, content id, bytes."""
        return {
            part["FileName"]: (part["ContentType"], part["ContentID"], self.part(part["PartID"]))
            for part in self.message[field]
        }

    def part(self, number):
        with self.mailbox.open(f"/api/v1/message/{self.id}/part/{number}") as answer:
            return answer.read()


def lines(text):
    """Mail ends its lines with CR LF; what was sent had LF."""
    return text.replace("\r\n", "\n")
