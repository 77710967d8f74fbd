//! Statistics by mailbox provider, mail client, device and browser.

use std::collections::BTreeMap;

use posthaste_model::Segment;
use posthaste_store::Tally;
use serde_json::{Value, json};

use crate::TestApp;

const DAYS: &str = "start_date=2026-01-31&end_date=2026-02-01";
const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

impl TestApp {
    /// Counts these metrics of segments on a day, as the fan-out does.
    async fn count_segments(&self, day: &str, counted: &[(Segment, &'static str)]) {
        let place = (day.to_owned(), String::new());
        let mut tally = Tally::default();
        tally.counters.insert(place, BTreeMap::from([("opens", 1)]));
        for (segment, metric) in counted {
            tally.segments.add(day, *segment, metric);
        }
        let id = &self.tenant.account.id;
        let batch = format!("{day}{counted:?}");
        let counted = self.store.count_batch(id, &batch, &tally, self.hand.now());
        counted.await.unwrap();
    }

    async fn json(&self, path: &str) -> Value {
        self.get(path).await.expect(200).json()
    }
}

/// The name and one metric of each statistic of a period.
fn named(period: &Value, metric: &str) -> Vec<(String, i64)> {
    let stats = period["stats"].as_array().unwrap().iter();
    let pair = |stat: &Value| {
        let name = stat["name"].as_str().unwrap().to_owned();
        (name, stat["metrics"][metric].as_i64().unwrap())
    };
    stats.map(pair).collect()
}

fn pairs(of: &[(&str, i64)]) -> Vec<(String, i64)> {
    of.iter()
        .map(|(name, n)| ((*name).to_owned(), *n))
        .collect()
}

#[tokio::test]
async fn a_provider_has_its_counters_in_each_period() {
    let app = TestApp::new().await;
    let [gmail, yahoo] = ["a@gmail.com", "a@yahoo.fr"].map(Segment::provider);
    app.count_segments("2026-01-31", &[(gmail, "delivered"), (gmail, "opens")])
        .await;
    app.count_segments("2026-02-01", &[(yahoo, "delivered"), (gmail, "delivered")])
        .await;
    let path = format!("/v3/mailbox_providers/stats?{DAYS}");
    let days = app.json(&path).await;
    assert_eq!(days[0]["date"], "2026-01-31");
    let of = |day: usize, metric| named(&days[day], metric);
    assert_eq!(of(0, "delivered"), pairs(&[("Gmail", 1), ("Yahoo", 0)]));
    assert_eq!(of(1, "delivered"), pairs(&[("Gmail", 1), ("Yahoo", 1)]));
    assert_eq!(of(0, "opens"), pairs(&[("Gmail", 1), ("Yahoo", 0)]));
    let stat = &days[0]["stats"][0];
    assert_eq!(stat["type"], "mailbox_provider");
    assert_eq!(stat["metrics"].as_object().unwrap().len(), 12);

    let months = app
        .json(&format!("{path}&aggregated_by=month&limit=1"))
        .await;
    assert_eq!(months.as_array().unwrap().len(), 1);
    assert_eq!(
        named(&months[0], "delivered"),
        pairs(&[("Gmail", 1), ("Yahoo", 0)])
    );

    // In any case; what has counted nothing is shown as it was asked for.
    let some = app
        .json(&format!(
            "{path}&mailbox_providers=gmail&mailbox_providers=AOL"
        ))
        .await;
    assert_eq!(
        named(&some[1], "delivered"),
        pairs(&[("AOL", 0), ("Gmail", 1)])
    );
    let whole = app.json(&format!("/v3/stats?{DAYS}")).await;
    assert_eq!(
        whole[0]["stats"][0]["metrics"].as_object().unwrap().len(),
        16
    );
}

#[tokio::test]
async fn clients_devices_and_browsers_have_counters_of_their_own() {
    let app = TestApp::new().await;
    let day = "2026-01-31";
    let (client, device) = (Segment::client(IPHONE), Segment::device(IPHONE));
    let gmail = Segment::client("GoogleImageProxy");
    let browser = Segment::browser(FIREFOX);
    let counted = [
        (client, "opens"),
        (gmail, "opens"),
        (device, "opens"),
        (browser, "clicks"),
    ];
    app.count_segments(day, &counted).await;
    for (path, kind, metric, want) in [
        (
            "clients",
            "client",
            "opens",
            vec![("Gmail", 1), ("Apple iPhone", 1)],
        ),
        (
            "clients/phone",
            "client",
            "opens",
            vec![("Apple iPhone", 1)],
        ),
        ("clients/webmail", "client", "opens", vec![("Gmail", 1)]),
        ("clients/tablet", "client", "opens", vec![]),
        ("clients/desktop", "client", "opens", vec![]),
        ("devices", "device", "opens", vec![("Phone", 1)]),
        ("browsers", "browser", "clicks", vec![("Firefox", 1)]),
    ] {
        let answer = app.json(&format!("/v3/{path}/stats?{DAYS}")).await;
        assert_eq!(named(&answer[0], metric), pairs(&want), "{path}");
        for stat in answer[0]["stats"].as_array().unwrap() {
            assert_eq!(stat["type"], kind);
            assert_eq!(stat["metrics"].as_object().unwrap().len(), 2, "{path}");
        }
    }
    let none = app
        .json(&format!("/v3/browsers/stats?{DAYS}&browsers=Chrome"))
        .await;
    assert_eq!(named(&none[0], "clicks"), pairs(&[("Chrome", 0)]));
}

#[tokio::test]
async fn a_key_sees_the_clients_of_the_type_that_it_has_the_scope_of() {
    let app = TestApp::new().await;
    for (scope, seen) in [
        ("clients.phone.stats.read", ["phone"].as_slice()),
        (
            "clients.stats.read",
            &["phone", "tablet", "webmail", "desktop"],
        ),
        ("stats.read", &[]),
    ] {
        let key = app.tenant.restricted(&app.store, &[scope]).await;
        for kind in ["phone", "tablet", "webmail", "desktop"] {
            let path = format!("/v3/clients/{kind}/stats?{DAYS}");
            let answer = app.api.get(&path).key(&key).send().await;
            let want = if seen.contains(&kind) { 200 } else { 403 };
            answer.expect(want);
        }
    }
}

#[tokio::test]
async fn places_have_periods_without_statistics() {
    let app = TestApp::new().await;
    let answer = app.json(&format!("/v3/geo/stats?{DAYS}&country=US")).await;
    let want = json!([{"date": "2026-01-31", "stats": []}, {"date": "2026-02-01", "stats": []}]);
    assert_eq!(answer, want);
    let wrong = app.get(&format!("/v3/geo/stats?{DAYS}&country=DE")).await;
    assert_eq!(wrong.expect(400).error().0.as_deref(), Some("country"));
}

#[tokio::test]
async fn a_wrong_question_is_refused() {
    let app = TestApp::new().await;
    let eleven: String = (0..11).map(|n| format!("&browsers=b{n}")).collect();
    let ten = eleven.replace("&browsers=b10", "");
    app.json(&format!("/v3/browsers/stats?{DAYS}{ten}")).await;
    for (path, field) in [
        (format!("browsers/stats?{DAYS}{eleven}"), "browsers"),
        ("clients/stats".to_owned(), "start_date"),
        (
            format!("devices/stats?{DAYS}&aggregated_by=year"),
            "aggregated_by",
        ),
        (
            "mailbox_providers/stats?start_date=2026-02-01&end_date=2026-01-01".to_owned(),
            "end_date",
        ),
        ("geo/stats?start_date=x".to_owned(), "start_date"),
    ] {
        let answer = app.get(&format!("/v3/{path}")).await.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field), "{path}");
    }
    app.get(&format!("/v3/clients/pager/stats?{DAYS}"))
        .await
        .expect(404);
}
