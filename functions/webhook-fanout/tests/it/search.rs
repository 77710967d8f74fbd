//! The rows that the message search reads, and the figure of what they cost.

use posthaste_model::EventKind;
use posthaste_testkit::CapturedLog;

use crate::office::TestEnv;

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
    let mut office = TestEnv::open().await;
    office.app.searchable = Some(86_400);
    let lines = CapturedLog::kept();
    let first = [(); 2].map(|()| office.event(EventKind::Processed));
    for event in &first {
        office.row_of(event).await;
    }
    office.tell(&first).await;
    // Two events of one copy are in one row; a pointer leads to it from the message.
    let processed = office.event(EventKind::Processed);
    office.row_of(&processed).await;
    let of = |kind| {
        let mut event = office.event(kind);
        event.message.clone_from(&processed.message);
        event
    };
    let (delivered, opened) = (of(EventKind::Delivered), of(EventKind::Open));
    office.tell(&[processed.clone(), delivered]).await;
    office.tell(std::slice::from_ref(&opened)).await;
    office.tell(&[opened]).await;
    assert_eq!(figures(&lines), [4, 2, 1, 0]);
}

#[tokio::test]
async fn where_nobody_searches_no_row_is_written_and_no_figure_told() {
    let office = TestEnv::open().await;
    let lines = CapturedLog::kept();
    let processed = office.event(EventKind::Processed);
    office.row_of(&processed).await;
    office.tell(&[processed]).await;
    assert_ne!(lines.text(), "", "the lines are really kept");
    assert_eq!(figures(&lines), [0; 0]);
}
