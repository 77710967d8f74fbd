"""The console's pages of lists and groups: addresses looked up, added, removed, as a file and from one."""

import csv
import io
import re

import run

# Of a file: six calls to add them, three to read them.
MANY = 1_200
GLOBAL = "/v3/suppression/unsubscribes"
LARGE_FILE = 10 * 1024 * 1024


def listed(host, path):
    return run.call(host, "GET", path)


def group_of(host, name):
    return next(one for one in listed(host, "/v3/asm/groups") if one["name"] == name)


def pages(host):
    """The pages by name, once the journey was made."""
    news = group_of(host, "News")["id"]
    return {
        "suppressions": "/suppressions",
        "suppressions-found": "/suppressions?q=ann%2B7%40example.com",
        "suppressions-free": "/suppressions?q=free%40example.com",
        "suppressions-half": "/suppressions?q=ann",
        "list": "/suppressions/bounces",
        "list-long": "/suppressions/unsubscribes",
        "list-later": "/suppressions/unsubscribes?start=1000",
        "list-past": "/suppressions/unsubscribes?start=999999",
        "list-none": "/suppressions/blocks",
        "list-search": "/suppressions/unsubscribes?q=nothing",
        "group": f"/suppressions/{news}",
        "group-empty": f"/suppressions/{group_of(host, 'Nothing yet')['id']}",
        "group-gone": "/suppressions/999999",
    }


def journey(page, host, checks):
    groups(page, host, checks)
    from_a_file(page, host, checks)
    refused_files(page, checks)
    to_a_file(page, checks)
    added_and_removed(page, host, checks)
    looked_up(page, host, checks)
    by_keys(page, host, checks)


def groups(page, host, checks):
    """One is made, changed, and another deleted."""
    page.goto(host.api + "/console")
    page.get_by_role("link", name="Suppressions").click()
    for name in ("News", "Short-lived", "Nothing yet"):
        page.locator("summary", has_text="New group").click()
        page.get_by_label("Name").fill(name)
        page.get_by_label("What it is about").fill(f"{name}: what we write about")
        page.get_by_role("button", name="Create the group").click()
        page.get_by_role("link", name=name).wait_for()
    page.get_by_role("link", name="News").click()
    page.get_by_label("Name").fill("News")
    page.get_by_label("What it is about").fill("")
    page.get_by_label("Default group").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    news = group_of(host, "News")
    checks.that((news["description"], news["is_default"]) == ("", True), f"the group is changed: {news}")
    page.get_by_label("Name").fill("nothing YET")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").get_by_text("a group with this name exists").wait_for()
    page.goto(f"{host.api}/console/suppressions/{group_of(host, 'Short-lived')['id']}")
    page.locator("summary", has_text="Delete the group").click()
    page.get_by_role("button", name="Delete the group").click()
    page.wait_for_url(host.api + "/console/suppressions")
    checks.that(page.get_by_text("Short-lived").count() == 0, "a deleted group is gone")


def upload(page, text, name="list.csv"):
    data = text if isinstance(text, bytes) else text.encode()
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})
    page.get_by_role("button", name="Add from the file").click()


