//! The rows that the message search reads, and the figure of what they cost.

use posthaste_model::EventKind;
use posthaste_testkit::CapturedLog;

use crate::env::TestEnv;

/// The figures `search_rows` in these lines, in their order.
fn figures(lines: &CapturedLog) -> Vec<usize> {
    let text = lines.text();
    let figures = text.split("search_rows=").skip(1);
    figures
        .map(|rest| rest.split_whitespace().next().unwrap().parse().unwrap())
        .collect()
}

#[tokio::test]
async fn the_figure_tells_every_row_that_was_written() {
    let mut env = TestEnv::open().await;
    env.app.searchable = Some(86_400);
    let lines = CapturedLog::kept();
    let first = [(); 2].map(|()| env.event(EventKind::Processed));
    for event in &first {
        env.row_of(event).await;
    }
    env.send_events(&first).await;
    // Two events of one copy are in one row; a pointer leads to it from the message.
    let processed = env.event(EventKind::Processed);
    env.row_of(&processed).await;
    let of = |kind| {
        let mut event = env.event(kind);
        event.message.clone_from(&processed.message);
        event
    };
    let (delivered, opened) = (of(EventKind::Delivered), of(EventKind::Open));
    env.send_events(&[processed.clone(), delivered]).await;
    env.send_events(std::slice::from_ref(&opened)).await;
    env.send_events(&[opened]).await;
    assert_eq!(figures(&lines), [4, 2, 1, 0]);
}

#[tokio::test]
async fn without_the_search_no_row_and_no_metric_is_written() {
    let env = TestEnv::open().await;
    let lines = CapturedLog::kept();
    let processed = env.event(EventKind::Processed);
    env.row_of(&processed).await;
    env.send_events(&[processed]).await;
    assert_ne!(lines.text(), "", "the lines are really kept");
    assert_eq!(figures(&lines), [0; 0]);
}
