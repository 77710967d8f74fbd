//! Scheduled mail on the page.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use posthaste_mailbox::{ScheduleChange, ScheduleControl, Sources, WaitingPart, WaitingState};
use posthaste_model::{AccountId, MessageId, Timestamp};

use crate::copies::{record, request};
use crate::support::{Box, NOON};

const LATER: Timestamp = Timestamp(NOON / 1_000 + 86_400);

/// One request with one part, in a batch.
struct FakeSchedule {
    part: Mutex<WaitingPart>,
    changes: Mutex<Vec<ScheduleChange>>,
}

impl ScheduleControl for FakeSchedule {
    fn parts(&self, _: AccountId, _: MessageId) -> BoxFuture<'static, Vec<WaitingPart>> {
        let part = self.part.lock().unwrap().clone();
        async move { vec![part] }.boxed()
    }

    fn change(
        &self,
        _: AccountId,
        _: MessageId,
        change: ScheduleChange,
    ) -> BoxFuture<'static, Result<(), String>> {
        self.changes.lock().unwrap().push(change);
        let mut part = self.part.lock().unwrap();
        let done = match change {
            ScheduleChange::Cancel => {
                part.state = WaitingState::Cancelled;
                Ok(())
            }
            ScheduleChange::Pause => {
                part.state = WaitingState::Paused;
                Ok(())
            }
            ScheduleChange::Resume => {
                part.state = WaitingState::Scheduled;
                Ok(())
            }
            ScheduleChange::Move(at) if at.0 == 0 => Err("it is <too> soon".to_owned()),
            ScheduleChange::Move(at) => {
                part.leaves = at;
                Ok(())
            }
        };
        async move { done }.boxed()
    }
}

async fn scheduled() -> (Box, Arc<FakeSchedule>, String) {
    let desk = Arc::new(FakeSchedule {
        part: Mutex::new(WaitingPart {
            leaves: LATER,
            state: WaitingState::Scheduled,
            has_batch: true,
        }),
        changes: Mutex::default(),
    });
    let sources = Sources {
        schedule: Some(desk.clone()),
        ..Sources::default()
    };
    let b = Box::with(sources, 10);
    let mut mail = request(1, &["ann@x.example"]);
    mail.copies[0].leaves = Some(LATER);
    b.mailbox.expect(mail).await.unwrap();
    let html = b.get("/").await.html();
    let id = html.split("/message/").nth(1).unwrap();
    let id = id.split('"').next().unwrap().to_owned();
    (b, desk, id)
}

#[tokio::test]
async fn scheduled_mail_is_cancelled_paused_and_moved_on_its_page() {
    use ScheduleChange::{Cancel, Move, Pause, Resume};
    let (b, desk, id) = scheduled().await;
    let page = format!("/message/{id}");
    let html = b.get("/").await.html();
    assert!(
        html.contains(">scheduled ") && html.contains("2026-11-28T12:00:00Z"),
        "{html}"
    );
    for (form, change, state) in [
        ("action=pause", Pause, ">paused "),
        ("action=resume", Resume, ">scheduled "),
        (
            "action=move&at=2026-11-29T08:30",
            Move(Timestamp(1_795_941_000)),
            "2026-11-29T08:30:00Z",
        ),
        ("action=cancel", Cancel, ">cancelled"),
    ] {
        let button = form
            .split('&')
            .next()
            .unwrap()
            .replace("action=", "value=\"");
        assert!(b.get(&page).await.html().contains(&button), "{form}");
        let answer = b.ask("POST", &format!("{page}/schedule"), &[], form).await;
        assert_eq!(
            answer.status,
            StatusCode::SEE_OTHER,
            "{form}: {}",
            answer.text()
        );
        assert_eq!(answer.header("location"), page);
        assert_eq!(desk.changes.lock().unwrap().last(), Some(&change));
        for path in ["/", &page] {
            let html = b.get(path).await.html();
            assert!(html.contains(state), "{form} {path}: {html}");
        }
    }
    // Nothing is left to change.
    assert!(!b.get(&page).await.html().contains("name=\"action\""));
}

#[tokio::test]
async fn a_change_that_is_refused_says_why() {
    let (b, desk, id) = scheduled().await;
    let path = format!("/message/{id}/schedule");
    for (form, why, asked) in [
        ("action=now", "it is &lt;too&gt; soon", 1),
        ("action=move&at=soon", "The time is not one", 1),
        ("action=other", "asks for nothing", 1),
    ] {
        let answer = b.ask("POST", &path, &[], form).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{form}");
        let html = answer.html();
        assert!(
            html.contains(why) && html.contains("Request 1"),
            "{form}: {html}"
        );
        assert_eq!(desk.changes.lock().unwrap().len(), asked, "{form}");
    }
}

#[tokio::test]
async fn a_mail_that_left_is_no_longer_asked_about() {
    let (b, desk, id) = scheduled().await;
    record(&b, 1, 0, "ann@x.example").await;
    desk.part.lock().unwrap().state = WaitingState::Over;
    let html = b.get(&format!("/message/{id}")).await.html();
    assert!(
        !html.contains("name=\"action\"") && html.contains("Download"),
        "{html}"
    );
}
