//! Against a minimal SQS queue.

use std::sync::Mutex;
use std::time::Duration;

use posthaste_model::AccountId;
use serde_json::{Value, json};

use super::*;
use crate::Disposition;
use crate::queue::BATCH_BYTES;

mod sqs;
use sqs::{Message, Sqs, VISIBILITY, record};

#[test]
fn a_job_waits_ten_seconds_then_twice_as_long_up_to_a_quarter_of_an_hour() {
    let entropy = Entropy::counting();
    for (returns, most) in [
        (0, 10),
        (1, 20),
        (2, 40),
        (6, 640),
        (7, 900),
        (200, 900),
        (u32::MAX, 900),
    ] {
        let delays: BTreeSet<u64> = (0..200).map(|_| delay(returns, &entropy)).collect();
        let least = most - most / 4;
        assert!(
            delays.iter().all(|d| (least..=most).contains(d)),
            "{delays:?}"
        );
        // Jobs that came together are spread out.
        assert!(delays.len() > 2, "{delays:?}");
    }
}

#[tokio::test]
async fn a_job_given_back_200_times_is_delivered_and_its_first_return_is_soon() {
    let sqs = Sqs::start(&["mail"]).await;
    for time in 1..=200 {
        sqs.invoke(|_| Disposition::Retry).await;
        assert_eq!(sqs.waiting(), ["mail"], "{time}");
        let returns = sqs.books().messages[0].sent["MessageAttributes"][RETURNS].clone();
        assert_eq!(returns["StringValue"], time.to_string());
    }
    assert!((8..=10).contains(&sqs.books().delays[1]));
    sqs.invoke(|_| Disposition::Done).await;
    assert!(sqs.waiting().is_empty() && sqs.books().dead.is_empty());
}

#[tokio::test]
async fn what_has_failed_comes_again_in_seconds_and_is_buried_within_a_quarter_of_an_hour() {
    let sqs = Sqs::start(&["mail"]).await;
    let mut times = Vec::new();
    while !sqs.waiting().is_empty() {
        sqs.invoke(|_| Disposition::Fail).await;
        times.push(sqs.books().now);
    }
    assert_eq!(sqs.books().dead, ["mail"]);
    // The last time it was not handed out any more.
    assert_eq!(times.len(), 6);
    let waits = times.windows(2).map(|pair| pair[1] - pair[0]);
    for (wait, most) in waits.zip([10, 40, 160, 640, 900]) {
        assert!((most - most / 4..=most).contains(&wait), "{times:?}");
    }
}

#[tokio::test]
async fn a_job_that_ends_the_function_is_buried_and_those_beside_it_are_delivered() {
    let mails: Vec<String> = (0..40).map(|i| format!("mail-{i:02}")).collect();
    let mut bodies: Vec<&str> = mails.iter().map(String::as_str).collect();
    bodies.insert(15, "killer");
    let sqs = Sqs::start(&bodies).await;
    let (done, deaths) = (Mutex::new(BTreeSet::new()), Mutex::new(0_usize));
    while !sqs.waiting().is_empty() {
        let event = sqs.books().receive();
        let kills = async |event: &SqsEvent| {
            let bodies = event.records.iter().filter_map(|r| r.body.clone());
            let bodies: Vec<String> = bodies.collect();
            if bodies.iter().any(|body| body == "killer") {
                *deaths.lock().unwrap() += 1;
                // Outside of any job, like the end of the process: no answer is given.
                panic!("the function ends");
            }
            done.lock().unwrap().extend(bodies);
            BatchResult::default()
        };
        sqs.hand_over(event, kills).await;
    }
    assert_eq!(sqs.books().dead, ["killer"]);
    assert_eq!(*done.lock().unwrap(), mails.into_iter().collect());
    let deaths = *deaths.lock().unwrap();
    assert!((5..=7).contains(&deaths), "{deaths}");
    assert!(sqs.books().now <= 6 * VISIBILITY + 60);
}

#[tokio::test]
async fn what_fails_or_panics_is_buried_and_the_rest_of_its_batch_is_not() {
    let sqs = Sqs::start(&["no job", "panic", "mail", "later"]).await;
    let mut rounds = 0;
    while !sqs.waiting().is_empty() {
        rounds += 1;
        sqs.invoke(|body| match body {
            "no job" => Disposition::Fail,
            "panic" => panic!("an unexpected job"),
            "later" if rounds < 3 => Disposition::Retry,
            _ => Disposition::Done,
        })
        .await;
        assert!(rounds < 60, "{:?}", sqs.waiting());
    }
    let mut dead = sqs.books().dead.clone();
    dead.sort();
    assert_eq!(dead, ["no job", "panic"]);
}

#[tokio::test]
async fn a_job_that_cannot_be_sent_anew_stays() {
    let sqs = Sqs::start(&["one", "two"]).await;
    sqs.books().is_down = true;
    sqs.invoke(|_| Disposition::Retry).await;
    assert_eq!(sqs.waiting(), ["one", "two"]);
    assert_eq!(sqs.books().delays.len(), 2, "nothing was sent");

    // One by one, too.
    let sqs = Sqs::start(&["one", "two"]).await;
    sqs.books().refused = vec!["one".to_owned()];
    sqs.invoke(|_| Disposition::Retry).await;
    assert_eq!(sqs.waiting(), ["one", "two"]);
    let books = sqs.books();
    let receives = books.messages.iter().map(|m| (m.body(), m.receives));
    let receives: BTreeSet<_> = receives.collect();
    assert_eq!(
        receives,
        [("one".to_owned(), 1), ("two".to_owned(), 0)].into()
    );
}

