"""Walks through the API of a fresh service: makes, reads, changes and deletes what each call is about, and holds every
body and answer to the document, without room for fields that it does not name."""

import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse

import openapi_spec_validator

from api import Api, Wrong

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "clients"))
from host import Host  # noqa: E402

# Calls that nothing makes succeed here, and why.
UNREACHED = {
    "DELETE /v3/access_settings/sessions/{session_id}": "no browser signs in: tests/browser/console.py",
    "POST /v3/ips": "always refuses",
    "GET /v3/ips/{ip_address}": "there are addresses with SES alone: functions/ips/tests/it/dedicated.rs",
    "POST /v3/ips/warmup": "there are addresses with SES alone",
    "GET /v3/ips/warmup/{ip_address}": "there are addresses with SES alone",
    "DELETE /v3/ips/warmup/{ip_address}": "there are addresses with SES alone",
    "POST /v3/ips/pools/{pool_name}/ips": "there are addresses with SES alone",
    "DELETE /v3/ips/pools/{pool_name}/ips/{ip}": "there are addresses with SES alone",
    "POST /v3/whitelabel/ips/{id}/validate": "asks the DNS: functions/ips/tests/it/reverse_dns.rs",
    "POST /v3/validations/email": "asks the DNS: functions/suppressions/tests/it/validation.rs",
    "PUT /v3/user/password": "always refuses",
    "GET /v3/user/multifactor_authentication": "always refuses",
    "POST /v3/user/multifactor_authentication": "always refuses",
    "PATCH /v3/user/multifactor_authentication": "always refuses",
    "DELETE /v3/user/multifactor_authentication": "always refuses",
    "POST /v3/teammates": "always refuses",
    "PATCH /v3/teammates/{username}": "always refuses",
    "DELETE /v3/teammates/{username}": "always refuses",
    "DELETE /v3/teammates/pending/{token}": "there are no invitations",
    "POST /v3/teammates/pending/{token}/resend": "there are no invitations",
    "GET /senders/verify/{token}": "its token is in a mail: tests/it/journeys/verified_sender.rs",
    "POST /senders/verify/{token}": "its token is in a mail",
    "GET /v3/verified_senders/verify/{token}": "its token is in a mail",
    "GET /forwards/confirm/{token}": "its token is in a mail: tests/it/journeys/forwards.rs",
    "POST /forwards/confirm/{token}": "its token is in a mail",
    "GET /v3/messages/{msg_id}/content": "the account keeps no mail: functions/activity/tests/it/kept.rs",
    "POST /v3/messages/{msg_id}/send_again": "the account keeps no mail",
    "GET /console": "a page for browsers: tests/browser/console.py",
    "GET /console/{page}": "a page for browsers",
    "GET /console/{page}/{id}": "a page for browsers",
    "POST /console/{page}": "a form of a page",
    "GET /ls/click": "its token is in a mail: tests/it/journeys/tracking.rs",
    "HEAD /ls/click": "its token is in a mail",
    "GET /asm/unsubscribe": "its token is in a mail",
    "HEAD /asm/unsubscribe": "its token is in a mail",
    "POST /asm/unsubscribe": "its token is in a mail",
    "GET /asm/preferences": "its token is in a mail",
    "HEAD /asm/preferences": "its token is in a mail",
    "POST /asm/preferences": "its token is in a mail",
}
NOW = int(time.time())
# Of a key for billing, which the operator's command makes.
UNREACHED["GET /v3/user/cost"] = "needs a billing key"
DAYS = {"start_date": "2026-01-01", "end_date": "2026-01-31"}


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes every post."""

    took = threading.Event()

    def do_POST(self):  # noqa: N802
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.end_headers()
        self.took.set()

    def log_message(self, *_):
        pass


def mail(**more):
    return {
        "personalizations": [{"to": [{"email": "ann@example.com", "name": None}]}],
        "from": {"email": "me@example.com", "name": "Me"},
        "subject": "Hello",
        "content": [{"type": "text/plain", "value": "It works."}],
    } | more


def documentation(api):
    for path in ("/", "/docs", "/docs/errors", "/openapi.json"):
        api.made("GET", path)
    api.made("GET", "/", headers={"Accept": "text/html"})
    api.made("GET", "/wf/open")
    api.made("HEAD", "/wf/open")


def keys(api):
    key = api.made("POST", "/v3/api_keys", {"name": "made", "scopes": ["mail.send"]})
    at = {"api_key_id": key["api_key_id"]}
    api.made("GET", "/v3/api_keys", query={"limit": 5})
    api.made("GET", "/v3/api_keys", query={"details": True})
    api.made("GET", "/v3/api_keys/{api_key_id}", **at)
    api.made("PUT", "/v3/api_keys/{api_key_id}", {"name": "other", "scopes": ["mail.send", "alerts.read"]}, **at)
    api.made("PATCH", "/v3/api_keys/{api_key_id}", {"name": "another"}, **at)
    api.made("DELETE", "/v3/api_keys/{api_key_id}", **at)
    api.refused("DELETE", "/v3/api_keys/{api_key_id}", **at)
    api.made("GET", "/v3/scopes")


def access(api):
    whitelist, entry = "/v3/access_settings/whitelist", "/v3/access_settings/whitelist/{rule_id}"
    made = api.made("POST", whitelist, {"ips": [{"ip": "127.0.0.1"}, {"ip": "192.0.2.0/24"}, {"ip": "2001:db8::/32"}]})
    own, *others = [rule["id"] for rule in made["result"]]
    api.made("GET", whitelist)
    api.made("GET", entry, rule_id=own)
    api.made("DELETE", entry, rule_id=others[0])
    api.refused("POST", whitelist, {"ips": [{"ip": "nowhere"}]})
    api.made("GET", "/v3/access_settings/activity", query={"limit": 3})
    api.made("GET", "/v3/access_settings/audit_log", query={"limit": 3})
    sessions = "/v3/access_settings/sessions"
    api.made("GET", sessions)
    api.refused("DELETE", sessions + "/{session_id}", session_id="H" * 22)
    api.made("DELETE", sessions)
    api.made("DELETE", whitelist, {"ids": [own, others[1]]})


def sending(api):
    api.made("POST", "/v3/mail/send", mail())
    api.made("POST", "/v3/mail/send", mail(mail_settings={"sandbox_mode": {"enable": True}}))
    api.refused("POST", "/v3/mail/send", mail(subject=""))
    batch = api.made("POST", "/v3/mail/batch")["batch_id"]
    api.made("GET", "/v3/mail/batch/{batch_id}", batch_id=batch)
    headers = api.raw("POST", "/v3/mail/send", json.dumps(mail(send_at=NOW + 86_400, batch_id=batch)).encode())[1]
    message = headers["X-Message-Id"]
    sends, one = "/v3/user/scheduled_sends", "/v3/user/scheduled_sends/{batch_id}"
    single = "/v3/user/scheduled_sends/messages/{message_id}"
    api.made("GET", single, message_id=message)
    api.made("GET", f"{sends}/messages", query={"limit": 5})
    api.made("PATCH", single, {"send_at": NOW + 90_000}, message_id=message)
    api.made("POST", sends, {"batch_id": batch, "status": "pause"})
    api.made("GET", sends)
    api.made("GET", one, batch_id=batch)
    api.made("GET", f"{one}/messages", query={"limit": 5}, batch_id=batch)
    api.made("PATCH", one, {"status": "cancel"}, batch_id=batch)
    api.made("DELETE", one, batch_id=batch)
    api.made("DELETE", single, message_id=message)
    return api.raw("POST", "/v3/mail/send", json.dumps(mail(categories=["walk"])).encode())[1]["X-Message-Id"]


def templates(api):
    one, version = "/v3/templates/{template_id}", "/v3/templates/{template_id}/versions/{version_id}"
    at = {"template_id": api.made("POST", "/v3/templates", {"name": "Walk", "generation": "dynamic"})["id"]}
    api.made("POST", f"{one}/versions", {"name": "empty", "subject": "None"}, **at)
    draft = {"name": "first", "subject": "Hi {{name}}", "html_content": "<p>{{name}}</p>", "active": 1}
    at["version_id"] = api.made("POST", f"{one}/versions", draft | {"test_data": '{"name":"Ann"}'}, **at)["id"]
    api.made("GET", "/v3/templates", query={"generations": "dynamic"})
    api.made("GET", "/v3/templates", query={"generations": "legacy,dynamic", "page_size": 1})
    api.made("GET", one, **at)
    api.made("GET", version, **at)
    api.made("PATCH", version, {"subject": "Hello"}, **at)
    api.made("POST", f"{version}/activate", **at)
    api.made("POST", f"{version}/preview", {"dynamic_template_data": {"other": 1}}, **at)
    api.made("GET", f"{version}/preview", **at)
    api.made("PATCH", one, {"name": "Walked"}, **at)
    api.made("POST", one, {"name": "Copy"}, **at)
    api.made("DELETE", version, **at)
    api.made("DELETE", one, **at)


def suppressions(api):
    group = api.made("POST", "/v3/asm/groups", {"name": "News", "description": "Ours", "is_default": True})["id"]
    at, emails = {"group_id": group}, {"recipient_emails": ["left@example.com"]}
    one, members = "/v3/asm/groups/{group_id}", "/v3/asm/groups/{group_id}/suppressions"
    api.made("GET", "/v3/asm/groups")
    api.made("GET", "/v3/asm/groups", query={"id": [group]})
    api.made("GET", one, **at)
    api.made("PATCH", one, {"description": "Changed"}, **at)
    api.made("POST", members, emails, **at)
    api.made("GET", members, **at)
    api.made("POST", f"{members}/search", emails, **at)
    api.made("GET", "/v3/asm/suppressions")
    api.made("GET", "/v3/asm/suppressions/{email}", email="left@example.com")
    api.made("DELETE", f"{members}/{{email}}", email="left@example.com", **at)
    api.made("POST", "/v3/asm/suppressions/global", emails)
    one_global = "/v3/asm/suppressions/global/{email}"
    api.made("GET", one_global, email="left@example.com")
    api.made("GET", one_global, email="other@example.com")
    for name in ("bounces", "blocks", "invalid_emails", "spam_reports", "unsubscribes"):
        path = f"/v3/suppression/{name}"
        api.made("GET", path, query={"limit": 1, "start_time": 1})
        api.made("GET", f"{path}/{{email}}", email="left@example.com")
    api.made("DELETE", "/v3/suppression/unsubscribes/{email}", email="left@example.com")
    api.made("POST", "/v3/asm/suppressions/global", emails)
    api.made("DELETE", one_global, email="left@example.com")
    for name in ("bounces", "blocks", "invalid_emails", "spam_reports", "unsubscribes"):
        api.made("DELETE", f"/v3/suppression/{name}", {"delete_all": True})
        if name != "unsubscribes":
            # An address that is on none of them is a 404 of these two lists, and done of the others.
            delete = api.refused if name in ("bounces", "blocks") else api.made
            delete("DELETE", f"/v3/suppression/{name}/{{email}}", email="left@example.com")
    api.made("DELETE", one, **at)


def webhooks(api, receiver):
    settings, one = "/v3/user/webhooks/event/settings", "/v3/user/webhooks/event/settings/{id}"
    signed, one_signed = f"{settings}/signed", f"{settings}/signed/{{id}}"
    api.made("GET", settings)
    api.made("GET", signed)
    body = {"url": receiver, "enabled": True, "delivered": True, "friendly_name": "Walk"}
    at = {"id": api.made("POST", settings, body)["id"]}
    api.refused("POST", settings, body)
    api.made("GET", f"{settings}/all", query={"include": "account_status_change"})
    api.made("GET", one, query={"include": "account_status_change"}, **at)
    api.made("PATCH", one, {"url": receiver, "open": True}, **at)
    api.made("PATCH", settings, {"url": receiver, "click": True})
    api.made("PATCH", one_signed, {"enabled": True}, **at)
    api.made("GET", one_signed, **at)
    api.made("GET", one, **at)
    api.made("PATCH", signed, {"enabled": False})
    api.made("POST", "/v3/user/webhooks/event/test", {"id": at["id"], "url": receiver})
    api.made("POST", "/v3/user/webhooks/event/test", {"id": at["id"], "url": receiver, "details": True})
    api.made("GET", "/v3/user/webhooks/event/undelivered", query={"limit": 1, "since": 0})
    api.made("POST", "/v3/user/webhooks/event/undelivered/replay", {"since": 0})
    Receiver.took.clear()
    api.made("POST", "/v3/mail/send", mail())
    posts, begin = "/v3/user/webhooks/event/posts", time.monotonic()
    # A post is stored when its answer is there.
    if not Receiver.took.wait(60):
        raise Wrong("no webhook was called")
    while not (found := api.made("GET", posts, query={"status": "ok", "webhook_id": at["id"]})["result"]):
        if time.monotonic() > begin + 60:
            raise Wrong("the post is not listed")
    api.made("GET", posts + "/{post_id}", post_id=found[0]["post_id"])
    again = posts + "/replay"
    found = api.made("POST", again, {"start_time": 0, "end_time": 604800, "webhook_id": at["id"]})
    api.made("GET", again + "/{replay_id}", replay_id=found["replay_id"])
    api.made("DELETE", one, **at)


def parse(api, receiver):
    settings, one = "/v3/user/webhooks/parse/settings", "/v3/user/webhooks/parse/settings/{hostname}"
    setting = {"url": receiver, "hostname": "in.walk.example", "spam_check": True, "send_raw": False}
    api.made("POST", settings, setting)
    at = {"hostname": setting["hostname"]}
    api.made("GET", settings, query={"limit": 1})
    api.made("GET", one, **at)
    api.made("PATCH", one, {"send_raw": True}, **at)
    api.made("GET", "/v3/user/webhooks/parse/stats", query=DAYS | {"aggregated_by": "week"})
    api.made("GET", "/v3/user/webhooks/parse/undelivered")
    api.made("POST", "/v3/user/webhooks/parse/undelivered/replay")
    policies(api, one, at)
    api.made("DELETE", one, **at)


def policies(api, setting, hostname):
    """A policy that is attached to the parse setting of a hostname."""
    policies, one = "/v3/user/webhooks/security/policies", "/v3/user/webhooks/security/policies/{id}"
    oauth = {"client_id": "walker", "client_secret": "unused", "token_url": "https://auth.walk.example/", "scopes": ["walk"]}
    body = {"name": "walk", "oauth": oauth, "signature": {"enabled": True}}
    at = {"id": api.made("POST", policies, body)["policy"]["id"]}
    api.made("GET", policies)
    api.made("GET", one, **at)
    api.made("PATCH", one, {"name": "walked", "oauth": None}, **at)
    api.made("PATCH", setting, {"security_policy": at["id"]}, **hostname)
    api.made("GET", setting, **hostname)
    api.made("DELETE", one, query={"force": "true"}, **at)


def subusers(api):
    one = "/v3/subusers/{subuser_name}"
    at = {"subuser_name": "walker"}
    body = {"username": "walker", "email": "w@example.com", "password": "unused", "ips": []}
    api.made("POST", "/v3/subusers", body | {"include_region": True, "region": "global"})
    api.made("GET", "/v3/subusers", query={"include_region": "true", "limit": 5})
    api.made("GET", one, **at)
    api.made("PATCH", one, {"disabled": False}, **at)
    api.made("PATCH", f"{one}/website_access", {"disabled": True}, **at)
    api.made("PUT", f"{one}/ips", ["192.0.2.9"], **at)
    api.made("GET", f"{one}/credits", **at)
    api.made("PUT", f"{one}/credits", {"type": "recurring", "reset_frequency": "daily", "total": 5}, **at)
    api.made("PATCH", f"{one}/credits/remaining", {"allocation_update": 2}, **at)
    api.made("GET", "/v3/partners/accounts")
    monitor = f"{one}/monitor"
    api.made("POST", monitor, {"email": "m@example.com", "frequency": 500}, subuser_name="walker")
    api.made("GET", monitor, subuser_name="walker")
    api.made("PUT", monitor, {"email": "m@example.com", "frequency": 5}, subuser_name="walker")
    api.made("DELETE", monitor, subuser_name="walker")
    api.made("GET", "/v3/subusers/reputations")
    api.made("GET", "/v3/subusers/stats", query=DAYS | {"subusers": ["walker"]})
    api.made("GET", "/v3/subusers/stats/sums", query=DAYS)
    api.made("GET", "/v3/subusers/stats/monthly", query={"date": "2026-01-01"})
    api.made("GET", f"{one}/stats/monthly", query={"date": "2026-01-01"}, **at)


def identity(api):
    domains, one = "/v3/whitelabel/domains", "/v3/whitelabel/domains/{id}"
    at = {"id": api.made("POST", domains, {"domain": "walk.example", "automatic_security": True})["id"]}
    manual = api.made("POST", domains, {"domain": "manual.example", "automatic_security": False})["id"]
    api.made("GET", domains, query={"exclude_subusers": "true"})
    api.made("GET", f"{domains}/default")
    api.made("GET", one, **at)
    api.made("PATCH", one, {"default": True}, **at)
    api.made("POST", f"{one}/validate", **at)
    api.made("POST", f"{one}/validate", id=manual)
    api.made("POST", f"{one}/ips", {"ip": "192.0.2.1"}, **at)
    api.made("DELETE", f"{one}/ips/{{ip}}", ip="192.0.2.1", **at)
    api.made("POST", f"{one}/subuser", {"username": "walker"}, **at)
    api.made("POST", f"{one}/subuser:add", {"username": "walker"}, id=manual)
    api.made("GET", one, **at)
    api.made("GET", f"{domains}/subuser", query={"username": "walker"})
    api.made("GET", f"{domains}/subuser/all", query={"username": "walker"})
    api.made("DELETE", f"{one}/subuser", query={"username": "walker"}, **at)
    api.made("DELETE", f"{domains}/subuser", query={"username": "walker"})
    link = branded_links(api)
    note = {"domain_id": at["id"], "link_id": link, "email": "dns@example.com", "message": "Please"}
    api.made("POST", "/v3/whitelabel/dns/email", note)
    api.made("DELETE", one, id=manual)
    senders, sender = "/v3/verified_senders", "/v3/verified_senders/{id}"
    body = {"nickname": "Me", "from_email": "me@sender.example", "reply_to": "me@sender.example", "address": "1 Street",
            "city": "Town", "country": "Land"}
    mine = api.made("POST", senders, body)["id"]
    api.refused("POST", senders, {"from_email": "nowhere"})
    api.made("GET", senders, query={"limit": 3})
    api.made("GET", f"{senders}/domains")
    api.made("GET", f"{senders}/steps_completed")
    api.made("PATCH", sender, {"nickname": "You"}, id=mine)
    api.made("POST", f"{senders}/resend/{{id}}", id=mine)
    api.made("DELETE", sender, id=mine)
    older, one = "/v3/senders", "/v3/senders/{sender_id}"
    body = {"nickname": "Old", "from": {"email": "old@example.org"}, "reply_to": {"email": "old@example.org"}}
    place = {"address": "1 Main St", "city": "Town", "country": "Land"}
    old = api.made("POST", older, body | place)["id"]
    api.refused("POST", older, body)
    api.made("GET", older)
    api.made("GET", one, sender_id=old)
    api.made("PATCH", one, {"city": "City"}, sender_id=old)
    api.made("POST", f"{one}/resend_verification", sender_id=old)
    api.made("DELETE", one, sender_id=old)


def addresses(api):
    pools, pool, ip = "/v3/ips/pools", "/v3/ips/pools/{pool_name}", {"ip": "192.0.2.1"}
    for path in ("/v3/ips", "/v3/ips/assigned", "/v3/ips/remaining", "/v3/ips/warmup"):
        api.made("GET", path)
    for path in ("/v3/ips/{ip_address}", "/v3/ips/warmup/{ip_address}"):
        api.refused("GET", path, ip_address="192.0.2.1")
    api.refused("DELETE", "/v3/ips/warmup/{ip_address}", ip_address="192.0.2.1")
    api.refused("POST", "/v3/ips/warmup", ip)
    api.made("POST", pools, {"name": "walk"})
    api.made("GET", pools)
    api.made("PUT", pool, {"name": "walked"}, pool_name="walk")
    api.made("GET", pool, pool_name="walked")
    api.refused("POST", f"{pool}/ips", ip, pool_name="walked")
    api.refused("DELETE", f"{pool}/ips/{{ip}}", pool_name="walked", ip="192.0.2.1")
    api.made("DELETE", pool, pool_name="walked")
    names, name = "/v3/whitelabel/ips", "/v3/whitelabel/ips/{id}"
    made = api.made("POST", names, ip | {"domain": "example.com"})
    api.refused("POST", names, {"ip": "nowhere"})
    api.made("GET", names, query={"limit": 5})
    api.made("GET", name, id=made["id"])
    api.made("DELETE", name, id=made["id"])


def branded_links(api):
    """The number of a branded link that stays."""
    links, one = "/v3/whitelabel/links", "/v3/whitelabel/links/{id}"
    made = api.made("POST", links, {"domain": "walk.example", "subdomain": "links", "default": True})
    at = {"id": made["id"]}
    other = api.made("POST", links, {"domain": "manual.example"})["id"]
    api.refused("POST", links, {"domain": "no name"})
    api.made("GET", links, query={"limit": 5})
    api.made("GET", f"{links}/default", query={"domain": "walk.example"})
    api.made("GET", one, **at)
    api.made("PATCH", one, {"default": True}, id=other)
    api.made("POST", f"{one}/validate", id=other)
    api.made("POST", f"{one}/subuser", {"username": "walker"}, id=other)
    api.made("GET", f"{links}/subuser", query={"username": "walker"})
    api.made("DELETE", f"{links}/subuser", query={"username": "walker"})
    # Otherwise mail of this walk would lead to a host that nobody has.
    api.made("DELETE", one, id=other)
    return made["id"]


def partners(api):
    settings, new_relic = "/v3/partner_settings", "/v3/partner_settings/new_relic"
    api.made("GET", settings, query={"limit": 5})
    api.made("PATCH", new_relic, api.made("GET", new_relic))
    api.refused("PATCH", new_relic, {"enabled": True})


def ending(api):
    api.made("DELETE", "/v3/subusers/{subuser_name}", subuser_name="walker")


def settings(api):
    for path in ("/v3/mail_settings", "/v3/tracking_settings"):
        api.made("GET", path, query={"limit": 2})
        for setting in [one for one in api.document["paths"] if one.startswith(f"{path}/")]:
            shown = api.made("GET", setting)
            api.made("PATCH", setting, {name: value for name, value in shown.items() if name != "email"})
    api.made("PATCH", "/v3/mail_settings/forward_bounce", {"enabled": True, "email": "reports@example.com"})
    api.made("PATCH", "/v3/mail_settings/bounce_purge", {"enabled": True, "soft_bounces": 5, "hard_bounces": None})
    for name in ("profile", "account", "credits", "email", "username", "timezone", "sending_limits"):
        api.made("GET", f"/v3/user/{name}")
    api.made("PATCH", "/v3/user/profile", {"city": "Town"})
    for path in ("/v3/teammates", "/v3/teammates/pending"):
        api.made("GET", path)
    api.made("PUT", "/v3/user/email", {"email": "me@example.com"})
    api.made("PUT", "/v3/user/username", {"username": "renamed"})
    api.made("GET", "/v3/teammates/{username}", username="renamed")
    api.made("GET", "/v3/teammates/{username}/subuser_access", username="renamed")
    alerts, alert = "/v3/alerts", "/v3/alerts/{alert_id}"
    daily = api.made("POST", alerts, {"type": "stats_notification", "email_to": "me@example.com", "frequency": "daily"})
    usage = api.made("POST", alerts, {"type": "usage_limit", "email_to": "me@example.com", "percentage": 90})
    api.refused("POST", alerts, {"type": "usage_limit", "email_to": "me@example.com", "percentage": 101})
    api.made("GET", alerts)
    api.made("GET", alert, alert_id=usage["id"])
    api.made("PATCH", alert, {"frequency": "weekly"}, alert_id=daily["id"])
    api.made("DELETE", alert, alert_id=daily["id"])
    tls = "/v3/user/settings/enforced_tls"
    api.made("GET", tls)
    api.made("PATCH", tls, {"require_tls": True, "require_valid_cert": True, "version": 1.2})
    api.made("PATCH", tls, {"require_tls": False, "require_valid_cert": False})
    api.made("PUT", "/v3/user/timezone", {"timezone": "Europe/Berlin"})
    api.made("PATCH", "/v3/user/timezone", {"timezone": "UTC"})
    for call in UNREACHED:
        method, path = call.split()
        captures = {name: "x" for name in re.findall(r"\{(\w+)\}", path)}
        api.call(method, path, **captures)


def activity(api, message):
    api.made("GET", "/v3/messages", query={"limit": 5})
    api.refused("GET", "/v3/messages", query={"query": "nonsense"})
    api.made("GET", "/v3/messages/{msg_id}", msg_id=message)
    requested = api.made("POST", "/v3/messages/download", query={"query": 'status="delivered"'})
    identifier = requested["message"].rpartition("/v3/messages/download/")[2].split()[0]
    link = api.made("GET", "/v3/messages/download/{download_uuid}", download_uuid=identifier)["presigned_url"]
    signed = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query, keep_blank_values=True)
    api.made("GET", "/downloads/messages/{download_uuid}", query=signed, download_uuid=identifier)
    api.made("POST", "/v3/logs", {"limit": 5})
    api.made("GET", "/v3/logs/{sg_message_id}", sg_message_id=message)
    api.made("GET", "/v3/stats", query=DAYS | {"aggregated_by": "month"})
    for kind in ("browsers", "clients", "devices", "geo", "mailbox_providers"):
        api.made("GET", f"/v3/{kind}/stats", query=DAYS)
    api.made("GET", "/v3/clients/{client_type}/stats", query=DAYS, client_type="phone")
    api.made("GET", "/v3/categories")
    api.made("GET", "/v3/categories/stats", query=DAYS | {"categories": ["walk"]})
    api.made("GET", "/v3/categories/stats/sums", query=DAYS | {"sort_by_metric": "opens"})
    for word in ("suppression", "suppressions"):
        path = f"/v3/{word}/bounces/classifications"
        api.made("GET", path)
        api.made("GET", path, headers={"Accept": "text/csv"})
        api.made("GET", f"{path}/{{classification}}", classification="Invalid Address")
    api.made("DELETE", "/v3/messages/recipients/{email}", query={"suppressions": "true"}, email="nobody@example.com")
    api.made("DELETE", "/v3/messages/recipients/{email}", email="ann@example.com")
    job = api.made("POST", "/v3/recipients/erasejob", {"email_addresses": ["carl@example.com"]})["job_id"]
    api.made("GET", "/v3/recipients/erasejob/{job_id}", job_id=job)


def walk(host):
    api = Api(host.api, host.key)
    openapi_spec_validator.validate(api.document)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver = f"http://127.0.0.1:{server.server_port}/hook"
    documentation(api)
    keys(api)
    access(api)
    message = sending(api)
    host.raws(2)
    templates(api)
    suppressions(api)
    webhooks(api, receiver)
    subusers(api)
    identity(api)
    parse(api, receiver)
    settings(api)
    partners(api)
    addresses(api)
    activity(api, message)
    ending(api)
    server.shutdown()
    all_of_it = {f"{method.upper()} {path}" for path, methods in api.document["paths"].items() for method in methods}
    left = sorted(all_of_it - api.reached - set(UNREACHED))
    # Removing what is on a list needs a refusal or a report, which is not made here.
    left = [call for call in left if not (call.startswith("DELETE /v3/suppression/") and call.endswith("/{email}"))]
    if left:
        raise Wrong("nothing here calls, with success: " + ", ".join(left))
    print(f"calls: {len(all_of_it)}, reached: {len(api.reached)}, never successful: {len(UNREACHED)}")


def main():
    host = Host(sys.argv[1])
    try:
        walk(host)
    except Wrong as wrong:
        print(f"FAILED: {wrong}")
        return 1
    finally:
        host.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
