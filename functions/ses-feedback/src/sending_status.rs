//! Events by which SES says that it stops or resumes sending, for the AWS account or a part of it (SES
//! developer guide, "Monitoring SES events using Amazon EventBridge"). They come by EventBridge alone.

use posthaste_metrics::Metric;
use serde_json::Value;

/// Whether a message is such an event, which is logged then.
pub(crate) fn read(message: &Value) -> bool {
    let is_of_ses = message["source"] == "aws.ses";
    let is_disabled = match message["detail-type"].as_str() {
        Some("Sending Status Disabled") if is_of_ses => true,
        Some("Sending Status Enabled") if is_of_ses => false,
        Some(_) | None => return false,
    };
    let of = &message["resources"];
    if is_disabled {
        posthaste_metrics::record(&[Metric::SendingDisabled.of(1)]);
        tracing::error!("SES stopped sending: {of}");
    } else {
        tracing::warn!("SES sends again: {of}");
    }
    true
}
