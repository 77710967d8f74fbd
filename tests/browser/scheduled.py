"""The console's pages of scheduled mail: what waits, paused, resumed, cancelled, and moved to another time."""

import re
import time

import run

HOUR = 3_600
SENDS = "/v3/user/scheduled_sends"
# Of one mail, as each has its own second.
PARTS = 40
MAILS = 50


def later(hours):
    return int(time.time()) + hours * HOUR


def local(hours):
    """A time for a field of the page."""
    return time.strftime("%Y-%m-%dT%H:%M", time.localtime(later(hours)))


def waiting(host):
    return run.call(host, "GET", f"{SENDS}/messages")["messages"]


def one(host, subject):
    return next(mail for mail in waiting(host) if mail["subject"] == subject)


def pages(host):
    """The pages by name, once the journey was made and two thousand parts of mails wait in a batch."""
    single = one(host, "Moved")["message_id"]
    batch = run.call(host, "POST", "/v3/mail/batch")["batch_id"]
    for start in range(0, MAILS * PARTS, PARTS):
        mail = {
            "personalizations": [
                {"to": [{"email": f"reader{n}@example.com"}], "send_at": later(3) + n}
                for n in range(start, start + PARTS)
            ],
            "from": {"email": "shop@alder.example"},
            "subject": "The letter of the month, with a subject that goes on for a while and then ends",
            "content": [{"type": "text/plain", "value": "Hello."}],
            "batch_id": batch,
        }
        run.call(host, "POST", "/v3/mail/send", mail)
    run.call(host, "POST", SENDS, {"batch_id": batch, "status": "pause"})
    empty = run.call(host, "POST", "/v3/mail/batch")["batch_id"]
    after = run.call(host, "GET", f"{SENDS}/messages?limit=100")["next"].replace("#", "%23")
    return {
        "scheduled": "/scheduled",
        "scheduled-later": f"/scheduled?after={after}",
        "scheduled-refused": "/scheduled?after=x",
        "batch": f"/scheduled/{batch}",
        "batch-empty": f"/scheduled/{empty}",
        "batch-gone": "/scheduled/nothing",
        "mail-waiting": f"/activity/{single}",
    }


def choose(page, *subjects):
    for subject in subjects:
        page.get_by_label(f"Choose {subject}, to").check()


def journey(page, host, checks):
    page.goto(host.api + "/console")
    page.get_by_role("link", name="Scheduled").click()
    page.get_by_text("No mail waits").wait_for()
    batch = run.call(host, "POST", "/v3/mail/batch")["batch_id"]
    for n in range(3):
        run.send(host, f"batch{n}@example.com", f"Of the batch {n}", send_at=later(2), batch_id=batch)
    for subject in ("Stays", "Moved", "Moved too", "Cancelled"):
        run.send(host, f"{subject[:4].lower()}@example.com", subject, send_at=later(2))
    run.send(host, [f"five{n}@example.com" for n in range(5)], "To five", send_at=later(2))
    page.reload()
    rows = [row.inner_text() for row in page.locator(".stack tbody tr").all()]
    checks.that(len(rows) == 8, f"each mail that waits: {rows}")
    five = next(row for row in rows if "To five" in row)
    checks.that("five0@example.com" in five and "and 4 more" in five, f"its recipients: {five!r}")
    batches(page, host, checks, batch)
    moved(page, host, checks)
    cancelled(page, host, checks)


