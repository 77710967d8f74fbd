//! What an event says about its address.

use posthaste_model::{BounceType, EmailAddress, Event, Kind, cut};

use super::{List, Mark};
use crate::{Store, StoreError};

/// Enhanced codes (RFC 3463) of addresses that cannot exist: no such domain, a domain that takes
/// no mail (RFC 7505), a malformed address. An unknown user is a bounce.
const NEVER: [&str; 3] = ["5.1.2", "5.1.3", "5.1.10"];

/// The classification of what was not the recipient's doing.
const OURS: &str = "Technical";

/// Bytes kept of what the other server said.
const LONGEST_REASON: usize = 1024;

/// The list an event puts its address on, if any (API facts 1, semantics, and 3.3, bounce types).
fn list(event: &Event) -> Option<List> {
    match event.kind {
        Kind::Bounce => match event.bounce_type? {
            BounceType::Bounce => {
                let status = event.status.as_deref().unwrap_or_default();
                Some(match NEVER.contains(&status) {
                    true => List::InvalidEmails,
                    false => List::Bounces,
                })
            }
            BounceType::Blocked => Some(List::Blocks),
            // A relay of ours that was down for three days says nothing about the address.
            BounceType::Expired => {
                let ours = event.bounce_classification.as_deref() == Some(OURS);
                (!ours).then_some(List::Blocks)
            }
        },
        Kind::SpamReport => Some(List::SpamReports),
        Kind::Unsubscribe => Some(List::Unsubscribes),
        Kind::GroupUnsubscribe => event.asm_group_id.map(List::Group),
        Kind::Processed
        | Kind::Delivered
        | Kind::Deferred
        | Kind::Dropped
        | Kind::Open
        | Kind::Click
        | Kind::GroupResubscribe
        | Kind::AccountStatusChange => None,
    }
}

impl Store {
    /// Puts the addresses of these events on the lists that the events mean. The same events told
    /// again change nothing.
    ///
    /// # Errors
    /// When the table fails; then some may be missing, and telling it again adds them.
    pub async fn learn(&self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            let Some(list) = list(event) else { continue };
            let Ok(address) = EmailAddress::parse(&event.email) else {
                continue;
            };
            let mark = Mark {
                at: event.at,
                reason: event
                    .reason
                    .as_deref()
                    .map(|reason| cut(reason, LONGEST_REASON).to_owned()),
                status: event.status.clone(),
                ip: event.ip.clone(),
            };
            self.change_suppressed(&event.account, &address.folded(), |lists| {
                lists.put(list, mark.clone());
            })
            .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::{AccountId, Timestamp};

    #[test]
    fn each_bounce_has_its_list() {
        let list_of = |kind: BounceType, status: &str, class: &str| {
            let account = AccountId::from_bytes([7; 10]);
            let mut event = Event::new(
                "id".into(),
                account,
                Kind::Bounce,
                Timestamp(1),
                "a@b.co".into(),
            );
            event.bounce_type = Some(kind);
            event.status = Some(status.to_owned());
            event.bounce_classification = Some(class.to_owned());
            list(&event)
        };
        use BounceType::{Blocked, Bounce, Expired};
        for (kind, status, class, want) in [
            (Bounce, "5.1.1", "Invalid Address", Some(List::Bounces)),
            (Bounce, "5.2.1", "Mailbox Unavailable", Some(List::Bounces)),
            (
                Bounce,
                "5.1.2",
                "Invalid Address",
                Some(List::InvalidEmails),
            ),
            (
                Bounce,
                "5.1.10",
                "Invalid Address",
                Some(List::InvalidEmails),
            ),
            (Blocked, "5.7.1", "Reputation", Some(List::Blocks)),
            (Blocked, "5.1.2", "Technical", Some(List::Blocks)),
            (Expired, "4.4.7", "Unclassified", Some(List::Blocks)),
            (Expired, "4.4.7", OURS, None),
        ] {
            assert_eq!(list_of(kind, status, class), want, "{kind:?} {status}");
        }
    }
}
