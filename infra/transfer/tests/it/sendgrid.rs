//! SendGrid itself, as far as its published schema and examples show it: pages, nulls, and calls that know no subusers.

use std::collections::HashMap;

use axum::response::Response;
use posthaste_store::SuppressionList;
use posthaste_transfer::TransferReport;
use serde_json::{Value, json};

use crate::fixture::{Service, from_service};
use crate::standin::{StandinCall, data, refusal, standin};

const LEGACY: &str = "fae7c985-eb92-4b47-9987-28ec29dbc698";
const DYNAMIC: &str = "d-5a963add2ec84305813ff860db277d7a";
const VERSION: &str = "8aefe0ee-f12b-4575-b5b7-c97e21cb36f3";
const HOOK: &str = "77d4a5da-7015-11ed-a1eb-0242ac120002";

/// A page of a list by `limit` and `offset`, which SendGrid gives at most 500 of.
fn page(call: &StandinCall, all: &[Value]) -> Option<Response> {
    let number = |name: &str| call.number(name);
    let limit = number("limit").map_or(500, |limit| limit.min(500));
    let offset = number("offset").unwrap_or(0);
    let list: Vec<&Value> = all.iter().skip(offset).take(limit).collect();
    data(&json!(list))
}

/// Entries of a list between two seconds.
fn entries(call: &StandinCall, count: usize, entry: impl Fn(usize) -> Value) -> Option<Response> {
    let (start, end) = (call.number("start_time"), call.number("end_time"));
    let is_between = |entry: &Value| {
        let at = usize::try_from(entry["created"].as_u64().unwrap()).unwrap();
        start.is_none_or(|start| at >= start) && end.is_none_or(|end| at <= end)
    };
    let all: Vec<Value> = (0..count).map(entry).filter(is_between).collect();
    page(call, &all)
}

fn domain(id: i64, owner: &str, name: &str) -> Value {
    let cname = |host: &str, data: &str| json!({"valid": true, "type": "cname", "host": format!("{host}.{name}"), "data": data});
    json!({"id": id, "user_id": 7, "subdomain": "mail", "domain": name, "username": owner, "ips": ["192.0.2.1"],
        "custom_spf": false, "default": id == 1, "legacy": false, "automatic_security": true, "valid": true,
        "dns": {"mail_cname": cname("mail", "u7.wl.sendgrid.net"),
            "dkim1": cname("s1._domainkey", "s1.domainkey.u7.wl.sendgrid.net"),
            "dkim2": cname("s2._domainkey", "s2.domainkey.u7.wl.sendgrid.net")}})
}

fn sender(id: i64) -> Value {
    json!({"id": id, "nickname": format!("Orders {id}"), "from_email": format!("orders{id}@example.com"),
        "from_name": "Example Orders", "reply_to": "orders@example.com", "reply_to_name": "", "address": "1234 Fake St.",
        "address2": null, "state": "CA", "city": "San Francisco", "country": "USA", "zip": "94105", "verified": true,
        "locked": false})
}

