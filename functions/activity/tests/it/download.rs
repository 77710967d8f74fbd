//! Downloads of what a search finds.

use posthaste_model::{EventKind, MessageId};
use posthaste_store::{Allow, AttemptOutcome, CopyState, Described, Visit, VisitKind};
use posthaste_testkit::{Response, Tenant};
use serde_json::json;

use crate::{DAY, TestApp};

const REQUEST: &str = "/v3/messages/download";

/// The columns of the file.
const COLUMNS: &str = "processed,message_id,event,api_key_id,recv_message_id,credential_id,\
    subject,from,email,asm_group_id,template_id,originating_ip,reason,outbound_ip,\
    outbound_ip_type,mx,url,attempt,user_agent,type,is_unique,username,categories,\
    marketing_campaign_id,marketing_campaign_name,marketing_campaign_split_id,\
    marketing_campaign_version,unique_args";

impl TestApp {
    async fn request(&self, query: &str) -> Response {
        let path = format!("{REQUEST}{query}");
        self.api.post(&path).key(&self.tenant.key).send().await
    }

    /// Requests a download; its path.
    async fn requested(&self, query: &str) -> String {
        let answer = self.request(query).await.expect(202);
        let body = answer.json();
        assert_eq!(body["status"], "pending");
        assert_eq!(body.as_object().unwrap().len(), 2);
        let path = answer.header("location").to_owned();
        let message = body["message"].as_str().unwrap();
        let url = format!("https://post.example{path}");
        assert!(message.contains(&url), "{message}");
        path
    }

    /// The link to the file of a download, without the host.
    async fn link(&self, download: &str) -> String {
        let answer = self.get(download).await.expect(200).json();
        assert_eq!(answer.as_object().unwrap().len(), 1);
        let url = answer["presigned_url"].as_str().unwrap();
        url.strip_prefix("https://post.example").unwrap().to_owned()
    }

    /// Opens a link as a browser does: without a key.
    async fn opened(&self, link: &str) -> Response {
        self.api.get(link).send().await
    }

    async fn mail(&self, subject: &str, args: &[(&str, String)]) -> MessageId {
        let message = self
            .described(&Described {
                email: "ann@example.com",
                from: "me@example.com",
                subject,
                accepted_at: self.hand.now(),
            })
            .await;
        let mut event = self.event(EventKind::Delivered, &message, "ann@example.com");
        for (name, value) in args {
            event.custom_args.insert((*name).to_owned(), value.clone());
        }
        let outcome = AttemptOutcome {
            state: CopyState::Delivered,
            now: self.hand.now(),
            events: std::slice::from_ref(&event),
        };
        let which = (&self.tenant.account.id, &message, 0);
        self.store.record(which, 0, &outcome).await.unwrap();
        self.index(&[event]).await;
        message
    }

    async fn visits(&self, message: &MessageId, kind: VisitKind, count: i64) {
        let visit = |n| Visit {
            at: self.hand.now().plus(n),
            id: format!("{kind:?}{n}"),
            url: None,
            agent: Some("=HYPERLINK(\"https://evil.example\")".to_owned()),
        };
        let visits: Vec<_> = (1..=count).map(visit).collect();
        let copy = (&self.tenant.account.id, message, 0);
        // As many as one batch adds.
        for batch in visits.chunks(20) {
            assert!(self.store.note_visits(copy, kind, batch).await.unwrap());
        }
    }
}

fn text(answer: &Response) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

#[tokio::test]
async fn a_download_has_a_line_for_each_event_of_what_the_query_finds() {
    let app = TestApp::new().await;
    let message = app
        .mail("-2+3, said \"Ann\"", &[("k", "=1".to_owned())])
        .await;
    app.visits(&message, VisitKind::Open, 2).await;
    app.hand.advance(60);
    let other = app.mail("Other", &[]).await;

    let link = app.link(&app.requested("").await).await;
    let file = app.opened(&link).await.expect(200);
    for (name, want) in [
        ("content-type", "text/csv; charset=utf-8"),
        (
            "content-disposition",
            "attachment; filename=\"messages.csv\"",
        ),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-search-incomplete", "false"),
        ("link", ""),
    ] {
        assert_eq!(file.header(name), want, "{name}");
    }
    let all = text(&file);
    let lines: Vec<_> = all.split("\r\n").collect();
    let id = message.of_copy(0);
    let opened = "\"'=HYPERLINK(\"\"https://evil.example\"\")\"";
    let line = |at: i64, event: &str, reason: &str, agent: &str, unique: &str| {
        let at = app.hand.now().plus(at - 60).iso();
        format!(
            "{at},{id},{event},,{message},,\"'-2+3, said \"\"Ann\"\"\",me@example.com,\
             ann@example.com,,,,{reason},,shared,,,,{agent},,{unique},,[],,,,,\"{{\"\"k\"\":\"\"=1\"\"}}\""
        )
    };
    assert_eq!(lines.len(), 6, "{all}");
    assert_eq!(lines[0], COLUMNS);
    assert!(lines[1].contains(&other.of_copy(0)));
    assert_eq!(lines[2], line(0, "delivered", "250 ok", "", ""));
    assert_eq!(lines[3], line(1, "opened", "", opened, "true"));
    assert_eq!(lines[4], line(2, "opened", "", opened, "false"));
    assert_eq!(lines[5], "");

    let query = "?query=subject%3D%22other%22";
    let link = app.link(&app.requested(query).await).await;
    let file = text(&app.opened(&link).await.expect(200));
    assert_eq!(file.lines().count(), 2);
    assert!(file.contains(&other.of_copy(0)));
    // A condition on what only the row of a copy has.
    let query = "?query=unique_args%5B%27k%27%5D%3D%22%3D1%22";
    let link = app.link(&app.requested(query).await).await;
    assert_eq!(
        text(&app.opened(&link).await.expect(200)).lines().count(),
        4
    );
}

