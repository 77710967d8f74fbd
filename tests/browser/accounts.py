"""The part of the journey through the console that is about the account itself: settings, received mail, subusers, and who
changed what."""

import re

from run import call

SUBUSER = "elm-and-sons"
HOSTNAME = "parse.elm.example"


def pages(host):
    call(host, "POST", "/v3/subusers", {"username": SUBUSER, "email": "elm@example.com", "password": "unused-9-long"})
    domain = call(host, "POST", "/v3/whitelabel/domains", {"domain": "elm.example"})
    call(host, "POST", f"/v3/whitelabel/domains/{domain['id']}/validate", {})
    call(host, "POST", "/v3/user/webhooks/parse/settings", {"hostname": HOSTNAME, "url": "https://example.com/" + "mail/" * 30})
    return {
        "settings": "/settings",
        "setting": "/settings/subscription",
        "inbound": "/inbound",
        "subusers": "/subusers",
        "subuser": "/subusers/" + SUBUSER,
        "audit-log": "/audit-log",
    }


def journey(page, host, checks):
    settings(page, host, checks)
    inbound(page, host, checks)
    subusers(page, host, checks)
    audit_log(page, host, checks)


def settings(page, host, checks):
    page.goto(host.api + "/console/settings")
    page.get_by_role("link", name="Footer").click()
    page.get_by_label("On", exact=True).check()
    page.get_by_label("Of the text").fill("Elm & Sons\n<of Oak Street>")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(host.api + "/console/settings")
    footer = call(host, "GET", "/v3/mail_settings/footer")
    checks.that(footer["enabled"] and footer["plain_content"] == "Elm & Sons\n<of Oak Street>", f"the footer: {footer}")
    page.get_by_role("link", name="Address allow list").click()
    page.get_by_label("On", exact=True).check()
    page.get_by_label("Addresses and domains").fill("a@@b")
    page.get_by_role("button", name="Save").click()
    refused = page.locator("main [role=alert]")
    refused.wait_for()
    checks.that("list" in refused.inner_text(), f"a wrong entry is refused: {refused.inner_text()}")
    page.get_by_label("Addresses and domains").fill("ann@elm.example\nelm.example")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(host.api + "/console/settings")
    page.get_by_role("link", name="Address allow list").click()
    shown = page.get_by_label("Addresses and domains").input_value()
    checks.that(sorted(shown.split()) == ["ann@elm.example", "elm.example"], f"the list: {shown}")
    for name in ("footer", "address_whitelist"):
        call(host, "PATCH", "/v3/mail_settings/" + name, {"enabled": False})


def inbound(page, host, checks):
    domain = call(host, "POST", "/v3/whitelabel/domains", {"domain": "ash.example"})
    call(host, "POST", f"/v3/whitelabel/domains/{domain['id']}/validate", {})
    page.goto(host.api + "/console/inbound")
    page.locator("summary", has_text="New hostname").click()
    page.get_by_label("Hostname", exact=True).fill("parse.ash.example")
    page.get_by_label("Address that mail is posted to").fill("https://example.com/mail")
    page.get_by_label("The whole mail").check()
    page.get_by_role("button", name="Add", exact=True).click()
    row = page.locator("tr", has_text="parse.ash.example")
    row.wait_for()
    made = call(host, "GET", "/v3/user/webhooks/parse/settings/parse.ash.example")
    checks.that(made["send_raw"] and not made["spam_check"], f"the hostname: {made}")
    checks.that("not valid yet" in row.inner_text(), f"its MX record: {row.inner_text()}")
    row.locator("summary").click()
    row.get_by_role("button", name="Remove parse.ash.example").click()
    page.get_by_text("No hostname yet").wait_for()
    call(host, "DELETE", f"/v3/whitelabel/domains/{domain['id']}")


def subusers(page, host, checks):
    page.goto(host.api + "/console/subusers")
    page.locator("summary", has_text="New subuser").click()
    page.locator("#username").fill("oak")
    page.locator("#email").fill("oak@example.com")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url(host.api + "/console/subusers/oak")
    page.locator("summary", has_text="Change").click()
    page.get_by_label("So many in each period").check()
    page.get_by_label("Mails", exact=True).fill("500")
    page.get_by_label("Period", exact=True).select_option("daily")
    page.get_by_role("button", name="Save").click()
    page.locator(".facts", has_text="500, daily").wait_for()
    page.get_by_label("Add to what is left").fill("-100")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator(".facts", has_text="400").wait_for()
    page.get_by_role("button", name="Act for oak").click()
    page.wait_for_url(host.api + "/console")
    checks.that("You act for the subuser oak" in page.locator(".acting").inner_text(), "each page says whom it acts for")
    page.goto(host.api + "/console/settings/open")
    page.get_by_label("On", exact=True).check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(host.api + "/console/settings")
    both = [call(host, "GET", "/v3/tracking_settings/open"), call(host, "GET", "/v3/tracking_settings/open", behalf="oak")]
    checks.that([one["enabled"] for one in both] == [False, True], f"the change is the subuser's: {both}")
    page.locator(".acting").get_by_role("button", name="Stop").click()
    page.locator(".acting").wait_for(state="detached")
    page.goto(host.api + "/console/subusers/oak")
    page.get_by_role("button", name="Suspend").click()
    page.locator(".pill.bad", has_text="suspended").wait_for()
    page.get_by_role("button", name="Let it send again").click()
    page.locator(".pill.good", has_text="active").wait_for()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name=re.compile("Delete oak")).click()
    page.wait_for_url(host.api + "/console/subusers")
    checks.that(call(host, "GET", "/v3/subusers") == [], "the subuser is deleted")


def audit_log(page, host, checks):
    page.goto(host.api + "/console/audit-log")
    text = page.locator("main").inner_text()
    for change in ("DELETE /v3/subusers/oak", "POST /v3/subusers", "PATCH /v3/mail_settings/footer", "created oak"):
        checks.that(change in text, f"the audit log has {change}")
    checks.that("oak@example.com" not in text and "session of the console" in text, "no address, and who it was")
    logged = call(host, "GET", "/v3/access_settings/audit_log?limit=500")["result"]
    by = {entry["changed_by"] for entry in logged}
    checks.that(by == {"session", "api_key"}, f"who changed something: {by}")
