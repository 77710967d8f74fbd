#!/usr/bin/env python3
"""The mailbox page in headless Chromium: axe finds nothing on it, it fits a laptop and a phone, and its keys work.

    tests/browser/run.py [--screenshots FOLDER]

Runs target/debug/posthaste. Needs Debian's chromium; playwright and axe-core are installed into tests/.venv and
node_modules.
"""

import argparse
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = HERE.parent / ".venv/browser/bin/python"
AXE = HERE / "node_modules/axe-core/axe.min.js"
LAPTOP = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}
HTML = """<!doctype html><style>body{font:16px sans-serif}
@media (prefers-color-scheme: dark){body{background:#101820;color:#f0f0f0}}</style>
<h1>Your order</h1><p>Hello, it has left. <a href="https://shop.example/t/1">Follow it</a>.</p>"""
LONG = "A subject that goes on and on, and says at its very end what it is about: " * 6


class Checks:
    """What was looked at, and what was wrong."""

    def __init__(self):
        self.done = 0
        self.wrong = []

    def that(self, holds, text):
        self.done += 1
        if not holds:
            self.wrong.append(text)
            print(f"WRONG: {text}")


def install():
    """The tools, unless they are there; this script runs again in their environment."""
    subprocess.run([HERE.parent / "venv", "browser"], check=True)
    if not AXE.exists():
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=HERE, check=True)
    if pathlib.Path(sys.prefix) != PYTHON.parent.parent:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])


def call(host, method, path, body=None, behalf=None):
    """The answer of the API to the host's key, for a subuser where one is named."""
    acting = {"On-Behalf-Of": behalf} if behalf else {}
    request = urllib.request.Request(
        host.api + path,
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {host.key}", "Content-Type": "application/json", **acting},
        method=method,
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else {}


def send(host, to, subject, **more):
    to = [to] if isinstance(to, str) else to
    mail = {
        "personalizations": [{"to": [{"email": one} for one in to]}],
        "from": {"email": "shop@alder.example", "name": "Alder & Ash Shop"},
        "subject": subject,
        "content": [
            {"type": "text/plain", "value": "Hello, it has left."},
            {"type": "text/html", "value": HTML},
        ],
        **more,
    }
    call(host, "POST", "/v3/mail/send", mail)


def fill(host):
    """Mail in every state, below a list of several pages."""
    call(host, "POST", "/v3/asm/suppressions/global", {"recipient_emails": ["left@example.com"]})
    for n in range(120):
        send(host, f"user{n}@example.com", f"Your order {n} has shipped")
    send(host, [f"list{n}@example.com" for n in range(5)], "One request to five people")
    send(host, "left@example.com", "To somebody who left")
    send(host, "bounced@outcome.test", "To nobody")
    send(host, "deferred@outcome.test", "To a busy server")
    sandbox = {"sandbox_mode": {"enable": True}}
    send(host, "box@example.com", "Only checked", mail_settings=sandbox)
    send(host, "later@example.com", "Tomorrow's letter", send_at=int(time.time()) + 86_400)
    file = {"content": "aGVsbG8=", "filename": "hello.txt", "type": "text/plain"}
    send(host, "ann@example.com", LONG, attachments=[file])


def until(holds, what, patience=30):
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"never: {what}")


