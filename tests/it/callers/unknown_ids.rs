//! An id of the right form that the account does not have: every route says so, and leads to what to do.

use posthaste_http::Access;
use reqwest::Method;
use serde_json::{Value, json};

use super::strangers::{self, Ids};
use super::{Answer, House, routes};

/// Routes with a name in their path that need not be known, and what they answer.
const ANSWERED: [(&str, u16); 18] = [
    // The address is looked up or removed, and there is nothing to find.
    ("GET /v3/suppression/bounces/{email}", 200),
    ("GET /v3/suppression/blocks/{email}", 200),
    ("GET /v3/suppression/invalid_emails/{email}", 200),
    ("GET /v3/suppression/spam_reports/{email}", 200),
    ("GET /v3/suppression/unsubscribes/{email}", 200),
    ("GET /v3/asm/suppressions/{email}", 200),
    ("GET /v3/asm/suppressions/global/{email}", 200),
    ("DELETE /v3/suppression/invalid_emails/{email}", 204),
    ("DELETE /v3/suppression/spam_reports/{email}", 204),
    ("DELETE /v3/suppression/unsubscribes/{email}", 204),
    ("DELETE /v3/asm/groups/{group_id}/suppressions/{email}", 204),
    ("DELETE /v3/asm/suppressions/global/{email}", 204),
    ("DELETE /v3/messages/recipients/{email}", 202),
    // A group that is gone: the addresses leave everything (API facts, appendix C).
    ("POST /v3/asm/groups/{group_id}/suppressions", 201),
    // A list of the batches that have a status: none.
    ("GET /v3/user/scheduled_sends/{batch_id}", 200),
    // Types and classes are the same for all accounts.
    ("GET /v3/clients/{client_type}/stats", 200),
    (
        "GET /v3/suppression/bounces/classifications/{classification}",
        200,
    ),
    (
        "GET /v3/suppressions/bounces/classifications/{classification}",
        200,
    ),
];

/// The place in the catalogue that each error of an answer leads to.
fn helps(answer: &Answer) -> Vec<String> {
    let refused: Value = serde_json::from_str(&answer.body).expect("JSON");
    let errors = refused["errors"].as_array().expect("errors");
    let help = |error: &Value| {
        error["help"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    errors.iter().map(help).collect()
}

#[tokio::test]
async fn every_route_says_that_an_id_is_unknown_and_what_to_do() {
    let house = House::open().await;
    let absent = Ids::absent();
    let mut body = strangers::body(&absent);
    // What else the routes require.
    let more = json!({"ips": ["192.0.2.9"], "description": "d", "subject": "s", "emails": [], "send_at": 1_800_003_600});
    let members = body.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    let addresses = json!(["192.0.2.9"]);
    let wanted = format!("http://{}/docs/errors#unknown-id", house.host.api);
    let (mut answered, mut unknown) = (Vec::new(), 0);
    for route in routes().await {
        let has_id = route.path.contains('{') && !route.path.contains("{token}");
        if route.access == Access::Public || !has_id {
            continue;
        }
        // Some read what else they need from the query.
        let path = format!(
            "{}?username=nobody&date=2026-01-01&start_date=2026-01-01",
            absent.path(&route)
        );
        let name = format!("{} {}", route.method, route.path);
        let given = if name == "PUT /v3/subusers/{subuser_name}/ips" {
            &addresses
        } else {
            &body
        };
        let answer = house.call(&route.method, &path, house.key(), given).await;
        match answer.status {
            400 | 404 => {
                unknown += 1;
                let helps = helps(&answer);
                let all = helps.iter().all(|help| *help == wanted);
                assert!(all && !helps.is_empty(), "{name}: {}", answer.body);
            }
            status => answered.push((name, status)),
        }
    }
    let mut known = ANSWERED.map(|(name, status)| (name.to_owned(), status));
    known.sort();
    answered.sort();
    assert_eq!(answered, known);
    assert!(unknown > 40, "{unknown} routes refuse");
}

/// Where an unknown id in a body or a query is a wrong field, its help is the same.
#[tokio::test]
async fn an_unknown_id_outside_of_the_path_has_the_help_too() {
    let house = House::open().await;
    let absent = Ids::absent();
    let batch = absent.batch();
    let hold = json!({"batch_id": batch, "status": "pause"});
    let records =
        json!({"link_id": 1, "domain_id": 987_654, "email": "ann@example.com", "message": "m"});
    let none = Value::Null;
    for (method, path, body, status) in [
        (Method::GET, format!("/v3/mail/batch/{batch}"), &none, 400),
        (
            Method::POST,
            "/v3/user/scheduled_sends".to_owned(),
            &hold,
            400,
        ),
        (
            Method::POST,
            "/v3/whitelabel/dns/email".to_owned(),
            &records,
            400,
        ),
        (
            Method::GET,
            "/v3/subusers/stats?subusers=nobody&start_date=2026-01-01".to_owned(),
            &none,
            400,
        ),
        (
            Method::POST,
            "/v3/logs".to_owned(),
            &json!({"subusers": ["77"]}),
            403,
        ),
        (
            Method::DELETE,
            "/v3/access_settings/whitelist".to_owned(),
            &json!({"ids": [7, 8]}),
            404,
        ),
    ] {
        let answer = house.call(&method, &path, house.key(), body).await;
        let name = format!("{method} {path}: {}", answer.body);
        assert_eq!(answer.status, status, "{name}");
        let helps = helps(&answer);
        let all = helps
            .iter()
            .all(|help| help.ends_with("/docs/errors#unknown-id"));
        assert!(all && !helps.is_empty(), "{name}");
    }
}