def batches(page, host, checks, batch):
    """Paused and resumed in the list, cancelled and brought back on its page."""
    state = lambda: run.call(host, "GET", f"{SENDS}/{batch}")
    page.get_by_role("button", name=f"Pause the batch {batch}").click()
    page.get_by_role("button", name=f"Resume the batch {batch}").wait_for()
    checks.that(state() == [{"batch_id": batch, "status": "pause"}], f"paused: {state()}")
    paused = page.locator(".stack .pill", has_text="paused").count()
    checks.that(paused == 3, f"{paused} mails are paused")
    page.get_by_role("button", name=f"Resume the batch {batch}").click()
    page.get_by_role("button", name=f"Pause the batch {batch}").wait_for()
    checks.that(state() == [], "resumed")
    page.get_by_role("searchbox").fill(batch)
    page.get_by_role("button", name="Open").click()
    page.locator("h1", has_text="Batch").wait_for()
    checks.that(page.locator(".stack tbody tr").count() == 3, "its mails")
    page.locator("summary", has_text=re.compile("^Cancel…")).click()
    page.get_by_role("button", name="Cancel the batch").click()
    page.get_by_role("button", name="Bring back").wait_for()
    checks.that(state()[0]["status"] == "cancel", "cancelled")
    page.get_by_role("button", name="Pause instead").click()
    page.get_by_role("button", name="Resume").wait_for()
    checks.that(state()[0]["status"] == "pause", "a cancel becomes a pause")
    page.locator("summary", has_text=re.compile("^Cancel…")).click()
    page.get_by_role("button", name="Cancel the batch").click()
    page.get_by_role("button", name="Bring back").click()
    page.locator("summary", has_text=re.compile("^Cancel…")).wait_for()
    checks.that(state() == [], "brought back")
    # Its mails are moved together.
    page.get_by_label("Choose all of this page").check()
    page.locator("summary", has_text="Move the chosen").click()
    page.get_by_label("To (your time)").fill(local(5))
    with page.expect_navigation():
        page.get_by_role("button", name="Move the chosen mails").click()
    times = {mail["send_at"] for mail in waiting(host) if mail["batch_id"] == batch}
    checks.that(len(times) == 1 and abs(times.pop() - later(5)) < 120, "the batch is moved")


def moved(page, host, checks):
    """Two of several, then to a time that is too late."""
    page.goto(host.api + "/console/scheduled")
    before = one(host, "Stays")["send_at"]
    page.locator("summary", has_text="Move the chosen").click()
    page.get_by_label("To (your time)").fill(local(4))
    page.get_by_role("button", name="Move the chosen mails").click()
    page.get_by_role("alert").get_by_text("Choose at least one").wait_for()
    choose(page, "Moved", "Moved too")
    with page.expect_navigation():
        page.get_by_role("button", name="Move the chosen mails").click()
    for subject in ("Moved", "Moved too"):
        at = one(host, subject)["send_at"]
        checks.that(abs(at - later(4)) < 120, f"{subject} leaves at {at}")
    checks.that(one(host, "Stays")["send_at"] == before, "the others stay")
    choose(page, "Moved")
    page.locator("summary", has_text="Move the chosen").click()
    page.get_by_label("To (your time)").fill(local(100))
    page.get_by_role("button", name="Move the chosen mails").click()
    page.get_by_role("alert").get_by_text("Scheduling more than 72 hours").wait_for()
    checks.that("Done: 0" in page.get_by_role("alert").inner_text(), "what was done is said")


def cancelled(page, host, checks):
    """By keys alone, from the box of the mail to the button."""
    page.reload()
    page.get_by_label("Choose Cancelled, to").focus()
    page.keyboard.press("Space")
    page.locator("summary", has_text="Cancel the chosen").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    subjects = [mail["subject"] for mail in waiting(host)]
    checks.that("Cancelled" not in subjects and "Moved" in subjects, f"what waits: {subjects}")


def without_scopes(browser, host, checks):
    """Keys that may see less sign in: one without the lists, and one that may only read."""
    for scopes, words, absent in [
        (["mail.send"], "lacks the scope user.scheduled_sends.read", "Stays"),
        (["user.scheduled_sends.read"], "1 recipient", "Stays"),
        (["user.scheduled_sends.read", "messages.read"], "Stays", "lacks"),
    ]:
        made = run.call(host, "POST", "/v3/api_keys", {"name": "few", "scopes": scopes})
        context = browser.new_context(viewport=run.PHONE)
        page = context.new_page()
        page.goto(host.api + "/console/sign-in")
        page.locator("input[name=key]").fill(made["api_key"])
        page.get_by_role("button", name="Sign in with the key").click()
        page.wait_for_url(host.api + "/console")
        page.goto(host.api + "/console/scheduled")
        text = page.locator("main").inner_text()
        checks.that(words in text and absent not in text, f"{scopes}: {text!r}")
        checks.that(page.locator("main button:visible").count() == 1, f"{scopes}: only the search is offered")
        run.judge(page, checks, f"scheduled with {scopes}")
        context.close()
