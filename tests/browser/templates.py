"""The part of the journey through the console that is about templates: one made, edited, previewed with a variable that the
data lacks, sent, compared."""

import re
import urllib.parse

import run
from run import call

TO = "tested@example.com"
HTML = '<style>b { color: rgb(4, 5, 6) }</style>\n<p>Dear <b id="who">{{name}}</b>,</p>\n<p>{{order.id}} has left.</p>\n'
EVIL = "<script>document.getElementById('who').textContent = 'changed'; top.document.title = 'taken'</script>\n"


def created(page, host, checks):
    """A template and its first version, by the forms."""
    page.goto(host.api + "/console/templates")
    page.get_by_text("No template yet.").wait_for()
    page.get_by_label("Name").fill("Order has left")
    page.get_by_role("button", name="Create the template").click()
    page.wait_for_url(re.compile("/console/templates/d-"))
    page.get_by_text("No version yet").wait_for()
    page.locator("#new-name").fill("first")
    page.locator("#new-subject").fill("Your order {{order.id}}")
    page.get_by_role("button", name="Create the version").click()
    page.wait_for_url(re.compile("version="))
    checks.that(page.locator("h1").inner_text().startswith("Order has left"), "the template is open")


def previewed(page, checks):
    """What is written is shown without being saved, with what the data lacks; a mistake is named with its line."""
    shown = page.frame_locator("iframe.mail:not([hidden])")
    page.locator("#v-html").fill(HTML + EVIL)
    page.locator("#v-data").fill('{"order": {"id": "A 17"}}')
    page.get_by_text("The test data lacks: name").wait_for()
    shown.get_by_text("A 17 has left.").wait_for()
    checks.that(page.locator("[data-preview=subject]").inner_text() == "Your order A 17", "the subject is rendered")
    checks.that(shown.locator("#who").inner_text() == "", "a script of the template ran")
    colour = shown.locator("#who").evaluate("(text) => getComputedStyle(text).color")
    checks.that(colour == "rgb(4, 5, 6)", f"the style of the template: {colour}")
    checks.that("taken" not in page.title(), "the template reached the page around it")
    before = page.evaluate("history.length")
    page.locator("#v-html").fill(HTML + EVIL + "{{#if name}}\n")
    page.locator("#preview-problem").get_by_text("html_content: line").wait_for()
    page.locator("#v-html").fill(HTML)
    page.locator("#v-data").fill('{"order": {"id": "A 17"}, "name": "Ann & Co"}')
    shown.get_by_text("Ann & Co").wait_for()
    page.get_by_text("The test data lacks").wait_for(state="hidden")
    page.locator("#v-data").fill("[1]")
    page.locator("#preview-problem").get_by_text("not a JSON object").wait_for()
    checks.that(page.evaluate("history.length") == before, "previews are entries of the history")
    page.locator("#v-data").fill('{"order": {"id": "A 17"}, "name": "Ann & Co"}')
    page.locator("#preview-problem").wait_for(state="hidden")


def saved(page, host, checks, ids):
    template, version = ids
    path = f"/v3/templates/{template}/versions/{version}"
    checks.that(call(host, "GET", path)["html_content"] == "", "a preview stores nothing")
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).click()
    stored = call(host, "GET", path)
    checks.that(stored["html_content"].replace("\r", "") == HTML, f"the HTML is stored: {stored['html_content']!r}")
    checks.that("Ann & Co" in stored["test_data"], "the data is stored")
    checks.that("A 17 has left" not in stored["plain_content"] and "{{order.id}}" in stored["plain_content"], "plain text")


def sent(page, host, checks, subject, count):
    """A test mail of what the editor holds."""
    page.locator("#t-from").fill("shop@alder.example")
    page.locator("#t-to").fill(TO)
    page.get_by_role("button", name="Send the test mail").click()
    page.locator("#test-mail").get_by_text("Accepted.").wait_for()
    query = urllib.parse.quote(f'to_email="{TO}" AND status="delivered"')
    found = []

    def arrived():
        found[:] = call(host, "GET", f"/v3/messages?limit=10&query={query}")["messages"]
        return len(found) >= count

    run.until(arrived, f"{count} test mails arrive")
    subjects = [mail["subject"] for mail in found]
    checks.that(subject in subjects, f"{subject!r} is not among {subjects}")