def from_a_file(page, host, checks):
    """A long file with lines that the API does not take, and what the page says of them."""
    page.goto(host.api + "/console/suppressions/unsubscribes")
    checks.that(page.get_by_text("Nothing on this list").count() == 1, "an empty list says so")
    lines = ["name;Email", *(f"Person {n};ann+{n}@example.com" for n in range(MANY))]
    # Lines 3 and 802 are of two calls to the API.
    lines[2], lines[801] = "Wrong;not an address", 'Wrong;"two@@example.com"'
    lines += ["Again;ANN+5@example.com", "None;", '"Two\nlines";last@example.com', "Wrong;=1+1@", ""]
    upload(page, "\ufeff" + "\r\n".join(lines))
    report = page.locator("#report:not([hidden])")
    report.wait_for(timeout=300_000)
    checks.that(page.evaluate("document.activeElement.id") == "report", "the report has the focus")
    said = report.inner_text()
    checks.that(f"{MANY - 1:,} addresses are on the list" in said, f"how many were taken: {said[:300]!r}")
    checks.that("1 lines repeat others" in said and "4 lines were not taken" in said, f"the rest: {said[:300]!r}")
    rows = [row.inner_text().split("\t") for row in report.locator("tbody tr").all()]
    wrong = "invalid email address"
    want = [["3", "not an address", wrong], ["802", "two@@example.com", wrong],
            [str(MANY + 3), "", "no address"], [str(MANY + 6), "=1+1@", wrong]]
    checks.that(rows == want, f"lines that were not taken: {rows}")
    with page.expect_download() as started:
        report.get_by_role("button", name="All lines that were not taken").click()
    text = started.value.path().read_text()
    checks.that(list(csv.reader(io.StringIO(text)))[1:] == [*want[:3], [str(MANY + 6), "'=1+1@", wrong]], f"as a file: {text!r}")
    run.judge(page, checks, "the report of a file")
    found = listed(host, f"{GLOBAL}?email=ann%2B{MANY - 1}")
    checks.that(len(found) == 1, f"the last line but some is on the list: {found}")
    checks.that(len(listed(host, f"{GLOBAL}?email=last")) == 1, "a cell of two lines")


def refused_files(page, checks):
    """Files that no address of is taken."""
    for data, want in [
        (b"x@example.com," + b"y" * LARGE_FILE, "more than 10 MB"),
        ("email\n" + "a@example.com\n" * 100_001, "more than 100,000 lines"),
        ("email\nä@example.com\n".encode("utf-16"), "not text in UTF-8"),
        ('email\n"a@example.com\n', "Line 2: a quotation mark is never closed"),
        ("name,town\nAnn,Bonn\n", "neither the heading"),
        ("\n\n", "no addresses"),
    ]:
        page.reload()
        upload(page, data)
        page.get_by_role("alert").get_by_text(want).wait_for()
        checks.that(page.locator("#report").is_hidden(), f"{want}: no report")
    # Just within both bounds: all lines repeat the first.
    page.reload()
    upload(page, "email\n" + "ann+2@example.com\n" * 100_000)
    page.locator("#report:not([hidden])").get_by_text("99,999 lines repeat others").wait_for()
    checks.that(True, "a file of 100,000 lines is read")


