#!/usr/bin/env python3
"""Makes the README's picture of the mailbox page, from the built binary: tests/browser/picture.py

Runs target/debug/posthaste, as run.py does, and writes infra/mailbox/screenshot.png.
"""

import os
import pathlib
import shutil
import sys
import time

import run

SIZE = {"width": 1180, "height": 680}
WELCOME = """<!doctype html><body style="margin:0;background:#f2efe8;font:16px/1.5 Georgia,serif;color:#2b2b2b">
<table role="presentation" width="100%"><tr><td align="center" style="padding:24px">
<table role="presentation" width="520" style="background:#fff;border-radius:10px"><tr><td style="padding:28px 36px">
<h1 style="margin:0 0 12px;color:#1f5c46">Welcome, Linus</h1>
<p>Thank you for signing up at Alder &amp; Ash. Your code is</p>
<p style="font:bold 28px monospace;letter-spacing:6px">482 910</p>
<p><a href="https://shop.example/confirm?t=1" style="background:#1f5c46;color:#fff;padding:11px 20px;border-radius:6px;
text-decoration:none">Confirm your address</a></p>
<p style="color:#777;font-size:13px">It is valid for ten minutes.</p>
</td></tr></table></td></tr></table></body>"""


def send(host, to, subject, text, html=None, **more):
    kinds = {"text/plain": text, "text/html": html or f"<p>{text}</p>"}
    content = [{"type": kind, "value": value} for kind, value in kinds.items()]
    run.send(host, to, subject, **{"content": content, **more})


def fill(host):
    unsubscribed = {"recipient_emails": ["grace@example.com"]}
    run.call(host, "POST", "/v3/asm/suppressions/global", unsubscribed)
    invoice = {"content": "JVBERi0xLjQK", "filename": "invoice-1107.pdf", "type": "application/pdf"}
    send(host, "ada@example.com", "Your invoice for November", "The invoice is attached.", attachments=[invoice])
    send(host, "bounced@outcome.test", "Your order has shipped", "Follow it on its way.")
    send(host, "grace@example.com", "Our winter catalogue", "New: chairs of ash.")
    send(host, "deferred@outcome.test", "Your weekly report", "Eleven visits.")
    send(host, "alan@example.com", "Your trial ends tomorrow", "It does.", send_at=int(time.time()) + 86_400)
    send(host, "ann@example.com", "Reset your password", "Follow this link: https://shop.example/reset?t=9")
    send(host, "linus@example.com", "Welcome to Alder & Ash", "Your code is 482 910.", WELCOME)


def main():
    run.install()
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(run.HERE.parent / "clients"))
    from host import Host

    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", run.ROOT / "target"))
    host = Host(str(target / "debug/posthaste"), "--no-login-port=0", "--quiet")
    try:
        fill(host)
        run.wait_for(host, [">dropped</b>", ">bounced</b>", ">deferred</b>", ">scheduled <time", "Welcome to Alder"])
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(host.mailbox)
            page.locator(".mails a", has_text="Welcome to Alder").click()
            page.wait_for_selector("#status .good")
            page.wait_for_selector(".live:not([hidden])")
            page.screenshot(path=run.ROOT / "infra/mailbox/screenshot.png")
            browser.close()
    finally:
        host.stop()


if __name__ == "__main__":
    main()