/// What the account has.
#[expect(clippy::too_many_lines, reason = "one answer for each call")]
fn of_account(call: &StandinCall) -> Option<Response> {
    match call.path.as_str() {
        // The domains of subusers are in the list of the account too.
        "/v3/whitelabel/domains" => page(
            call,
            &[
                domain(1, "acme", "example.com"),
                domain(2, "shop", "shop.example.com"),
            ],
        ),
        "/v3/whitelabel/domains/subuser/all" if call.query == "username=shop" => {
            data(&json!([domain(1, "acme", "example.com")]))
        }
        "/v3/asm/groups" => data(
            &json!([{"id": 1234, "name": "Weekly News", "description": "News",
            "is_default": true, "unsubscribes": 1, "last_email_sent_at": null}]),
        ),
        // No pages and no windows, whatever is asked for.
        "/v3/asm/suppressions" => data(&json!([{"email": "test1@example.com", "group_id": 1234,
            "group_name": "Weekly News", "created_at": 1_410_986_704}])),
        "/v3/suppression/bounces" => entries(call, 1_203, |n| {
            let email = format!("bounce{n}@example.org");
            json!({"created": 1_443_651_125 + n, "email": email, "reason": "550 5.1.1 no such user", "status": "5.1.1"})
        }),
        "/v3/suppression/blocks" => entries(
            call,
            1,
            |_| json!({"created": 1_443_651_154, "email": "block@example.org", "reason": "no route to host", "status": "4.0.0"}),
        ),
        "/v3/suppression/invalid_emails" => entries(
            call,
            1,
            |_| json!({"created": 1_449_953_655, "email": "invalid@example.org", "reason": "Mail domain unknown"}),
        ),
        "/v3/suppression/spam_reports" => entries(
            call,
            1,
            |_| json!({"created": 1_443_651_141, "email": "spam@example.org", "ip": "10.63.202.100"}),
        ),
        "/v3/suppression/unsubscribes" => entries(
            call,
            501,
            |n| json!({"created": 1_443_651_141, "email": format!("left{n}@example.org")}),
        ),
        "/v3/templates" => template_page(call),
        path if path.starts_with("/v3/templates/") => template(path),
        "/v3/user/webhooks/event/settings/all" => {
            data(&json!({"max_allowed": 5, "webhooks": [{"enabled": true,
            "url": "https://hooks.example.com/events", "group_resubscribe": true, "delivered": true,
            "group_unsubscribe": true, "spam_report": true, "bounce": true, "deferred": true, "unsubscribe": true,
            "processed": false, "open": true, "click": true, "dropped": true, "friendly_name": "Engagement",
            "id": HOOK, "oauth_client_id": null, "oauth_token_url": null, "public_key": "MFkwEwYHKoZI",
            "created_date": "2023-01-01T12:00:00Z", "updated_date": "2023-02-15T10:00:00Z",
            "account_status_change": false}]}))
        }
        "/v3/user/webhooks/parse/settings" => data(
            &json!({"result": [{"url": "https://hooks.example.com/parse",
            "hostname": "in.example.com", "spam_check": true, "send_raw": true}]}),
        ),
        "/v3/api_keys" => {
            data(&json!({"result": [{"name": "Shop", "api_key_id": "some-apikey-id"}]}))
        }
        "/v3/api_keys/some-apikey-id" => {
            data(&json!({"api_key_id": "some-apikey-id", "name": "Shop",
            "scopes": ["mail.send", "2fa_required", "sender_verification_eligible"]}))
        }
        "/v3/alerts" => data(&json!([
            {"created_at": 1_451_498_784, "email_to": "a@example.com", "id": 46, "percentage": 90,
                "type": "usage_limit", "updated_at": 1_451_498_784},
            {"created_at": 1_451_498_812, "email_to": "b@example.com", "frequency": "monthly", "id": 47,
                "type": "stats_notification", "updated_at": 1_451_498_812}])),
        "/v3/subusers" => page(
            call,
            &[
                json!({"disabled": false, "email": "shop@example.com", "id": 1234, "username": "shop"}),
            ],
        ),
        "/v3/subusers/shop/credits" => data(
            &json!({"remain": 99, "total": 100, "used": 1, "type": "recurring",
            "reset_frequency": "monthly"}),
        ),
        "/v3/teammates" => data(
            &json!({"result": [{"username": "acme", "user_type": "owner", "is_admin": true},
            {"username": "jane", "user_type": "teammate", "is_admin": false}]}),
        ),
        "/v3/user/scheduled_sends" => {
            data(&json!([{"batch_id": "QzZmYzLTVWIwYgYzJlM2NhNWI", "status": "cancel"}]))
        }
        path => setting(path),
    }
}

