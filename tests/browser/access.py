"""Keys, the IP allow list, sessions and attempts on the pages of the console; parts of the journey in console.py."""

import re
import urllib.error
import urllib.request

import run

PAGE = "/console/access"


def by_key(host, key):
    """A session that a key opens, outside of the browser: its token."""
    request = urllib.request.Request(
        host.api + "/console/sign-in",
        f"key={key}".encode(),
        {"Origin": host.api, "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/141.0"},
    )

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        urllib.request.build_opener(Stay).open(request)
    except urllib.error.HTTPError as answer:
        return answer.headers["Set-Cookie"].split(";")[0].split("=", 1)[1]
    raise SystemExit("a sign-in without a session")


def status_of(host, token):
    """What a session gets for an answer."""
    request = urllib.request.Request(f"{host.api}/v3/scopes", headers={"Cookie": f"posthaste={token}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def keys(page, host, checks, call):
    """A key is renamed, narrowed and removed."""
    made = call(host, "POST", "/v3/api_keys", {"name": "old name", "scopes": ["mail.send", "stats.read"]})
    page.goto(host.api + PAGE)
    row = page.locator("tr", has_text="old name")
    checks.that("never" in row.inner_text(), f"an unused key: {row.inner_text()}")
    row.get_by_role("link", name="old name").click()
    page.wait_for_url(re.compile(PAGE + "/."))
    page.locator("#name").fill("narrow key")
    page.locator("summary", has_text="Scopes one by one").click()
    page.get_by_label("stats.read", exact=True).uncheck()
    checks.that(page.locator("#own").is_checked(), "a change of the scopes chooses them")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(host.api + PAGE)
    held = call(host, "GET", f"/v3/api_keys/{made['api_key_id']}")
    checks.that((held["name"], held["scopes"]) == ("narrow key", ["mail.send"]), f"changed: {held}")
    page.get_by_role("link", name="narrow key").click()
    page.locator("summary", has_text="Remove the key").click()
    page.get_by_role("button", name="Remove “narrow key”").click()
    page.wait_for_url(host.api + PAGE)
    page.get_by_role("heading", name="API keys").wait_for()
    checks.that(page.get_by_role("link", name="narrow key").count() == 0, "the key is still listed")


def sessions(page, host, checks):
    """One session ends, then all others; the one of the page stays."""
    first, *others = [by_key(host, host.key) for _ in range(3)]
    page.goto(host.api + PAGE)
    table = page.get_by_role("table", name="Sessions")
    table.get_by_text("this session").wait_for()
    checks.that("Firefox on Linux" in table.inner_text(), f"the browsers: {table.inner_text()}")
    rows = table.locator("tbody tr").count()
    for token in [first, *others]:
        checks.that(status_of(host, token) == 200, "a session is used")
    table.get_by_role("button", name="End the session from").first.click()
    page.wait_for_function(
        "(rows) => document.querySelectorAll('section[aria-labelledby=sessions] tbody tr').length === rows - 1", arg=rows
    )
    ended = [token for token in [first, *others] if status_of(host, token) == 401]
    checks.that(len(ended) == 1, f"ended: {len(ended)}")
    page.get_by_role("button", name="End all other sessions").click()
    page.wait_for_function("() => document.querySelectorAll('section[aria-labelledby=sessions] tbody tr').length === 1")
    checks.that({status_of(host, token) for token in [first, *others]} == {401}, "a session goes on")


def allow_list(page, host, checks, call):
    """The reader's own address first, then a range; the warnings before a lock-out are those of what would follow."""
    page.goto(host.api + PAGE)
    checks.that("You are 127.0.0.1" in page.locator("main").inner_text(), "the address of the reader")
    page.get_by_label("Add addresses or ranges").fill("192.0.2.7")
    page.get_by_role("button", name="Look at it first").click()
    page.get_by_text("This locks you out.").wait_for()
    checks.that(page.get_by_role("button", name="Add, and lock me out").count() == 1, "the warning has its button")
    checks.that(call(host, "GET", "/v3/access_settings/whitelist")["result"] == [], "a look adds nothing")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Allow 127.0.0.1 only").click()
    page.get_by_text("which is on the list").wait_for()
    page.locator("summary", has_text="Remove…").click()
    checks.that(page.get_by_role("button", name="Remove the last entry").is_visible(), "the last entry")
    page.get_by_label("Add addresses or ranges").fill("198.51.100.* 2001:db8::/32")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add to the list").click()
    page.get_by_text("from the 3 addresses and ranges of the list").wait_for()
    listed = [rule["ip"] for rule in call(host, "GET", "/v3/access_settings/whitelist")["result"]]
    checks.that(listed == ["127.0.0.1/32", "198.51.100.0/24", "2001:db8::/32"], f"listed: {listed}")
    own = page.locator("tr", has_text="127.0.0.1/32").first
    own.locator("summary").click()
    checks.that(own.get_by_role("button", name="Remove, and lock me out").is_visible(), "removing one's own address")
    page.locator("tr", has_text="198.51.100.0/24").get_by_role("button").click()
    page.get_by_text("from the 2 addresses and ranges").wait_for()


def locked_out(page, host, checks):
    """Past the warning the reader is out, and the page says why and who opens the account."""
    page.goto(host.api + PAGE)
    own = page.locator("tr", has_text="127.0.0.1/32").first
    own.locator("summary").click()
    own.get_by_role("button", name="Remove, and lock me out").click()
    page.get_by_text("No access").first.wait_for()
    text = page.locator("main").inner_text()
    checks.that("allow list" in text and "posthaste access recover" in text, f"why: {text}")


def fill(host, call):
    """Long names and many rows, for the looks of the page."""
    call(host, "POST", "/v3/api_keys", {"name": "A name of a key that goes on and on " * 6, "scopes": ["mail.send"]})
    call(host, "POST", "/v3/api_keys", {"name": "nightly tests", "scopes": ["mail.send", "stats.read"], "test": True})
    by_key(host, host.key)
    ips = [{"ip": "127.0.0.1"}, {"ip": "2001:db8:1234:5678:9abc:def0::/96"}]
    ips += [{"ip": f"198.51.100.{n}"} for n in range(60)]
    call(host, "POST", "/v3/access_settings/whitelist", {"ips": ips})


def empty(host, call):
    """The allow list is empty again."""
    rules = call(host, "GET", "/v3/access_settings/whitelist")["result"]
    call(host, "DELETE", "/v3/access_settings/whitelist", {"ids": [rule["id"] for rule in rules]})


def pages(host, call):
    """The addresses of the pages to look at."""
    made = call(host, "GET", "/v3/api_keys")["result"]
    named = next(key for key in made if key["name"] == "billing, production")
    return {
        "access": "/access",
        "access-preview": "/access?add=203.0.113.9",
        "access-refused": "/access?add=nowhere+127.0.0.1",
        "key": f"/access/{named['api_key_id']}",
        "key-none": "/access/nothing",
    }


def few_scopes(browser, host, checks, call, folder, look):
    """With a key of few scopes the sections that it may not read say so."""
    made = call(host, "POST", "/v3/api_keys", {"name": "few", "scopes": ["mail.send"]})
    context = browser.new_context(viewport=run.LAPTOP)
    token = by_key(host, made["api_key"])
    context.add_cookies([{"name": "posthaste", "value": token, "url": host.api, "httpOnly": True, "sameSite": "Strict"}])
    page = context.new_page()
    page.goto(host.api + PAGE)
    checks.that(page.get_by_text("lacks the scope").count() == 4, "each section says why it is empty")
    look(page, checks, folder, "access-forbidden", "laptop", "light")
    context.close()
