//! Asks SES what became of a copy without news. What SES knows is put on the feedback queue in the form
//! of its own events, and read as these.

use std::time::Duration;

use posthaste_mailer::{InsightsError, SesInsight, TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT};
use posthaste_model::Timestamp;
use posthaste_queue::InsightsQuestion;
use posthaste_runtime::WorkError;
use serde_json::{Value, json};

use crate::App;

/// Answers a question of the sweep. A question that SES cannot answer is logged and done: the copy
/// stays counted as one without news.
pub(crate) async fn ask(app: &App, text: &str) -> Result<(), WorkError> {
    let question = InsightsQuestion::from_text(text)?;
    let message = &question.message;
    let Some(ses) = &app.ses else {
        tracing::warn!(message.id = %message, "a question to SES comes to a stack that asks none");
        return Ok(());
    };
    let insights = match ses.insights(&question.ses_message).await {
        Ok(insights) => insights,
        // Another process asks in the same second.
        Err(InsightsError::Throttled) => return Err(WorkError::Busy),
        Err(InsightsError::Other(error)) => {
            tracing::error!(message.id = %message, %error, "SES does not say what became of message {message}: {error}");
            return Ok(());
        }
    };
    let events = insights
        .iter()
        .filter_map(|insight| event(&question, insight));
    let events: Vec<_> = events
        .map(|event| (event.to_string(), Duration::ZERO))
        .collect();
    if events.is_empty() {
        tracing::warn!(message.id = %message, "SES knows nothing of message {message} either");
    }
    Ok(app.feedback.send_all(events).await?)
}

/// What SES knows as the event that it would have published; `None` for what the service does not use.
fn event(question: &InsightsQuestion, insight: &SesInsight) -> Option<Value> {
    let at = insight.at.map(|at| Timestamp(at).iso());
    let mut event = json!({"mail": {
        "timestamp": at,
        "tags": {
            TAG_ACCOUNT: [question.account],
            TAG_MESSAGE: [question.message],
            TAG_RECIPIENT: [question.recipient.to_string()],
        },
    }});
    let (kind, member, content) = match insight.kind.as_str() {
        "DELIVERY" => ("Delivery", "delivery", json!({"timestamp": at})),
        "BOUNCE" => {
            let refused = match &insight.diagnostic {
                Some(said) => json!([{"action": "failed", "diagnosticCode": said}]),
                None => json!([{}]),
            };
            let content = json!({
                "bounceType": capitalized(insight.bounce_type.as_deref().unwrap_or_default()),
                "bounceSubType": insight.sub_type.as_deref().unwrap_or_default(),
                "bouncedRecipients": refused,
                "timestamp": at,
            });
            ("Bounce", "bounce", content)
        }
        "COMPLAINT" => {
            let content = json!({"complaintSubType": insight.sub_type, "timestamp": at});
            ("Complaint", "complaint", content)
        }
        "REJECT" => ("Reject", "reject", json!({})),
        _ => return None,
    };
    let members = event.as_object_mut()?;
    members.insert("eventType".to_owned(), kind.into());
    members.insert(member.to_owned(), content);
    Some(event)
}

/// `PERMANENT` as the events spell it.
fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let rest = letters.map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
