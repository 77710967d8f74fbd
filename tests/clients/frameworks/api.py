"""Calls to the API of a host, and mail to its port for received mail."""

import json
import smtplib
import urllib.request


class Api:
    def __init__(self, base, key):
        self.base, self.key = base, key

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def parse(self, domain, url):
        """Posts mail for `in.DOMAIN` parsed and mail for `raw.DOMAIN` whole to a URL."""
        self.call("POST", "/v3/whitelabel/domains", {"domain": domain})
        for hostname, raw in ((f"in.{domain}", False), (f"raw.{domain}", True)):
            setting = {"hostname": hostname, "url": url, "send_raw": raw}
            self.call("POST", "/v3/user/webhooks/parse/settings", setting)


def deliver(smtp, recipient, raw):
    """Hands a mail to the port for received mail."""
    with smtplib.SMTP(*smtp) as server:
        server.ehlo("mail.sender.example")
        server.sendmail("ann@sender.example", [recipient], raw)
