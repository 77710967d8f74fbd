//! A fault on purpose, for drills: a worker that ends the process with a certain job. Only debug
//! builds hold this file.

use posthaste_queue::ReceivedMessage;

/// Names a text; a job that contains it ends the process in its worker's hands.
const VARIABLE: &str = "POSTHASTE_DRILL_ABORT_ON";

/// Ends the process as a stack overflow does, if one of these jobs is the one.
pub(crate) fn abort_on(messages: &[ReceivedMessage]) {
    let Some(text) = posthaste_runtime::variables().get(VARIABLE) else {
        return;
    };
    if messages.iter().any(|message| message.body.contains(&text)) {
        std::process::abort();
    }
}