#[tokio::test]
async fn a_job_that_cannot_be_sent_anew_comes_again_in_seconds() {
    let sqs = Sqs::start(&["one", "two"]).await;
    sqs.books().refused = vec!["one".to_owned(), "two".to_owned()];
    for (time, most) in [(0, 10), (10, 50), (50, 210)] {
        sqs.invoke(|_| Disposition::Retry).await;
        let visible = sqs.books().messages.iter().map(|m| m.visible).max();
        assert!(visible.unwrap() <= most, "{time}: {visible:?}");
    }
    // Accepted again, it has used up nothing.
    sqs.books().refused.clear();
    while sqs.books().messages.iter().any(|m| m.receives > 0) {
        sqs.invoke(|_| Disposition::Retry).await;
    }
    sqs.invoke(|_| Disposition::Done).await;
    sqs.invoke(|_| Disposition::Done).await;
    assert!(sqs.waiting().is_empty() && sqs.books().dead.is_empty());
}

#[tokio::test]
async fn a_job_that_can_never_be_sent_anew_is_buried_after_an_hour_at_the_earliest() {
    let sqs = Sqs::start(&["one"]).await;
    sqs.books().refused = vec!["one".to_owned()];
    while !sqs.waiting().is_empty() {
        sqs.invoke(|_| Disposition::Retry).await;
    }
    assert_eq!(sqs.books().dead, ["one"]);
    let now = sqs.books().now;
    assert!((3_600..5 * VISIBILITY).contains(&now), "{now}");
}

#[tokio::test]
async fn a_queue_that_is_none_of_the_function_s_gets_nothing() {
    let sqs = Sqs::start(&["one"]).await;
    let mut event = sqs.books().receive();
    event.records[0].event_source_arn = Some("arn:aws:sqs:us-east-1:0:other".to_owned());
    sqs.hand_over(event, async |event: &SqsEvent| BatchResult {
        again: event.records.iter().map(id).collect(),
        failed: Vec::new(),
    })
    .await;
    assert_eq!(sqs.books().messages[0].receives, 1);
    assert_eq!(sqs.books().delays.len(), 1);
}

#[tokio::test]
async fn a_job_keeps_its_trace_and_its_group() {
    let sqs = Sqs::start(&[]).await;
    sqs.books().take(&json!({
        "MessageBody": "mail",
        "MessageGroupId": "account",
        "MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-2"}},
    }));
    sqs.invoke(|_| Disposition::Retry).await;
    let event = sqs.books().receive();
    let attributes = &event.records[0].attributes;
    assert_eq!(attributes["AWSTraceHeader"], "Root=1-2");
    assert_eq!(attributes["MessageGroupId"], "account");
    assert_eq!(attributes["ApproximateReceiveCount"], "1");
    assert!(is_repeat(&event.records[0]));
}

#[tokio::test]
async fn the_account_of_a_message_is_its_group_from_the_first_send_on() {
    let account = AccountId::from_bytes([1; 10]);
    let mail = format!(r#"{{"account":"{account}","body":{{"blob":"b"}}}}"#);
    let sqs = Sqs::start(&[]).await;
    let none = r#"{"blob":"b"}"#.to_owned();
    let messages = [mail.clone(), none].map(|body| (body, Duration::ZERO));
    sqs.queue.send_all(messages.to_vec()).await.unwrap();
    sqs.queue.send(mail.clone(), Duration::ZERO).await.unwrap();
    // A message of a release before.
    sqs.books().take(&json!({"MessageBody": mail}));
    let groups = || {
        let books = sqs.books();
        let groups = books
            .messages
            .iter()
            .map(|message| message.sent["MessageGroupId"].clone());
        groups.collect::<Vec<_>>()
    };
    let named = json!(account.as_str());
    assert_eq!(
        groups(),
        [named.clone(), Value::Null, named.clone(), Value::Null]
    );
    sqs.invoke(|_| Disposition::Retry).await;
    assert_eq!(groups(), [named.clone(), Value::Null, named.clone(), named]);
}

#[test]
fn a_repeat_is_known_by_its_receives_and_by_its_returns() {
    let first = |receives: u32, attributes: Value| {
        let sent = json!({"MessageBody": "", "MessageAttributes": attributes});
        is_repeat(&record(&Message {
            id: String::new(),
            sent,
            receives,
            visible: 0,
        }))
    };
    let number = |n: &str| json!({"DataType": "Number", "StringValue": n});
    assert!(!first(1, json!({})));
    assert!(!first(1, json!({RETURNS: number("0")})));
    assert!(!first(1, json!({RETURNS: number("many")})));
    assert!(first(2, json!({})));
    assert!(first(1, json!({RETURNS: number("1")})));
    assert!(first(1, json!({SUSPECT: number("1")})));
}

#[tokio::test]
async fn the_largest_jobs_go_anew_in_calls_that_sqs_takes() {
    let largest = "x".repeat(BATCH_BYTES - ATTRIBUTES);
    let sqs = Sqs::start(&[&largest, &largest, "small"]).await;
    sqs.invoke(|_| Disposition::Retry).await;
    let books = sqs.books();
    assert_eq!(books.messages.len(), 3);
    assert!(books.messages.iter().all(|message| message.receives == 0));
    for message in &books.messages {
        let attributes = message.sent["MessageAttributes"].as_object().unwrap();
        let sizes = attributes.iter().map(|(name, value)| {
            let (kind, text) = (&value["DataType"], &value["StringValue"]);
            name.len() + kind.as_str().unwrap().len() + text.as_str().unwrap().len()
        });
        assert!(sizes.sum::<usize>() <= ATTRIBUTES);
    }
}