def to_a_file(page, checks):
    """The whole list, each address once."""
    page.reload()
    with page.expect_download(timeout=60_000) as started:
        page.get_by_role("button", name="The list as CSV").click()
    rows = list(csv.DictReader(io.StringIO(started.value.path().read_text())))
    emails = {row["email"] for row in rows}
    checks.that(started.value.suggested_filename == "unsubscribes.csv", "the name of the file")
    checks.that(len(rows) == len(emails) == MANY - 1, f"{len(rows)} rows, {len(emails)} addresses")
    checks.that(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", rows[0]["created"]) is not None, f"the time: {rows[0]}")


def added_and_removed(page, host, checks):
    """By hand, page by page, and those that are chosen."""
    page.goto(host.api + "/console/suppressions/unsubscribes")
    checks.that(page.get_by_text("Page 1").count() == 1, "which page it is")
    first = page.locator("tbody td bdi").first.inner_text()
    page.get_by_role("link", name="Older").click()
    page.get_by_text("Page 2").wait_for()
    checks.that(page.locator("tbody td bdi").first.inner_text() != first, "the next page has other addresses")
    page.get_by_label("Addresses, one on each line").fill("one@example.com\nnot an address")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("alert").get_by_text("invalid email address").first.wait_for()
    checks.that(not listed(host, f"{GLOBAL}?email=one@"), "nothing is added where a line is wrong")
    page.get_by_label("Addresses, one on each line").fill("one@example.com\ntwo@example.com")
    with page.expect_navigation():
        page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("searchbox").fill("one@")
    page.get_by_role("button", name="Search").click()
    page.get_by_label("Choose one@example.com").wait_for()
    page.locator("summary", has_text="Remove the chosen").click()
    page.get_by_role("button", name="Remove the chosen addresses").click()
    page.get_by_role("alert").get_by_text("Choose at least one").wait_for()
    page.get_by_label("Choose all of this page").check()
    page.get_by_role("button", name="Remove the chosen addresses").click()
    page.get_by_text("Nothing matches").wait_for()
    checks.that(not listed(host, f"{GLOBAL}?email=one@"), "the chosen address is removed")
    # A group takes one address at a time.
    news = group_of(host, "News")["id"]
    path = f"/v3/asm/groups/{news}/suppressions"
    run.call(host, "POST", path, {"recipient_emails": [f"reader{n}@example.com" for n in range(120)]})
    page.goto(f"{host.api}/console/suppressions/{news}")
    for n in (119, 7, 8):
        page.get_by_role("searchbox").fill(f"reader{n}@example.com")
        page.get_by_role("button", name="Search").click()
        page.get_by_label("Choose reader").check()
        page.locator("summary", has_text="Remove the chosen").click()
        page.get_by_role("button", name="Remove the chosen addresses").click()
        page.get_by_text("Nothing matches").wait_for()
    checks.that(len(listed(host, path)) == 117, "three are back in the group")
    page.get_by_role("link", name="All", exact=True).click()
    page.get_by_label("Choose all of this page").check()
    page.locator("summary", has_text="Remove the chosen").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Remove the chosen addresses").click()
    checks.that(len(listed(host, path)) == 67, "a page of them is back")
    with page.expect_download() as started:
        page.get_by_role("button", name="The list as CSV").click()
    checks.that(len(started.value.path().read_text().split()) == 68, "a group as a file")


def looked_up(page, host, checks):
    """Where one address stands, and off each."""
    news = group_of(host, "News")["id"]
    run.call(host, "POST", f"/v3/asm/groups/{news}/suppressions", {"recipient_emails": ["ann+7@example.com"]})
    page.goto(host.api + "/console/suppressions")
    page.get_by_role("searchbox").fill("ann+8@example.com")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="Remove from Unsubscribed from everything").click()
    page.get_by_text("On no list").wait_for()
    checks.that(not listed(host, f"{GLOBAL}/ann%2B8@example.com"), "the address is off the list")


def by_keys(page, host, checks):
    """An address is chosen and the question reached without a mouse."""
    page.goto(host.api + "/console/suppressions/unsubscribes?q=ann%2B12")
    page.get_by_role("searchbox").focus()
    # Past the buttons of the search, to the first line.
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    checks.that(page.locator("tbody input:checked").count() == 1, "a box is checked by a key")
    page.locator("summary", has_text="Remove the chosen").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    text = page.evaluate("document.activeElement.textContent")
    checks.that(text == "Remove the chosen addresses", f"the question follows: {text!r}")


def without_scopes(browser, host, checks):
    """A key that may see bounces alone signs in: the pages say which scopes it lacks."""
    made = run.call(host, "POST", "/v3/api_keys", {"name": "few", "scopes": ["suppression.bounces.read"]})
    context = browser.new_context(viewport=run.PHONE)
    page = context.new_page()
    page.goto(host.api + "/console/sign-in")
    page.locator("input[name=key]").fill(made["api_key"])
    page.get_by_role("button", name=re.compile("Sign in")).first.click()
    page.wait_for_url(host.api + "/console")
    for path, words in [
        ("", "asm.groups.read"),
        ("/unsubscribes", "suppression.unsubscribes.read"),
        ("/blocks", "suppression.blocks.read"),
        (f"/{group_of(host, 'News')['id']}", "asm.groups.suppressions.read"),
        ("?q=ann%40example.com", "suppression.blocks.read"),
    ]:
        page.goto(f"{host.api}/console/suppressions{path}")
        checks.that(words in page.locator("main").inner_text(), f"{path}: which scope is missing")
        checks.that(page.locator("main form[data-call]").count() == 0, f"{path}: no form that would be refused")
        run.judge(page, checks, f"suppressions{path} without scopes")
    context.close()
