//! A table as AWS has it on a bad day: of its calls one in twenty is throttled, one in twenty of those that
//! write meets a transaction, and one in twenty of those that take many rows takes some of them only.
//!
//! With `JOURNEY_FAULTS` set, every journey runs on such a table:
//! `JOURNEY_FAULTS=1 cargo test -p posthaste-tests --test it journeys`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use posthaste::TableFaults;
use posthaste_queue::QuietWatch;
use posthaste_store::TableResponse;
use posthaste_testkit::TestClock;
use serde_json::{Value, json};

/// One in so many.
const ONE_IN: u64 = 20;

const WRITES: [&str; 3] = ["PutItem", "UpdateItem", "DeleteItem"];

/// Whether journeys run on such a table.
pub(crate) fn are_on() -> bool {
    std::env::var_os("JOURNEY_FAULTS").is_some_and(|value| !value.is_empty())
}

/// The milliseconds for which the local queues hide a job that is returned to them.
const RETURNED: i64 = 5_000;

/// Turns the clock each time that nothing is left to do but jobs that were returned seconds ago: a fault returns some,
/// and on a clock that stands still they would never come again. Ends with the queues.
pub(crate) fn turn_for_returned_jobs(queues: QuietWatch, hand: TestClock) {
    let mut looks = tokio::time::interval(Duration::from_millis(20));
    tokio::spawn(async move {
        while let Ok(next) = queues.quiet().await {
            let now = hand.clock().now_ms();
            let ahead = next.map_or(0, |at| at.0 - now.0);
            if (1..=RETURNED).contains(&ahead) {
                hand.advance_ms(ahead);
            }
            looks.tick().await;
        }
    });
}

/// The faults, the same for the same calls in the same order.
pub(crate) fn busy_table() -> TableFaults {
    let calls = AtomicU64::new(0);
    TableFaults::new(move |operation, body| {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        // SplitMix64: its outputs are independent for consecutive inputs.
        let random = |salt: u64| {
            let mut bits = (number ^ salt << 56).wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (bits ^ bits >> 31).is_multiple_of(ONE_IN)
        };
        if random(1) {
            return Some(error("ProvisionedThroughputExceededException", &[]));
        }
        if random(2) && operation == "TransactWriteItems" {
            return Some(error(
                "TransactionCanceledException",
                &["TransactionConflict"],
            ));
        }
        if random(2) && WRITES.contains(&operation) {
            return Some(error("TransactionConflictException", &[]));
        }
        let (given, left) = match operation {
            "BatchWriteItem" => ("UnprocessedItems", json!({})),
            "BatchGetItem" => ("UnprocessedKeys", json!({"Responses": {}})),
            _ => return None,
        };
        random(3).then(|| taken_none(body, given, left))
    })
}

fn error(kind: &str, reasons: &[&str]) -> TableResponse {
    let reasons: Vec<Value> = reasons.iter().map(|code| json!({"Code": code})).collect();
    let body = json!({
        "__type": format!("com.amazonaws.dynamodb.v20120810#{kind}"),
        "message": "a bad day",
        "CancellationReasons": reasons,
    });
    TableResponse {
        status: 400,
        body: body.to_string(),
    }
}

/// The answer to a batch of which nothing was processed.
fn taken_none(body: &[u8], member: &str, mut answer: Value) -> TableResponse {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    answer[member] = request["RequestItems"].clone();
    TableResponse {
        status: 200,
        body: answer.to_string(),
    }
}