#[tokio::test]
async fn a_link_works_as_it_was_made_and_for_an_hour() {
    let app = TestApp::new().await;
    app.mail("Hello", &[]).await;
    let download = app.requested("").await;
    let link = app.link(&download).await;
    app.opened(&link).await.expect(200);
    let stranger = Tenant::new(&app.store, "stranger", app.hand.now()).await;
    let foreign = app.api.get(&download).key(&stranger.key).send().await;
    let missing = |answer: Response| {
        let answer = answer.expect(404).json();
        let want = json!("download token is invalid or expired");
        assert_eq!(answer["errors"][0]["message"], want);
        assert_eq!(answer["errors"][0]["field"], "");
    };
    missing(foreign);
    for id in ["x", "00000000-0000-4000-8000-000000000000", "%20"] {
        missing(app.get(&format!("{REQUEST}/{id}")).await);
    }
    let own = app.tenant.account.id.as_str();
    let (path, query) = link.split_once('?').unwrap();
    let other = app.requested("").await;
    let other = other.rsplit('/').next().unwrap();
    for forged in [
        path.to_owned(),
        format!(
            "{path}?{}",
            query.replace(own, stranger.account.id.as_str())
        ),
        format!("{path}?{}", query.replace("part=1", "part=2")),
        format!("{path}?{}", query.replace("after=", "after=YQ")),
        format!("{path}?{}", query.replace("expires=1", "expires=2")),
        format!("{path}?{}", query.replace("signature=", "signature=A")),
        format!("{path}?{}", query.split("&signature").next().unwrap()),
        format!("/downloads/messages/{other}?{query}"),
    ] {
        assert_ne!(forged, link);
        missing(app.opened(&forged).await);
    }
    app.hand.advance(3_599);
    app.opened(&link).await.expect(200);
    app.hand.advance(1);
    missing(app.opened(&link).await);
    // The download itself can be linked to again, for three days.
    let again = app.link(&download).await;
    app.opened(&again).await.expect(200);
    app.hand.advance(3 * DAY - 3_600);
    missing(app.get(&download).await);
    missing(app.opened(&again).await);
}

#[tokio::test]
async fn a_file_is_for_the_addresses_that_may_use_the_account() {
    let app = TestApp::new().await;
    let link = app.link(&app.requested("").await).await;
    let net = "198.51.100.7/32".parse().unwrap();
    let (id, now) = (&app.tenant.account.id, app.hand.now());
    let allowed = app.store.allow_ips(id, &[net], now).await.unwrap();
    assert!(matches!(allowed, Allow::Added(_)));
    app.opened(&link).await.expect(403);
    let inside = "198.51.100.7".parse().unwrap();
    let opened = app.api.get(&link).from(Some(inside)).send().await;
    opened.expect(200);
}

#[tokio::test]
async fn a_file_that_is_too_large_goes_on_in_the_next_part() {
    let app = TestApp::new().await;
    let mut sent = Vec::new();
    for n in 0..3 {
        // With each quote doubled, and escaped in the answer of a function.
        let args = [("k", "\"".repeat(4_000)), ("n", n.to_string())];
        let message = app.mail(&format!("Mail {n}"), &args).await;
        app.visits(&message, VisitKind::Open, 100).await;
        sent.push(message.of_copy(0));
        app.hand.advance(1);
    }
    sent.reverse();
    let mut link = app.link(&app.requested("").await).await;
    let mut seen = Vec::new();
    for part in 1.. {
        let file = app.opened(&link).await.expect(200);
        assert!(serde_json::to_string(&text(&file)).unwrap().len() < 6_000_000);
        let all = text(&file);
        assert!(all.starts_with(COLUMNS));
        let ids: Vec<_> = sent
            .iter()
            .filter(|id| all.contains(&***id))
            .cloned()
            .collect();
        assert!(!ids.is_empty());
        seen.extend(ids);
        let next = file.header("link");
        let (name, incomplete) = (file.header("content-disposition"), !next.is_empty());
        assert!(name.contains(&format!("messages-{part}.csv")), "{name}");
        assert_eq!(file.header("x-search-incomplete"), incomplete.to_string());
        let Some(next) = next.strip_prefix("<https://post.example") else {
            assert!(part > 1);
            break;
        };
        link = next.strip_suffix(">; rel=\"next\"").unwrap().to_owned();
    }
    assert_eq!(seen, sent);
}

#[tokio::test]
async fn a_request_is_checked_counted_and_forgotten_with_an_address() {
    let app = TestApp::new().await;
    let wrong = app.request("?query=nonsense").await.expect(400);
    assert_eq!(wrong.error().0.as_deref(), Some("query"));
    let download = app
        .requested("?query=to_email%3D%22ann@example.com%22")
        .await;
    let link = app.link(&download).await;
    let path = "/v3/messages/recipients/ann@example.com";
    let erased = app.api.delete(path).key(&app.tenant.key).send().await;
    erased.expect(202);
    app.sweep().await;
    app.get(&download).await.expect(404);
    app.opened(&link).await.expect(404);
    for _ in 1..100 {
        app.request("").await.expect(202);
    }
    let refused = app.request("").await.expect(429);
    assert_eq!(refused.header("x-ratelimit-limit"), "100");
    app.hand.advance(43_200);
    app.request("").await.expect(202);

    let blind = TestApp::with(false).await;
    blind.request("").await.expect(400);
}
