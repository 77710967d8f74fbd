"""The part of the journey through the console that is about event webhooks: one made, tested, signed; it fails, is seen, and
its events are posted again."""

import http.server
import json
import re
import threading
import time

import run
from run import call

NAME = "The shop's <events>"


class Receiver(http.server.ThreadingHTTPServer):
    """Takes posts, and answers with the status it is set to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ReceiverHandler)
        self.status = 503
        self.posts = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/events"

    def events(self):
        """The ids of the events that it took."""
        return [event["sg_event_id"] for status, body in self.posts if status == 200 for event in json.loads(body)]


class ReceiverHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.posts.append((self.server.status, body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b"out of <order>" if self.server.status != 200 else b"thanks")

    def log_message(self, *_):
        pass


def created(page, host, checks, receiver):
    page.goto(host.api + "/console/webhooks")
    page.get_by_text("No webhook yet").wait_for()
    page.get_by_label("Address").fill(receiver.url)
    page.get_by_label("Name").fill(NAME)
    for label in ("opened", "clicked", "processed"):
        page.get_by_label(label, exact=True).uncheck()
    page.get_by_role("button", name="Create the webhook").click()
    page.wait_for_url(re.compile("/console/webhooks/[0-9a-f-]+"))
    checks.that(page.locator("h1").inner_text() == NAME, "the webhook is open")
    stored = call(host, "GET", "/v3/user/webhooks/event/settings/all")["webhooks"][0]
    wanted = (stored["enabled"], stored["delivered"], stored["open"], stored["friendly_name"])
    checks.that(wanted == (True, True, False, NAME), f"what is stored: {stored}")
    return stored["id"]


def tested(page, checks, receiver):
    """The request and the answer, of a receiver that fails and of one that takes it."""
    page.get_by_role("button", name="Post a test").click()
    page.locator("#tested [data-of=status_code]").get_by_text("503").wait_for()
    checks.that(page.locator("#tested [data-of=answer]").inner_text() == "out of <order>", "the answer is shown")
    body = page.locator("#tested [data-of=body]").inner_text()
    checks.that(body.encode() == receiver.posts[-1][1], "the body is shown byte for byte")
    checks.that("sendgrid event api" in page.locator("#tested [data-of=headers]").inner_text().lower(), "the headers are shown")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign posts").click()
    receiver.status = 200
    page.get_by_role("button", name="Post a test").click()
    page.locator("#tested [data-of=status_code]").get_by_text("200").wait_for()
    checks.that("signature" in page.locator("#tested [data-of=headers]").inner_text(), "the test is signed")
    receiver.posts.clear()


def key_shown(page, host, checks, webhook):
    key = call(host, "GET", f"/v3/user/webhooks/event/settings/signed/{webhook}")["public_key"]
    checks.that(page.locator("#public-key").inner_text() == key, "the public key is shown")
    page.locator("summary", has_text="Python").click()
    page.get_by_text("convert_public_key_to_ecdsa").wait_for()


def failed_and_replayed(page, host, checks, receiver, webhook):
    receiver.status = 503
    run.send(host, "hooked@example.com", "An event that is not taken")
    path = f"/v3/user/webhooks/event/posts?webhook_id={webhook}&status=failed"
    run.until(lambda: call(host, "GET", path)["result"], "a failed post is in the log")
    page.goto(f"{host.api}/console/webhooks/{webhook}?status=failed")
    row = page.locator("#posts").locator("xpath=ancestor::section").locator("tbody tr").first
    checks.that("503" in row.inner_text() and "delivered" in row.inner_text(), f"the failed post: {row.inner_text()}")
    row.get_by_role("link").click()
    page.get_by_text("out of <order>").first.wait_for()
    checks.that("X-Twilio-Email-Event-Webhook-Signature" in page.locator("main").inner_text(), "its signature is shown")
    checks.that("hooked@example.com" in page.locator("pre.tall").first.inner_text(), "its body is shown")
    event = json.loads(receiver.posts[-1][1])[0]["sg_event_id"]
    receiver.status = 200
    page.get_by_role("button", name="Post again: delivered hooked@example.com").first.click()
    page.get_by_text("1 queued").wait_for()
    run.until(lambda: event in receiver.events(), "the event is posted again")
    page.get_by_role("link", name="Close").click()
    page.wait_for_url(re.compile("/console/webhooks/[0-9a-f-]+$"))
    page.locator("td .pill.good", has_text="200").first.wait_for()
    checks.that(True, "the page shows that it was taken")
    mail = call(host, "GET", "/v3/messages?query=" + "to_email%3D%22hooked@example.com%22")["messages"][0]["msg_id"]
    before = len(receiver.events())
    page.locator("summary", has_text="Post events again").click()
    page.get_by_label("Those of a mail").fill(mail)
    page.get_by_role("button", name="Post again").first.click()
    page.locator("#queued-mail").get_by_text("1 events are queued").wait_for()
    run.until(lambda: len(receiver.events()) > before, "the events of a mail are posted again")


def changed(page, host, checks, webhook):
    page.goto(f"{host.api}/console/webhooks/{webhook}")
    page.get_by_label("Post events", exact=True).uncheck()
    with page.expect_navigation():
        page.get_by_role("button", name="Save").first.click()
    page.locator(".sub .pill", has_text="off").wait_for()
    page.get_by_label("Client id").fill("client")
    page.get_by_role("button", name="Save").last.click()
    page.get_by_role("alert").get_by_text("oauth_token_url").first.wait_for()
    page.get_by_label("Token URL").fill("https://token.example/")
    page.get_by_label("Client secret").fill("secret")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").last.click()
    stored = call(host, "GET", f"/v3/user/webhooks/event/settings/{webhook}")
    wanted = (stored["enabled"], stored["oauth_client_id"], stored["delivered"])
    checks.that(wanted == (False, "client", True), f"what is stored: {stored}")


def journey(page, host, checks):
    receiver = Receiver()
    webhook = created(page, host, checks, receiver)
    tested(page, checks, receiver)
    key_shown(page, host, checks, webhook)
    failed_and_replayed(page, host, checks, receiver, webhook)
    changed(page, host, checks, webhook)
    receiver.shutdown()


def pages(host):
    """Of webhooks the list, one, and one of its posts; of domains and statistics those that need no journey."""
    first = call(host, "GET", "/v3/user/webhooks/event/settings/all")["webhooks"][0]["id"]
    post = call(host, "GET", f"/v3/user/webhooks/event/posts?webhook_id={first}&status=failed")["result"][0]["post_id"]
    empty = {"url": "https://hook.example/" + "a-long-path/" * 20, "friendly_name": run.LONG[:200]}
    empty = call(host, "POST", "/v3/user/webhooks/event/settings", empty)["id"]
    domain = call(host, "POST", "/v3/whitelabel/domains", {"domain": "a-long-name-of-a-domain." * 5 + "example"})["id"]
    link = call(host, "POST", "/v3/whitelabel/links", {"domain": "shop.example"})["id"]
    for n in range(3):
        names = ["orders", "a category with a name that goes on and on, and on", "news"][: n + 1]
        run.send(host, f"sorted{n}@example.com", "With categories", categories=names)
    sums = f"/v3/categories/stats/sums?start_date={time.strftime('%Y-%m-%d', time.gmtime())}"
    run.until(lambda: len(call(host, "GET", sums)["stats"]) == 3, "categories are counted")
    return {
        "domains": "/domains",
        "domain": f"/domains/{domain}",
        "domain-link": f"/domains/link-{link}",
        "webhooks": "/webhooks",
        "webhook": f"/webhooks/{first}",
        "webhook-post": f"/webhooks/{first}?post={post}",
        "webhook-empty": f"/webhooks/{empty}",
        "statistics": "/statistics",
        "statistics-90": "/statistics?days=90",
        "statistics-providers": "/statistics?by=providers",
        "statistics-categories": "/statistics?by=categories",
        "statistics-clients": "/statistics?by=clients",
    }