/// Settings with the nulls and empty texts of those that were never set.
fn setting(path: &str) -> Option<Response> {
    let value = match path.strip_prefix("/v3/")? {
        "mail_settings/address_whitelist" => {
            json!({"enabled": true, "list": ["example.com", "jane_doe@example1.com"]})
        }
        "mail_settings/bounce_purge" => {
            json!({"enabled": false, "soft_bounces": null, "hard_bounces": null})
        }
        "mail_settings/footer" => {
            json!({"enabled": true, "html_content": "<p>Bye</p>", "plain_content": ""})
        }
        "mail_settings/forward_bounce" | "mail_settings/forward_spam" => {
            json!({"enabled": false, "email": ""})
        }
        "mail_settings/template" => {
            json!({"enabled": false, "html_content": "<p><% body %>Example</p>\n"})
        }
        "user/settings/enforced_tls" => json!({"require_tls": false, "require_valid_cert": false}),
        "tracking_settings/click" => json!({"enable_text": false, "enabled": true}),
        "tracking_settings/google_analytics" => {
            json!({"enabled": true, "utm_campaign": "", "utm_content": "lots",
            "utm_medium": "", "utm_source": "", "utm_term": ""})
        }
        "tracking_settings/open" => json!({"enabled": true}),
        "tracking_settings/subscription" => {
            json!({"enabled": false, "html_content": "", "landing": "",
            "plain_content": "", "replace": "", "url": ""})
        }
        _ => return None,
    };
    data(&value)
}

/// Two pages of one template each: the token of the second has a plus in it.
fn template_page(call: &StandinCall) -> Option<Response> {
    assert_eq!(call.value("generations").as_deref(), Some("legacy,dynamic"));
    let next = "https://api.sendgrid.com/v3/templates?generations=legacy%2Cdynamic&page_size=200&page_token=MTc5%2BQ%3D%3D";
    match call.value("page_token").as_deref() {
        None => data(
            &json!({"result": [{"id": LEGACY, "name": "Old", "generation": "legacy",
            "updated_at": "2020-11-12 12:00:09", "versions": []}],
            "_metadata": {"self": "https://api.sendgrid.com/v3/templates", "next": next, "count": 2}}),
        ),
        Some("MTc5+Q==") => data(
            &json!({"result": [{"id": DYNAMIC, "name": "Receipt", "generation": "dynamic",
            "updated_at": "2020-12-12 12:00:09", "versions": [{"id": VERSION, "template_id": DYNAMIC, "active": 1,
                "name": "first", "updated_at": "2019-03-13 18:56:33", "generate_plain_content": true,
                "subject": "{{subject}}", "editor": "code", "thumbnail_url": "//example.com/t.png"}]}],
            "_metadata": {"self": "https://api.sendgrid.com/v3/templates", "count": 2}}),
        ),
        Some(_) => refusal(400, "invalid page token"),
    }
}

fn template(path: &str) -> Option<Response> {
    let version = json!({"id": VERSION, "template_id": DYNAMIC, "active": 1, "name": "first", "updated_at": "2019-03-13 18:56:33",
        "generate_plain_content": true, "subject": "{{subject}}", "editor": "code"});
    let mut whole = version.clone();
    whole["html_content"] = "<p>{{name}}</p>".into();
    whole["plain_content"] = "{{name}}".into();
    whole["test_data"] = r#"{"name":"Ada","subject":"Hi"}"#.into();
    whole["warnings"] = json!([]);
    match path.strip_prefix("/v3/templates/")? {
        LEGACY => data(
            &json!({"id": LEGACY, "name": "Old", "generation": "legacy", "updated_at": "2020-11-12 12:00:09",
            "versions": []}),
        ),
        DYNAMIC => data(
            &json!({"id": DYNAMIC, "name": "Receipt", "generation": "dynamic",
            "updated_at": "2020-12-12 12:00:09", "versions": [version]}),
        ),
        rest if rest == format!("{DYNAMIC}/versions/{VERSION}") => data(&whole),
        _ => refusal(404, "not found"),
    }
}

/// What its subuser has, where a call takes `on-behalf-of`.
fn of_subuser(call: &StandinCall) -> Option<Response> {
    match call.path.as_str() {
        "/v3/whitelabel/domains" => page(call, &[domain(2, "shop", "shop.example.com")]),
        "/v3/templates" => data(&json!({"result": [], "_metadata": {"count": 0}})),
        path if path.starts_with("/v3/suppression/") => data(&json!([])),
        _ => None,
    }
}

