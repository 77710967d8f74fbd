//! Records suppressions from events.

use posthaste_model::{BounceType, EmailAddress, Event, EventKind, cut};

use super::suppressions::{Mark, SuppressionList};
use crate::table::largest::REASON;
use crate::table::{Store, StoreError};

/// Enhanced codes (RFC 3463) of addresses that cannot exist: no such domain, a domain that accepts
/// no mail (RFC 7505), a malformed address. An unknown user is a bounce.
const NEVER: [&str; 3] = ["5.1.2", "5.1.3", "5.1.10"];

/// The classification of failures that the recipient did not cause.
const OURS: &str = "Technical";

/// The list an event puts its address on, if any (API facts 1, semantics, and 3.3, bounce types).
fn list(event: &Event) -> Option<SuppressionList> {
    match event.kind {
        EventKind::Bounce => {
            let (status, class) = (&event.status, &event.bounce_classification);
            SuppressionList::of_bounce(event.bounce_type?, status.as_deref(), class.as_deref())
        }
        EventKind::SpamReport => Some(SuppressionList::SpamReports),
        EventKind::Unsubscribe => Some(SuppressionList::Unsubscribes),
        EventKind::GroupUnsubscribe => event.asm_group_id.map(SuppressionList::Group),
        EventKind::Processed
        | EventKind::Delivered
        | EventKind::Deferred
        | EventKind::Dropped
        | EventKind::Open
        | EventKind::Click
        | EventKind::GroupResubscribe
        | EventKind::AccountStatusChange => None,
    }
}

impl SuppressionList {
    /// The list that a bounce puts its address on: by its type, enhanced code and classification.
    pub fn of_bounce(
        kind: BounceType,
        status: Option<&str>,
        classification: Option<&str>,
    ) -> Option<Self> {
        match kind {
            BounceType::Bounce if status.is_some_and(|code| NEVER.contains(&code)) => {
                Some(Self::InvalidEmails)
            }
            BounceType::Bounce => Some(Self::Bounces),
            BounceType::Blocked => Some(Self::Blocks),
            // A relay of the service that was down for three days says nothing about the address.
            BounceType::Expired => (classification != Some(OURS)).then_some(Self::Blocks),
        }
    }

    /// Whether mail to an address on this list is dropped (API facts 1, semantics).
    pub fn keeps_back(self) -> bool {
        self != Self::Blocks
    }
}

impl Store {
    /// Puts the addresses of these events on the lists that the events imply. A repeat of the same
    /// events is a no-op.
    ///
    /// # Errors
    /// When the table fails; then some may be missing, and a repeat adds them.
    pub async fn apply_suppressions(&self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            let Some(list) = list(event) else { continue };
            let Ok(address) = EmailAddress::parse_stored(&event.email) else {
                continue;
            };
            let mark = Mark {
                at: event.at,
                reason: event
                    .reason
                    .as_deref()
                    .map(|reason| cut(reason, REASON).to_owned()),
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
                EventKind::Bounce,
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
            (
                Bounce,
                "5.1.1",
                "Invalid Address",
                Some(SuppressionList::Bounces),
            ),
            (
                Bounce,
                "5.2.1",
                "Mailbox Unavailable",
                Some(SuppressionList::Bounces),
            ),
            (
                Bounce,
                "5.1.2",
                "Invalid Address",
                Some(SuppressionList::InvalidEmails),
            ),
            (
                Bounce,
                "5.1.10",
                "Invalid Address",
                Some(SuppressionList::InvalidEmails),
            ),
            (
                Blocked,
                "5.7.1",
                "Reputation",
                Some(SuppressionList::Blocks),
            ),
            (Blocked, "5.1.2", "Technical", Some(SuppressionList::Blocks)),
            (
                Expired,
                "4.4.7",
                "Unclassified",
                Some(SuppressionList::Blocks),
            ),
            (Expired, "4.4.7", OURS, None),
        ] {
            assert_eq!(list_of(kind, status, class), want, "{kind:?} {status}");
        }
    }
}