def wait_for(host, words, patience=60):
    """The list, once it has all of these."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with urllib.request.urlopen(host.mailbox + "/") as answer:
            html = answer.read().decode()
        if all(word in html for word in words):
            return
    raise SystemExit(f"the page never had {words}")


def judge(page, checks, name):
    """What axe says about a page as it is; frames are those of mails."""
    page.evaluate(AXE.read_text())
    # Targets of 24 units are WCAG 2.2's alone, and axe leaves that rule out unless it is asked for.
    options = {"iframes": False, "resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    found = page.evaluate("(options) => axe.run(document, options)", options)
    for one in found["violations"]:
        nodes = "; ".join(node["html"][:120] for node in one["nodes"][:3])
        checks.that(False, f"{name}: axe {one['id']}: {one['help']}: {nodes}")
    checks.that(True, name)


def inside(page, selector):
    """Whether each of these lies within the width of the screen."""
    script = """(selector) => [...document.querySelectorAll(selector)].every((one) => {
        const box = one.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth + 0.5;
    })"""
    return page.evaluate(script, selector)


def looks(browser, host, checks, folder):
    """Every page on both screens, light and dark."""
    for screen, size in [("laptop", LAPTOP), ("phone", PHONE)]:
        for colours in ["light", "dark"]:
            context = browser.new_context(viewport=size, color_scheme=colours)
            page = context.new_page()
            page.goto(host.mailbox)
            first = page.locator(".mails a").first.get_attribute("href")
            dropped = "/?q=is%3Adropped"
            pages = {
                "list": "/",
                "requests": "/?by=request",
                "found": dropped,
                "message": first,
                "dark-mail": f"{first}?view=html&dark=1",
                "events": f"{first}?view=events",
                "headers": f"{first}?view=headers",
                "files": f"{first}?view=files",
                "raw": f"{first}?view=raw",
                "gone": "/message/gone",
            }
            for state in ["dropped", "bounced", "deferred", "sandboxed", "scheduled"]:
                page.goto(f"{host.mailbox}/?q=is%3A{state}")
                pages[state] = page.locator(".mails a").first.get_attribute("href")
            for name, path in pages.items():
                page.goto(host.mailbox + path)
                where = f"{name}, {screen}, {colours}"
                judge(page, checks, where)
                wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                checks.that(wide, f"{where}: the page is wider than the screen")
                checks.that(inside(page, ".tabs a, .tools > *"), f"{where}: outside of the screen")
                if folder:
                    page.screenshot(path=folder / f"{name}-{screen}-{colours}.png")
            page.goto(host.mailbox + pages["events"])
            page.locator(".span summary").click()
            judge(page, checks, f"span, {screen}, {colours}")
            checks.that(inside(page, ".span input, .span button"), f"span, {screen}: outside of the screen")
            if folder:
                page.locator(".span button").scroll_into_view_if_needed()
                page.screenshot(path=folder / f"span-{screen}-{colours}.png")
            page.goto(host.mailbox)
            page.locator(".help summary").click()
            judge(page, checks, f"help, {screen}, {colours}")
            checks.that(inside(page, ".help .card"), f"help, {screen}: outside of the screen")
            if folder:
                page.screenshot(path=folder / f"help-{screen}-{colours}.png")
            context.close()


def whole_lines(page, selector):
    """Whether a box that hides a part of its text ends between two lines."""
    script = """(selector) => {
        const one = document.querySelector(selector);
        const lines = one.clientHeight / parseFloat(getComputedStyle(one).lineHeight);
        return Math.abs(lines - Math.round(lines)) < 0.1;
    }"""
    return page.evaluate(script, selector)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes every post, and remembers the ids of its events."""

    seen: queue.Queue = queue.Queue()

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        self.seen.put({event["sg_event_id"] for event in json.loads(body)})

    def log_message(self, *_):
        pass