def second(page, host, checks, template):
    """A version of its own from the same editor, compared with the first, and activated."""
    page.locator("#v-name").fill("second")
    page.locator("#v-subject").fill("Order {{order.id}} is on its way")
    page.locator("#v-html").fill(HTML.replace("has left", "is on its way"))
    page.get_by_text("Order A 17 is on its way").first.wait_for()
    page.get_by_role("button", name="Save as a new version").click()
    page.wait_for_function("() => document.querySelector('#v-name')?.value === 'second' && !document.querySelector('[data-active]')")
    sent(page, host, checks, "Order A 17 is on its way", 2)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url(re.compile("from="))
    differences = page.locator(".compared").all_inner_texts()
    checks.that(any("is on its way" in text for text in differences), f"the differences: {differences}")
    with page.expect_navigation():
        page.get_by_role("button", name="Activate second").click()
    active = [one["name"] for one in call(host, "GET", f"/v3/templates/{template}")["versions"] if one["active"]]
    checks.that(active == ["second"], f"active: {active}")
    page.locator("summary", has_text="Delete…").last.click()
    with page.expect_navigation():
        page.get_by_role("button", name="Delete “first”").click()
    names = [one["name"] for one in call(host, "GET", f"/v3/templates/{template}")["versions"]]
    checks.that(names == ["second"], f"versions: {names}")
    page.get_by_label("Name of a copy").fill("A copy")
    page.get_by_role("button", name="Duplicate").click()
    page.wait_for_function("() => document.querySelector('h1').innerText.startsWith('A copy')")
    page.locator("summary", has_text="Delete the template…").click()
    page.get_by_role("button", name="Delete “A copy”").click()
    page.wait_for_url(host.api + "/console/templates")
    names = [one["name"] for one in call(host, "GET", "/v3/templates?generations=dynamic")["templates"]]
    checks.that(names == ["Order has left"], f"templates: {names}")


def journey(page, host, checks):
    created(page, host, checks)
    ids = re.search(r"templates/(d-[0-9a-f]+)\?version=([0-9a-f-]+)", page.url).groups()
    previewed(page, checks)
    saved(page, host, checks, ids)
    sent(page, host, checks, "Your order A 17", 1)
    second(page, host, checks, ids[0])


def pages(host):
    """A template of each generation, one with long texts, and two versions compared, by name."""
    long = {"name": run.LONG[:100], "subject": (run.LONG * 2)[:255], "html_content": f"<p>{{{{{'long_' * 40}name}}}}</p>" * 40}
    dynamic = call(host, "POST", "/v3/templates", {"name": run.LONG[:100], "generation": "dynamic"})["id"]
    first = call(host, "POST", f"/v3/templates/{dynamic}/versions", {"name": "short", "subject": "Short", "html_content": "<p>1</p>"})
    second = call(host, "POST", f"/v3/templates/{dynamic}/versions", long)
    loaded = {"name": "loaded", "subject": "Loaded", "html_content": "<p>a line of it</p>\n" * 2_000}
    loaded = call(host, "POST", f"/v3/templates/{dynamic}/versions", loaded)
    legacy = call(host, "POST", "/v3/templates", {"name": "News", "generation": "legacy"})["id"]
    old = {"name": "old", "subject": "<%subject%>", "html_content": "<h1>News</h1><%body%>"}
    old = call(host, "POST", f"/v3/templates/{legacy}/versions", old)
    empty = call(host, "POST", "/v3/templates", {"name": "Empty", "generation": "legacy"})["id"]
    return {
        "templates": "/templates",
        "templates-legacy": "/templates?generation=legacy",
        "template-empty": f"/templates/{empty}",
        "template-long": f"/templates/{dynamic}?version={second['id']}",
        "template-loaded": f"/templates/{dynamic}?version={loaded['id']}",
        "template-compared": f"/templates/{dynamic}?from={first['id']}&to={second['id']}",
        "template-legacy": f"/templates/{legacy}?version={old['id']}",
    }
