#!/usr/bin/env python3
"""The web console in headless Chromium: a journey from the first link on, axe on every page, and their sizes.

    tests/browser/console.py [--screenshots FOLDER]

Runs target/debug/posthaste. Needs what run.py beside it needs.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import access
import accounts
import composed
import domains
import reach
import run
import scheduled
import secure
import suppressions
import templates
import webhooks
from run import call

LINK = re.compile(r"^\s*Console\s+(http\S+)", re.MULTILINE)
LARGEST_PAGE = 15 * 1024
LARGEST_FILES = 25 * 1024
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1920, "height": 1080}
BOUNCING = "bounced@outcome.test"


def measured(page):
    """Fills with the sizes of every page and of the files that it names, compressed."""
    sizes = {"pages": {}, "files": {}}

    def see(answer):
        path = answer.url.split("/", 3)[3].split("?")[0]
        kind = answer.headers.get("content-type", "")
        # What stands in a frame is a document of a stranger, of any size.
        if answer.status != 200 or not path.startswith("console") or "-part" in path:
            return
        compressed = len(gzip.compress(answer.body(), 9))
        if kind.startswith("text/html"):
            sizes["pages"][path] = max(compressed, sizes["pages"].get(path, 0))
        elif kind.startswith(("text/css", "text/javascript")):
            sizes["files"][path] = compressed

    page.on("response", see)
    return sizes


def found(host, query):
    """The id of the latest mail that a query finds."""
    answer = call(host, "GET", "/v3/messages?query=" + urllib.parse.quote(query))
    return answer["messages"][0]["msg_id"]


def sign_in(page, host, checks):
    """By the link of the greeting, which looking at does not use up."""
    link = LINK.search(host.said).group(1)
    with urllib.request.urlopen(link) as answer:
        checks.that(answer.status == 200, "a scanner sees the page of the link")
    page.goto(link)
    page.get_by_role("button", name="Sign in with this link").click()
    page.wait_for_url(host.api + "/console")
    checks.that(page.locator("h1").inner_text() == "Overview", "the link leads to the overview")
    cookies = page.context.cookies()
    checks.that([c["name"] for c in cookies] == ["posthaste"], f"one cookie: {cookies}")
    cookie = cookies[0]
    checks.that(cookie["httpOnly"] and cookie["sameSite"] == "Strict", f"of this page alone: {cookie}")
    page.goto(link)
    page.get_by_role("button", name="Sign in with this link").click()
    page.get_by_text("This link opens nothing").wait_for()
    checks.that(True, "a link opens one session")
    page.goto(host.api + "/console")


def first_key(page, host, checks):
    """By presets, shown once. The key of the page."""
    page.get_by_role("link", name="New key").click()
    page.locator("#name").fill("billing, production")
    page.get_by_label("Send, and see what became of it").check()
    page.get_by_role("button", name="Create the key").click()
    shown = page.locator("#made:not([hidden]) #key")
    shown.wait_for()
    key = shown.inner_text().strip()
    checks.that(re.fullmatch(r"SG\.[\w-]{22}\.[\w-]{43}", key) is not None, "no key is shown")
    checks.that(key in page.locator("#curl").inner_text(), "the key is not in the call")
    made = next(one for one in call(host, "GET", "/v3/api_keys")["result"] if one["name"] == "billing, production")
    held = call(host, "GET", f"/v3/api_keys/{made['api_key_id']}")["scopes"]
    checks.that("mail.send" in held and "api_keys.create" not in held, f"the scopes of the preset: {held}")
    page.reload()
    checks.that(page.locator("#made").is_hidden(), "the key is shown twice")
    return key


def first_mail(page, host, checks, key):
    """The call that the page showed; then its life line."""
    request = urllib.request.Request(
        host.api + "/v3/mail/send",
        json.dumps(
            {
                "personalizations": [{"to": [{"email": BOUNCING}]}],
                "from": {"email": "me@example.com"},
                "subject": "A first mail",
                "content": [{"type": "text/plain", "value": "It works."}],
            }
        ).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        checks.that(answer.status == 202, "the first mail")
    run.wait_for(host, [">bounced</b>"])
    search = "/v3/messages?query=" + urllib.parse.quote(f'to_email="{BOUNCING}" AND Contains(events,"bounced")')
    run.until(lambda: call(host, "GET", search)["messages"], "the bounce is found by a search")
    page.get_by_role("link", name="Activity").click()
    page.get_by_role("searchbox").fill(BOUNCING)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="A first mail").click()
    page.wait_for_url(re.compile("/console/activity/."))
    life = page.locator(".life").inner_text()
    for words in ("Accepted", "billing, production", "Rendered", "Bounced", "550"):
        checks.that(words in life, f"{words!r} is missing in {life!r}")


def forgiven(page, host, checks):
    """The address that bounced is on a list, and leaves it."""
    page.get_by_text("Suppressed: ").wait_for()
    page.locator("summary", has_text="Forgive").click()
    page.get_by_role("button", name="Forgive the address").click()
    page.get_by_text("Suppressed: ").wait_for(state="detached")
    bounces = call(host, "GET", f"/v3/suppression/bounces/{BOUNCING}")
    checks.that(bounces == [], f"still suppressed: {bounces}")


def later_mail(page, host, checks):
    """A mail that waits is moved and cancelled."""
    run.send(host, "later@example.com", "A later mail", send_at=int(time.time()) + 7_200)
    page.goto(host.api + "/console/activity?q=later%40example.com")
    checks.that(page.locator(".feed .pill").first.inner_text() == "scheduled", "it waits")
    page.get_by_role("link", name="A later mail").click()
    page.get_by_label("Move to").fill(time.strftime("%Y-%m-%dT%H:%M", time.localtime(time.time() + 10_800)))
    before = page.locator(".sheet time").first.get_attribute("datetime")
    page.get_by_role("button", name="Move").click()
    page.wait_for_function("(before) => document.querySelector('.sheet time').dateTime !== before", arg=before)
    checks.that(True, "moved")
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel the mail").click()
    page.locator(".pill", has_text="cancelled").first.wait_for()
    checks.that(True, "cancelled")


def refusals(page, host, checks):
    """What the API refuses is said beside the form."""
    page.goto(host.api + "/console/first-key")
    page.locator("summary", has_text="Scopes one by one").click()
    for box in page.locator("input[name=scopes]:checked").all():
        box.uncheck()
    page.locator("#name").fill("x" * 255)
    page.locator("#name").evaluate("(field) => { field.maxLength = 300; field.value = 'x'.repeat(256); }")
    page.get_by_role("button", name="Create the key").click()
    page.get_by_role("alert").get_by_text("at most 255 characters").wait_for()
    checks.that(True, "a refusal is shown")


def stolen(browser, host, checks, cookies):
    """A page of another origin with the cookie of the session, and the cookie without a page."""
    token = cookies[0]["value"]
    headers = {"Cookie": f"posthaste={token}", "Content-Type": "application/json"}
    for more, what in [
        ({}, "without a page"),
        ({"Origin": "http://evil.example", "X-Posthaste-Console": "1"}, "from another origin"),
        ({"Origin": host.api}, "without the header"),
    ]:
        body = json.dumps({"name": "stolen"}).encode()
        request = urllib.request.Request(f"{host.api}/v3/api_keys", body, {**headers, **more})
        try:
            with urllib.request.urlopen(request) as answer:
                status = answer.status
        except urllib.error.HTTPError as refused:
            status = refused.code
        checks.that(status == 403, f"a stolen cookie {what}: {status}")
    # The mailbox is another origin of the same site: its pages get the cookie sent, and nothing out of it.
    context = browser.new_context()
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(host.mailbox)
    script = """async (url) => {
        const headers = {"x-posthaste-console": "1", "content-type": "application/json"};
        const body = JSON.stringify({name: "stolen"});
        try {
            return (await fetch(url, {method: "POST", credentials: "include", headers, body})).status;
        } catch { return "refused"; }
    }"""
    checks.that(page.evaluate(script, f"{host.api}/v3/api_keys") == "refused", "a page of another origin")
    context.close()
    names = [one["name"] for one in call(host, "GET", "/v3/api_keys")["result"]]
    checks.that("stolen" not in names, f"a stolen cookie made a key: {names}")


def all_pages(host, more):
    """The path of every page below /console, by a name, in each of its states."""
    bounced = found(host, 'subject="A first mail"')
    long = found(host, 'subject LIKE "A subject that goes on%"')
    return {
        "overview": "",
        "activity": "/activity",
        "activity-filters": "/activity?from=shop%40alder.example&q=%40",
        "activity-none": "/activity?q=nothing-like-it",
        "activity-refused": "/activity?query=to_email%3D",
        "mail": f"/activity/{bounced}",
        "mail-long": f"/activity/{long}",
        "mail-none": "/activity/nothing",
        "new-key": "/first-key",
        "none": "/nothing",
        **suppressions.pages(host),
        **scheduled.pages(host),
        **access.pages(host, call),
        **templates.pages(host),
        **webhooks.pages(host),
        **accounts.pages(host),
        **more,
    }


def looks(browser, host, checks, folder, cookies, pages):
    """Every page on both screens, light and dark, and as narrow and wide as screens are."""
    sizes = None
    for screen, size in [("laptop", run.LAPTOP), ("phone", run.PHONE), ("narrow", NARROW), ("wide", WIDE)]:
        for colours in ["light", "dark"] if screen in ("laptop", "phone") else ["light"]:
            context = browser.new_context(viewport=size, color_scheme=colours)
            page = context.new_page()
            # Once: it reads each answer before the page is left, as what axe does there takes long enough for.
            seen = sizes or measured(page)
            page.goto(host.api + "/console/sign-in")
            look(page, checks, folder, "sign-in", screen, colours)
            context.add_cookies(cookies)
            for name, path in pages.items():
                page.goto(host.api + "/console" + path)
                look(page, checks, folder, name, screen, colours)
            sizes = seen
            context.close()
    for path, size in sizes["pages"].items():
        checks.that(size <= LARGEST_PAGE, f"{path}: {size} bytes compressed")
    files = sum(sizes["files"].values())
    checks.that(0 < files <= LARGEST_FILES, f"script and style: {files} bytes compressed")
    largest = max(sizes["pages"].items(), key=lambda one: one[1])
    print(f"largest page: {largest[0]}, {largest[1]} bytes compressed; script and style: {files}")


# The elements that reach furthest to the right.
WIDEST = """[...document.querySelectorAll("main *")].map(one => [one.getBoundingClientRect().right, one.outerHTML])
    .sort((a, b) => b[0] - a[0]).slice(0, 3).map(([right, html]) => `${right}: ${html.slice(0, 120)}`)"""


def look(page, checks, folder, name, screen, colours):
    where = f"{name}, {screen}, {colours}"
    # What axe says of a wide screen it says of a laptop.
    if screen != "wide":
        run.judge(page, checks, where)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    checks.that(wide <= 0, f"{where}: {wide} units wider than the screen, by {wide > 0 and page.evaluate(WIDEST)}")
    if folder and screen in ("laptop", "phone"):
        page.screenshot(path=folder / f"{name}-{screen}-{colours}.png", full_page=True)


def keyboard(page, host, checks):
    """From the top of a page to its content without a mouse."""
    page.goto(host.api + "/console/activity")
    page.keyboard.press("Tab")
    checks.that(page.evaluate("document.activeElement.className") == "skip", "the first stop skips the navigation")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    checks.that(page.evaluate("document.activeElement.id") == "f-q", "then comes the search")
    page.keyboard.type("A first mail")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("q=A\\+first\\+mail"))
    # A page looks at 500 mails, and the first one is older.
    further = page.get_by_role("link", name="Look further")
    for _ in range(40):
        if page.locator(".feed tbody tr").count() or not further.count():
            break
        further.focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
    rows = page.locator(".feed tbody tr").all_inner_texts()
    checks.that(len(rows) == 1, f"one row is found: {rows}")
    page.goto(host.api + "/console/first-key")
    page.locator("#name").focus()
    page.keyboard.type("by keys")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    checks.that(page.evaluate("document.activeElement.dataset.check.includes('stats.read')"), "an arrow chooses")
    page.keyboard.press("Enter")
    page.locator("#made:not([hidden])").wait_for()
    checks.that(page.evaluate("document.activeElement.id") == "made", "the key that was made has the focus")
    page.keyboard.press("Tab")
    checks.that(page.evaluate("document.activeElement.id") == "key", "the next stop is the key")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    if code := subprocess.run([run.HERE.parent / "debian", "chromium", "chromium"], check=False).returncode:
        raise SystemExit(code)
    chromium = shutil.which("chromium")
    run.install()
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(run.HERE.parent / "clients"))
    from host import Host

    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", run.ROOT / "target"))
    host = Host(str(target / "debug/posthaste"), "--no-login-port=0", "--quiet", also=[LINK])
    checks = run.Checks()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport=run.LAPTOP)
            wrong = []
            page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            sign_in(page, host, checks)
            if options.screenshots:
                page.screenshot(path=options.screenshots / "overview-empty-laptop-light.png")
            key = first_key(page, host, checks)
            first_mail(page, host, checks, key)
            forgiven(page, host, checks)
            later_mail(page, host, checks)
            suppressions.journey(page, host, checks)
            scheduled.journey(page, host, checks)
            suppressions.without_scopes(browser, host, checks)
            scheduled.without_scopes(browser, host, checks)
            kept = composed.journey(page, browser, host, checks)
            templates.journey(page, host, checks)
            webhooks.journey(page, host, checks)
            domains.journey(page, host, checks)
            accounts.journey(page, host, checks)
            run.fill(host)
            run.wait_for(host, [">dropped</b>", ">deferred</b>", ">scheduled <time"])
            cookies = page.context.cookies()
            access.keys(page, host, checks, call)
            access.sessions(page, host, checks)
            access.few_scopes(browser, host, checks, call, options.screenshots, look)
            access.fill(host, call)
            pages = all_pages(host, {"mail-kept": kept})
            looks(browser, host, checks, options.screenshots, cookies, pages)
            reach.without_script(browser, host, checks, cookies, pages)
            reach.by_keys(browser, host, checks, cookies, pages)
            access.empty(host, call)
            access.allow_list(page, host, checks, call)
            keyboard(page, host, checks)
            refusals(page, host, checks)
            stolen(browser, host, checks, cookies)
            secure.session(browser, host, checks, call)
            expected = ("401", "400", "404", *composed.REFUSED)
            wrong = [text for text in wrong if not any(status in text for status in expected)]
            checks.that(not wrong, f"errors of the pages: {wrong}")
            access.locked_out(page, host, checks)
            browser.close()
    finally:
        host.stop()
    print(f"{checks.done} checks, {len(checks.wrong)} wrong")
    raise SystemExit(1 if checks.wrong else 0)


if __name__ == "__main__":
    main()
