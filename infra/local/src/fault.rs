//! Fault injection for drills: a worker ends the process on a certain job. Only debug builds
//! contain this file.

use posthaste_queue::ReceivedMessage;

/// Specifies a text; a job that contains it ends the process when its worker handles it.
const VARIABLE: &str = "POSTHASTE_DRILL_ABORT_ON";

/// Ends the process as a stack overflow does, if one of these jobs matches.
pub(crate) fn abort_on(messages: &[ReceivedMessage]) {
    let Some(text) = posthaste_runtime::variables().get(VARIABLE) else {
        return;
    };
    if messages.iter().any(|message| message.body.contains(&text)) {
        std::process::abort();
    }
}
