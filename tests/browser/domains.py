"""The part of the journey through the console that is about domains: one added, its records copied and looked up, a sender."""

import re

from run import call

DOMAIN = "alder-shop.example"


def journey(page, host, checks):
    page.goto(host.api + "/console/domains")
    page.get_by_label("New domain").fill(DOMAIN)
    page.get_by_role("button", name="Add", exact=True).first.click()
    page.wait_for_url(re.compile("/console/domains/[0-9]+"))
    domain = page.url.rsplit("/", 1)[1]
    stored = call(host, "GET", f"/v3/whitelabel/domains/{domain}")
    text = page.locator("main").inner_text()
    for record in stored["dns"].values():
        checks.that(record["host"] in text and record["data"] in text, f"the record {record}")
    checks.that(f"_dmarc.{DOMAIN}" in text, "the record of a policy")
    page.get_by_role("button", name="Look them up now").click()
    # A laptop takes records as they should be, unless it is started with a resolver.
    page.locator("#answers .pill.good").first.wait_for()
    shown = page.locator("#answers .pill").all_inner_texts()
    checks.that(set(shown) == {"valid"} and len(shown) == len(stored["dns"]), f"what the DNS answers: {shown}")
    page.goto(host.api + "/console/domains")
    checks.that(page.locator("li", has_text=DOMAIN).locator(".pill.good").count() == 1, "the domain is valid")
    page.get_by_label("Address", exact=True).fill("ann@elsewhere.example")
    page.get_by_label("Replies go to").fill("ann@elsewhere.example")
    page.get_by_label("Name of the entry").fill("Ann")
    page.get_by_role("button", name="Add, and mail a link to it").click()
    page.get_by_text("waits for its link").wait_for()
    page.locator("summary", has_text="Delete").first.click()
    page.get_by_role("button", name="Delete ann@elsewhere.example").click()
    page.get_by_text("No single address").wait_for()
    checks.that(call(host, "GET", "/v3/verified_senders")["results"] == [], "the sender is deleted")
    page.goto(f"{host.api}/console/domains/{domain}")
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete " + DOMAIN).click()
    page.wait_for_url(host.api + "/console/domains")
    checks.that(call(host, "GET", "/v3/whitelabel/domains") == [], "the domain is deleted")
