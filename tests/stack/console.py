"""The console of the stack: its owner signs in by the link that was made with it, and follows one mail."""

import http.client
import re
import sys
import urllib.parse

from parts import until


class Browser:
    """What a browser sends: the cookie of the session, and the origin of the page."""

    def __init__(self, api, origin):
        self.api = api
        self.origin = origin
        self.cookie = ""

    def ask(self, method, path, body=None, **headers):
        """Status, text and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"Host": self.api.host, "Cookie": self.cookie}
        if method != "GET":
            headers["Origin"] = self.origin
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def expect(self, status, method, path, body=None, **headers):
        got, text, headers = self.ask(method, path, body, **headers)
        if got != status:
            sys.exit(f"{method} {path} of the console: {got} instead of {status}: {text}")
        return text, headers

    def form(self, status, path, **fields):
        """A form of a page."""
        kind = "application/x-www-form-urlencoded"
        return self.expect(status, "POST", path, urllib.parse.urlencode(fields), content_type=kind)

    def call(self, status, method, path, body=None):
        """A call of the API that a page makes."""
        more = {"x_posthaste_console": "1", "content_type": "application/json"}
        return self.expect(status, method, path, body, **more)


def followed(api, link, mail):
    """A mail that the session sends is seen on its page until it is delivered; then the session ends. The steps."""
    url = urllib.parse.urlsplit(link)
    if not url.hostname.startswith(api.host.partition(".")[0] + ".execute-api."):
        sys.exit(f"the link leads to another API: {url.hostname}")
    # The emulator's gateway calls itself otherwise than its address in the outputs says.
    browser = Browser(api, f"https://{api.host.partition(':')[0]}")
    page, _ = browser.expect(200, "GET", f"{url.path}?{url.query}")
    token = urllib.parse.parse_qs(url.query)["token"][0]
    if token not in page:
        sys.exit(f"the page of the link has no form with it: {page}")
    _, headers = browser.form(303, url.path, token=token, next="/console")
    cookie = headers["set-cookie"]
    if not re.fullmatch(r"__Host-posthaste=[\w.-]{77}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure", cookie):
        sys.exit(f"the cookie of a session over HTTPS: {cookie}")
    browser.form(401, url.path, token=token)
    browser.cookie = cookie.split(";")[0]
    page, _ = browser.expect(200, "GET", headers["location"])
    if "<h1>Overview</h1>" not in page:
        sys.exit(f"the link leads elsewhere: {page}")
    _, headers = browser.call(202, "POST", "/v3/mail/send", mail)
    path = f"/console/activity/{headers['x-message-id']}"

    def life():
        status, text, _ = browser.ask("GET", path)
        return text if status == 200 and "Delivered" in text else None

    page = until("the console shows the mail as delivered", life, 90)
    for words in ("Followed", "Accepted", "ada@example.net"):
        if words not in page:
            sys.exit(f"{words} is not in {page}")
    page, _ = browser.expect(200, "GET", "/console/access")
    if "this session" not in page:
        sys.exit(f"the session is not listed: {page}")
    stolen = Browser(api, "https://evil.example")
    stolen.cookie = browser.cookie
    stolen.call(403, "DELETE", "/v3/access_settings/sessions")
    browser.form(303, "/console/sign-out")
    _, headers = browser.expect(303, "GET", "/console")
    if not headers["location"].startswith("/console/sign-in"):
        sys.exit(f"a session that has ended leads to {headers['location']}")
    return [
        "the link of the stack opened one session of the console, in whose pages a mail was followed",
        "the cookie of that session is of HTTPS and of its origin alone, and of no use once it has ended",
    ]
