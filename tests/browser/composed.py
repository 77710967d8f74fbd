"""The part of the journey through the console that is about mail as composed: kept, shown, sent again, and what the page
says where there is none."""

import time
import urllib.parse

import run
from run import call

# What the browser says of a mail that is kept from both.
REFUSED = ("/pixel.png' violates", "Blocked script execution in")
TO = "kept@example.com"
SUBJECT = "A mail that is kept"
# A picture of one dot.
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# What a mail may try in its frame: a script, an image of elsewhere, a frame around it. Its own picture is shown.
HTML = """<!doctype html><style>p { color: rgb(1, 2, 3) }</style><p id=text>Hello, <b>it has left</b>.</p>
<img src="{remote}/pixel.png" alt="a picture"><img id=own src="cid:dot@here" alt="a dot"><script>document.getElementById('text').textContent = 'changed';
top.document.title = 'taken';</script><a href="https://shop.example/">Follow it</a>"""


def mails(host, patience=30, least=1):
    """The ids of the mails to the address, newest first, once there are so many."""
    search = "/v3/messages?limit=1000&query=" + urllib.parse.quote(f'to_email="{TO}" AND status="delivered"')
    end = time.monotonic() + patience
    while True:
        found = [mail["msg_id"] for mail in call(host, "GET", search)["messages"]]
        if len(found) >= least:
            return found
        if time.monotonic() > end:
            raise SystemExit(f"never: {least} mails to {TO}")


def switched_on(page, host, checks):
    """By the form of a mail's page, which says that this mail was not kept."""
    page.goto(f"{host.api}/console/activity?q={urllib.parse.quote('bounced@outcome.test')}")
    page.get_by_role("link", name="A first mail").click()
    page.get_by_text("kept_mail was off").wait_for()
    checks.that(page.locator("iframe").count() == 0, "no frame without a kept mail")
    page.locator("summary", has_text="Keeping mail").click()
    page.get_by_label("Keep each mail").check()
    page.locator("#kept-days").select_option("3")
    page.get_by_role("button", name="Save").click()
    end = time.monotonic() + 30
    while call(host, "GET", "/v3/mail_settings/kept_mail") != {"days": 3, "enabled": True}:
        if time.monotonic() > end:
            raise SystemExit("never: mail is kept for three days")


def kept(page, host, checks):
    """The mail in its frame, which can do nothing; its header; its text. Its path."""
    loaded = []
    page.on("response", lambda answer: loaded.append(answer.url))
    body = {
        "personalizations": [{"to": [{"email": TO}]}],
        "from": {"email": "shop@alder.example", "name": "Alder & Ash Shop"},
        "subject": SUBJECT,
        "content": [
            {"type": "text/plain", "value": "Hello, it has left."},
            {"type": "text/html", "value": HTML.replace("{remote}", host.mailbox)},
        ],
        "attachments": [
            {"content": "aGVsbG8=", "filename": "hello.txt", "type": "text/plain"},
            {"content": DOT, "filename": "dot.png", "type": "image/png", "disposition": "inline", "content_id": "dot@here"},
        ],
    }
    # The setting takes effect within ten seconds.
    end = time.monotonic() + 30
    while True:
        before = len(mails(host, least=0))
        call(host, "POST", "/v3/mail/send", body)
        latest = mails(host, least=before + 1)[0]
        page.goto(f"{host.api}/console/activity/{latest}")
        if page.locator("iframe.mail").count():
            break
        checks.that(time.monotonic() < end, "mail is kept within ten seconds")
    frame = page.frame_locator("iframe.mail").first
    frame.get_by_text("it has left").wait_for()
    checks.that(frame.locator("#text").inner_text() == "Hello, it has left.", "a script of the mail ran")
    colour = frame.locator("#text").evaluate("(text) => getComputedStyle(text).color")
    checks.that(colour == "rgb(1, 2, 3)", f"the style of the mail: {colour}")
    checks.that("taken" not in page.title(), "the mail reached the page around it")
    checks.that(not any("pixel.png" in url for url in loaded), "an image of elsewhere was loaded")
    wide = frame.locator("#own").evaluate("(picture) => picture.naturalWidth")
    checks.that(wide == 1, f"the picture of the mail itself: {wide} wide")
    page.locator("summary", has_text="Header").click()
    page.get_by_text("Message-ID").wait_for()
    checks.that("hello.txt" in page.locator("main").inner_text(), "the file is named")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    raw = open(download.value.path(), "rb").read()
    checks.that(SUBJECT.encode() in raw and b"Message-ID:" in raw, f"the mail as a file: {raw[:200]}")
    return f"/activity/{latest}"


def sent_again(page, host, checks):
    """After a question, and once however often the button is pressed."""
    before = len(mails(host))
    page.locator("summary", has_text="Send again").click()
    page.get_by_role("button", name="Send the mail again").click()
    page.get_by_role("status").get_by_text("Accepted").wait_for()
    page.get_by_role("link", name="Mail to this address").wait_for()
    found = mails(host, least=before + 1)
    page.reload()
    page.locator("summary", has_text="Send again").click()
    page.get_by_role("button", name="Send the mail again").click()
    page.get_by_role("status").get_by_text("Accepted").wait_for()
    page.goto(f"{host.api}/console/activity/{found[0]}")
    page.frame_locator("iframe.mail").first.get_by_text("it has left").wait_for()
    checks.that(len(mails(host)) == before + 1, "one more mail, and no other")


def without_scope(browser, host, checks):
    """A session of a key that may not see it."""
    scopes = ["email_activity.read"]
    key = call(host, "POST", "/v3/api_keys", {"name": "sees no content", "scopes": scopes})["api_key"]
    context = browser.new_context(viewport=run.LAPTOP)
    page = context.new_page()
    page.goto(host.api + "/console/sign-in")
    page.locator("input[name=key]").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(host.api + "/console")
    page.goto(f"{host.api}/console/activity/{mails(host)[0]}")
    page.get_by_text("lacks the scope messages.content.read").wait_for()
    checks.that(page.locator("iframe").count() == 0, "no frame without the scope")
    checks.that(page.locator("form[data-call*=send_again]").count() == 0, "no button without the scope")
    context.close()


def journey(page, browser, host, checks):
    """All of it; returns the path of the page of a kept mail."""
    switched_on(page, host, checks)
    path = kept(page, host, checks)
    sent_again(page, host, checks)
    without_scope(browser, host, checks)
    return path
