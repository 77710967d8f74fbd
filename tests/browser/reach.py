"""Every page of the console without JavaScript, and by keys alone."""

import re

import run

# What there is to read, besides what only a script can do.
READABLE = "main :is(h1, h2, h3, td, th, dt, dd, svg, textarea, pre)"


def without_script(browser, host, checks, cookies, pages):
    """Every page says the same as with the script, says what needs it, and has no button that would do nothing."""
    read = {}
    for script in (True, False):
        context = browser.new_context(java_script_enabled=script, viewport=run.LAPTOP)
        context.add_cookies(cookies)
        page = context.new_page()
        for name, path in pages.items():
            page.goto(host.api + "/console" + path)
            read[name, script] = page.locator(READABLE).count()
            if script:
                continue
            checks.that(read[name, False] >= read[name, True] > 0, f"{name}: {read[name, False]} of {read[name, True]}")
            checks.that("need it" in page.locator("noscript").first.inner_text(), f"{name}: what needs the script")
            for selector in ("form[method=dialog] button", "[data-copy]", "[data-needs-script]"):
                left = page.locator(selector).locator("visible=true").all_inner_texts()
                checks.that(not left, f"{name}: buttons that do nothing: {left}")
        context.close()
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(host.api + "/console/activity")
    page.get_by_role("searchbox").fill("A first mail")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url(re.compile("q=A\\+first\\+mail"))
    page.goto(host.api + "/console/activity")
    page.get_by_role("link", name="Older").click()
    page.get_by_role("link", name="Newest").wait_for()
    checks.that(page.locator(".feed tbody tr").count() == 25, "a search and the next page without a script")
    context.close()


# Everything that a mouse can use, marked by whether a key has come to it.
STOPS = """() => {
    const seen = (one) => one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length > 0;
    const all = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    return [...document.querySelectorAll(all)].filter((one) => seen(one) && !one.disabled && !one.dataset.stop)
        .filter((one) => one.type !== "radio" || !document.querySelector(
            `input[type=radio][name="${one.name}"][data-stop]`)).map((one) => one.outerHTML.slice(0, 120));
}"""
# Where the focus is; whether it can be seen; whether it opens something.
FOCUS = """() => {
    const one = document.activeElement;
    const again = Boolean(one.dataset.stop);
    one.dataset.stop = "1";
    const look = getComputedStyle(one);
    const shown = one.tagName === "IFRAME" || one === document.body || look.outlineStyle !== "none";
    const box = one.getBoundingClientRect();
    const hidden = one.closest(".bar, iframe") ? false : box.bottom < 0 || box.top > innerHeight;
    return {again, shown, hidden, body: one === document.body, html: one.outerHTML.slice(0, 120),
        opens: one.tagName === "SUMMARY" && !one.parentElement.open};
}"""
MOST_STOPS = 600
# Other states of a page, with the forms that it has in any.
SAME_FORMS = re.compile("-(later|past|search|gone|refused|half|free|90)$")


def by_keys(browser, host, checks, cookies, pages):
    """The tab key comes to everything that a mouse can use, opens what is closed, and shows where it is."""
    context = browser.new_context(viewport=run.LAPTOP)
    context.add_cookies(cookies)
    page = context.new_page()
    for name, path in pages.items():
        if SAME_FORMS.search(name):
            continue
        page.goto(host.api + "/console" + path)
        rounds = 0
        for _ in range(MOST_STOPS):
            page.keyboard.press("Tab")
            at = page.evaluate(FOCUS)
            checks.that(at["shown"] and not at["hidden"], f"{name}: the focus is not seen on {at['html']}")
            if at["opens"]:
                page.keyboard.press("Enter")
            elif at["body"]:
                # The end of the page; or a frame that was opened takes the focus with what it held when it loads.
                rounds += 1
                if rounds > 1 or not page.evaluate(STOPS):
                    break
        missed = page.evaluate(STOPS)
        checks.that(not missed, f"{name}: no key comes to {missed}")
    context.close()