def post_again(page, host, checks):
    """The events of the span that the page of a message offers, without a webhook and with one."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.goto(f"{host.mailbox}/?q=is%3Adelivered")
    page.goto(host.mailbox + page.locator(".mails a").first.get_attribute("href") + "&view=events")
    for want in ["No webhook is enabled.", "posted again."]:
        page.locator(".span summary").click()
        page.locator(".span button").click()
        page.locator(".notice", has_text=want).wait_for()
        checks.that(page.locator("#events").is_visible(), "the events are gone")
        if want.startswith("No"):
            hook = {"url": f"http://127.0.0.1:{server.server_port}/", "enabled": True, "delivered": True}
            call(host, "POST", "/v3/user/webhooks/event/settings", hook)
    ids = set(re.findall(r'"sg_event_id": "(delivered-[^"]+)"', page.locator("#events").inner_html().replace("&quot;", '"')))
    posted = set()
    while not ids <= posted:
        posted |= Receiver.seen.get(timeout=60)
    checks.that(ids, "no event of the mail is shown")
    server.shutdown()


def journeys(browser, host, checks):
    """What a reader does on a laptop."""
    page = browser.new_page(viewport=LAPTOP)
    page.goto(host.mailbox)
    rows = """() => [...document.querySelectorAll(".mails a")].filter((one) =>
        one.getBoundingClientRect().bottom <= innerHeight).length"""
    checks.that(page.evaluate(rows) >= 12, f"{page.evaluate(rows)} rows on a laptop")

    page.locator(".mails a").first.click()
    page.wait_for_selector("article.message")
    checks.that(whole_lines(page, ".head h1"), "the subject is cut through a line")

    # Far down, and on the second page.
    page.keyboard.press("n")
    page.wait_for_url(lambda url: "start=50" in url)
    page.locator(".pager span", has_text=re.compile("^51")).wait_for()
    checks.that(page.evaluate("document.querySelector('#list').scrollTop") == 0, "a new page begins at its top")
    page.evaluate("document.querySelector('#list').scrollTop = 1200")
    far = page.locator(".mails a").nth(35)
    subject = far.locator(".subject").inner_text()
    href = far.get_attribute("href")
    far.click()
    page.wait_for_url(lambda url: url.endswith(href))
    page.wait_for_selector(".mails a[aria-current]")
    top = page.evaluate("document.querySelector('#list').scrollTop")
    checks.that(top > 900, f"the list jumped to {top}")
    checks.that(page.locator(".head h1").inner_text() in subject, "another mail opened")
    checks.that("start=50" in page.evaluate("location.search"), "the page of the list was left")

    total = page.locator(".listhead h2").inner_text()
    page.keyboard.press("d")
    page.wait_for_selector("#undo")
    checks.that(page.locator(".listhead h2").inner_text() != total, "nothing was deleted")
    page.keyboard.press("u")
    page.wait_for_selector("#undo", state="detached")
    checks.that(page.locator(".listhead h2").inner_text() == total, "the deletion was not undone")
    page.keyboard.press("p")
    page.wait_for_url(lambda url: "start=50" not in url)

    # A request opens in its place.
    page.goto(host.mailbox + "/?by=request")
    request = page.locator(".mails a[aria-expanded=false]").first
    request.click()
    page.wait_for_selector(".mails .below")
    checks.that(page.locator(".mails .below").count() == 5, "five copies of a request")

    post_again(page, host, checks)

    page.goto(f"{host.mailbox}/?q=is%3Ascheduled")
    page.locator(".mails a").first.click()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".standing .pill:has-text('cancelled')")
    checks.that(True, "cancelled on its page")
    page.close()

    # A phone keeps the place of the list while it shows a message.
    page = browser.new_page(viewport=PHONE)
    page.goto(host.mailbox)
    page.evaluate("document.querySelector('#list').scrollTop = 900")
    page.locator(".mails a").nth(20).click()
    page.wait_for_selector("article.message")
    page.locator(".back").click()
    page.wait_for_selector("body:not(.reading)")
    top = page.evaluate("document.querySelector('#list').scrollTop")
    checks.that(top > 700, f"the phone's list jumped to {top}")
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    subprocess.run([HERE.parent / "debian", "chromium", "chromium"], check=True)
    chromium = shutil.which("chromium")
    install()
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(HERE.parent / "clients"))
    from host import Host

    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    host = Host(str(target / "debug/posthaste"), "--no-login-port=0", "--quiet")
    checks = Checks()
    try:
        fill(host)
        wait_for(host, [">dropped</b>", ">bounced</b>", ">deferred</b>", ">sandboxed</b>", ">scheduled <time"])
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            looks(browser, host, checks, options.screenshots)
            journeys(browser, host, checks)
            browser.close()
    finally:
        host.stop()
    print(f"{checks.done} checks, {len(checks.wrong)} wrong")
    raise SystemExit(1 if checks.wrong else 0)


if __name__ == "__main__":
    main()
