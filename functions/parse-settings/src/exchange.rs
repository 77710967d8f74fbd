//! Where the mail of a hostname goes, by its MX records.

use posthaste_dns::Resolver;
use posthaste_model::{Hostname, RecordKind};
use serde::Serialize;

/// Hosts that an answer names, at most.
const MOST_HOSTS: usize = 20;

/// The MX records of a hostname, beside what they should be.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MailExchange {
    /// The host that receives mail here; empty where the operator has not said which.
    expected: String,
    /// The hosts that the records name; at most 20.
    found: Vec<String>,
    /// Whether one of them is the host expected.
    valid: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl MailExchange {
    /// Looks the records up.
    pub(crate) async fn of(
        hostname: &str,
        expected: Option<&Hostname>,
        resolver: Option<&Resolver>,
    ) -> Self {
        let expected = expected.map(Hostname::to_string).unwrap_or_default();
        let found = match resolver {
            Some(resolver) => resolver.lookup(RecordKind::Mx, hostname).await,
            None => return Self::unknown(expected, "this deployment queries no DNS"),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                tracing::info!(%error, "the MX records of a hostname are not known: {error}");
                return Self::unknown(expected, "the DNS does not answer; try again later");
            }
        };
        let name = |host: &String| host.trim_end_matches('.').to_lowercase();
        let found: Vec<String> = found.iter().map(name).collect();
        let valid = found.contains(&expected.to_lowercase());
        let reason = match (valid, found.is_empty()) {
            (true, _) => None,
            (false, true) => Some("there is no MX record".to_owned()),
            (false, false) => Some("the records name other hosts".to_owned()),
        };
        Self {
            expected,
            found: found.into_iter().take(MOST_HOSTS).collect(),
            valid,
            reason,
        }
    }

    fn unknown(expected: String, reason: &str) -> Self {
        Self {
            expected,
            found: Vec::new(),
            valid: false,
            reason: Some(reason.to_owned()),
        }
    }
}