fn answer(call: &StandinCall) -> Option<Response> {
    // `on-behalf-of` is no header of this call.
    if call.path == "/v3/verified_senders" {
        let after = call.number("lastSeenID").unwrap_or(0);
        let of_page: Vec<Value> = (1..=3)
            .filter(|id| *id > after)
            .take(2)
            .map(|id| sender(i64::try_from(id).unwrap()))
            .collect();
        return data(&json!({"results": of_page}));
    }
    match call.behalf.as_str() {
        "" => of_account(call),
        _ => of_subuser(call),
    }
}

fn counts(report: &TransferReport) -> HashMap<&'static str, (usize, usize)> {
    let parts = report.parts.iter();
    parts
        .map(|(name, counts)| {
            (
                *name,
                (
                    counts.read,
                    counts.created + counts.changed + counts.unchanged,
                ),
            )
        })
        .collect()
}

#[tokio::test]
async fn an_account_of_sendgrid_is_taken_over_as_its_schema_shows_it() {
    let address = standin(answer).await;
    let folder = tempfile::tempdir().unwrap();
    let to = Service::start("acme").await;
    let flags = from_service(&address, "SG.a.b", &folder.path().join("state")) + " --trust-senders";
    let report = to.import(&flags).await.unwrap();
    let text = report.text();

    let counts_of = counts(&report);
    for (part, want) in [
        ("domains", 1),
        ("verified_senders", 3),
        ("groups", 1),
        ("group_members", 1),
        ("bounces", 1_203),
        ("blocks", 1),
        ("invalid_emails", 1),
        ("spam_reports", 1),
        ("unsubscribes", 501),
        ("templates", 2),
        ("event_webhooks", 1),
        ("parse_settings", 1),
        ("mail_settings", 7),
        ("tracking_settings", 4),
        ("alerts", 2),
        ("api_keys", 1),
        ("subusers", 1),
    ] {
        assert_eq!(counts_of[part], (want, want), "{part}\n{text}");
    }
    let left: Vec<&str> = report
        .not_taken
        .iter()
        .map(|one| one.what.as_str())
        .collect();
    assert_eq!(
        left,
        [
            "1 teammates",
            "1 batches of scheduled mail that are paused or cancelled",
        ],
        "{text}"
    );

    // The subuser has its own domain, sends from that of the account, and has no sender of the account.
    let shop = &report.subusers[0];
    assert_eq!(counts(shop)["domains"], (1, 1), "{text}");
    let left: Vec<&str> = shop.not_taken.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        left,
        ["subusers/shop/verified_senders: those of the subuser"]
    );
    let lent = "/v3/whitelabel/domains/subuser/all?username=shop";
    let lent = to.call("GET", lent, Value::Null).await;
    assert_eq!(lent[0]["domain"], "example.com");
    let senders = to.call_as("shop", "GET", "/v3/verified_senders", Value::Null);
    assert_eq!(senders.await["results"], json!([]));

    let senders = to.call("GET", "/v3/verified_senders", Value::Null).await;
    assert_eq!(senders["results"][2]["verified"], true);
    let path = format!("/v3/templates/{DYNAMIC}/versions/{VERSION}");
    let version = to.call("GET", &path, Value::Null).await;
    assert_eq!(
        (&version["active"], &version["html_content"]),
        (&json!(1), &json!("<p>{{name}}</p>"))
    );
    let path = format!("/v3/templates/{LEGACY}");
    assert_eq!(
        to.call("GET", &path, Value::Null).await["generation"],
        "legacy"
    );
    let list = to
        .call("GET", "/v3/suppression/spam_reports", Value::Null)
        .await;
    assert_eq!(
        list[0],
        json!({"created": 1_443_651_141, "email": "spam@example.org", "ip": "10.63.202.100"})
    );
    let store = &to.services.store;
    let lists = store
        .suppressed(&to.tenant.account.id, "test1@example.com")
        .await
        .unwrap();
    assert_eq!(
        lists.on(SuppressionList::Group(1_234)).unwrap().at.0,
        1_410_986_704
    );

    // Nothing changed: nothing is made, and nothing is said to be.
    let again = to.import(&flags).await.unwrap();
    for (part, counts) in &again.parts {
        assert_eq!(
            (counts.created, counts.changed),
            (0, 0),
            "{part}\n{}",
            again.text()
        );
    }
}
