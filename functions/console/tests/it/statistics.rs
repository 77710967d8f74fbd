//! Statistics by day, category, provider and subuser.

use std::collections::BTreeMap;

use posthaste_model::Segment;
use posthaste_store::Tally;

use crate::TestApp;

impl TestApp {
    /// Counts mails of a day: of the account, and of a category where one is named.
    async fn count_mails(&self, day: &str, category: &str, delivered: i64) {
        let mut tally = Tally::default();
        let place = (day.to_owned(), category.to_owned());
        let counters = BTreeMap::from([("delivered", delivered), ("bounces", 2)]);
        tally.counters.insert(place, counters);
        let whole = (day.to_owned(), String::new());
        let whole = tally.counters.entry(whole).or_default();
        whole.insert("requests", delivered + 2);
        for email in ["a@gmail.com", "b@gmail.com", "a@yahoo.fr"] {
            tally
                .segments
                .add(day, Segment::provider(email), "delivered");
        }
        let id = &self.tenant.account.id;
        let batch = format!("{day}{category}");
        let counted = self.store.count_batch(id, &batch, &tally, self.hand.now());
        counted.await.unwrap();
    }
}

#[tokio::test]
async fn days_are_drawn_and_summed() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/statistics", &session).await;
    assert!(page.contains("No mail in this time."), "{page}");
    assert!(!page.contains("<svg"), "{page}");
    let today = app.hand.now().day();
    let before = app.hand.now().plus(-6 * 86_400).day();
    let outside = app.hand.now().plus(-7 * 86_400).day();
    for (day, delivered) in [(&today, 5), (&before, 7), (&outside, 1_000)] {
        app.count_mails(day, "", delivered).await;
    }
    let page = app.page("/console/statistics?days=7", &session).await;
    assert!(
        page.contains("<svg class=\"chart\"") && page.contains(&before),
        "{page}"
    );
    assert!(!page.contains(&outside), "{page}");
    let total = page.split("<tfoot>").nth(1).unwrap();
    // Requests, processed, delivered, deferred, bounces.
    let want = ["16", "0", "12", "0", "4"].map(|count| format!("<td class=\"n\">{count}</td>"));
    assert!(total.contains(&want.concat()), "{total}");
    // An unknown number of days is the usual one.
    let page = app.page("/console/statistics?days=8", &session).await;
    assert!(
        page.contains("30 days</h2>") && page.contains(&outside),
        "{page}"
    );
}

#[tokio::test]
async fn names_are_in_the_order_of_their_mails_and_lead_to_their_days() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let today = app.hand.now().day();
    app.count_mails(&today, "news & <offers>", 3).await;
    app.count_mails(&today, "receipts", 40).await;
    let page = app
        .page("/console/statistics?by=categories", &session)
        .await;
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(
        at(">receipts<") < at("news &#38; &#60;offers&#62;<"),
        "{page}"
    );
    assert!(
        page.contains(r#"<rect class="arrived" width="7" "#),
        "{page}"
    );
    let days = "/console/statistics?by=categories&#38;days=30&#38;name=news+%26+%3Coffers%3E";
    assert!(page.contains(days), "{page}");
    let page = app.page(&days.replace("&#38;", "&"), &session).await;
    assert!(
        page.contains("Category “<bdi>news &#38; &#60;offers&#62;</bdi>” by day"),
        "{page}"
    );
    let total = page.split("<tfoot>").nth(1).unwrap();
    assert!(total.contains("<td class=\"n\">3</td>"), "{total}");
    let page = app.page("/console/statistics?by=providers", &session).await;
    assert!(
        page.contains(">Gmail<") && page.contains("<td class=\"n\">4</td>"),
        "{page}"
    );
    let gmail = "/console/statistics?by=providers&days=30&name=Gmail";
    let page = app.page(gmail, &session).await;
    assert!(page.contains(&format!("{today}</th>")), "{page}");
    for by in ["clients", "devices", "browsers"] {
        let path = format!("/console/statistics?by={by}");
        let page = app.page(&path, &session).await;
        assert!(page.contains("Nothing was counted in this time."), "{page}");
    }
}

#[tokio::test]
async fn subusers_are_counted_apart_and_a_missing_scope_is_named() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    app.tenant.subuser(&app.store, "shop").await;
    let page = app.page("/console/statistics?by=subusers", &session).await;
    assert!(page.contains("Nothing was counted in this time."), "{page}");
    let days = "/console/statistics?by=subusers&name=shop";
    let page = app.page(days, &session).await;
    assert!(page.contains("Subuser “<bdi>shop</bdi>” by day"), "{page}");
    let key = app.tenant.restricted(&app.store, &["stats.read"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    app.page("/console/statistics", &session).await;
    let page = app.page("/console/statistics?by=browsers", &session).await;
    assert!(
        page.contains("lacks the scope browsers.stats.read"),
        "{page}"
    );
}
