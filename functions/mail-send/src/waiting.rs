//! Scheduled mail as look-ups show it until it leaves.

use std::net::IpAddr;

use posthaste_model::{KeyId, Mail, MessageId, Span, Timestamp, cut};
use posthaste_store::{LONGEST_SUBJECT, StoredArgs, WaitingCopies, WaitingCopy};

/// How a mail was accepted.
#[derive(Clone, Copy)]
pub(crate) struct Acceptance<'m> {
    pub(crate) message: &'m MessageId,
    pub(crate) key: &'m KeyId,
    pub(crate) client_ip: Option<IpAddr>,
    pub(crate) at: Timestamp,
}

/// The scheduled groups of a mail, each with the second it leaves.
pub(crate) fn listings(
    mail: &Mail,
    groups: &[(Option<Timestamp>, Vec<Span>)],
    accepted: Acceptance<'_>,
) -> Vec<(Timestamp, WaitingCopies)> {
    let scheduled = groups
        .iter()
        .filter_map(|(at, spans)| Some(((*at)?, spans)));
    scheduled
        .map(|(at, spans)| {
            let waiting = WaitingCopies {
                message: accepted.message.clone(),
                piece: spans.first().map_or(0, |span| span.from),
                accepted_at: accepted.at,
                template_id: mail.template_id.clone(),
                asm_group_id: mail.asm.as_ref().map(|asm| asm.group_id),
                categories: mail.categories.clone(),
                key: Some(accepted.key.clone()),
                client_ip: accepted.client_ip.map(|ip| ip.to_string()),
                args: StoredArgs(mail.custom_args.clone()),
                copies: copies(mail, spans),
            };
            (at, waiting)
        })
        .collect()
}

/// The copies of these ranges, each with what differs from the one before.
fn copies(mail: &Mail, spans: &[Span]) -> Vec<WaitingCopy> {
    let (mut from, mut subject, mut args) = ("", None, None);
    let of_spans = mail
        .copies()
        .filter(|copy| spans.iter().any(|span| span.holds(copy.recipient)));
    of_spans
        .map(|copy| {
            let own_from = mail.from_of(copy.personalization).email.as_str();
            let own_subject = cut(mail.subject_of(copy.personalization), LONGEST_SUBJECT);
            let own_args = &copy.personalization.custom_args;
            // Before the first copy there are no arguments.
            let has_new_args = match args {
                None => !own_args.is_empty(),
                Some(last) => own_args != last,
            };
            let is_new = (own_from != from, Some(own_subject) != subject);
            (from, subject, args) = (own_from, Some(own_subject), Some(own_args));
            WaitingCopy {
                recipient: copy.recipient,
                to: copy.mailbox.email.as_str().to_owned(),
                from: if is_new.0 {
                    own_from.to_owned()
                } else {
                    String::new()
                },
                subject: is_new.1.then(|| own_subject.to_owned()),
                args: has_new_args.then(|| StoredArgs(own_args.clone())),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_scheduled_is_listed_with_its_own_sender_subject_and_arguments() {
        let mail: Mail = serde_json::from_value(serde_json::json!({
            "from": {"email": "f@example.com"}, "subject": "All", "categories": ["news"],
            "custom_args": {"list": "all", "order": "none"},
            "personalizations": [
                {"to": [{"email": "a@example.com"}, {"email": "b@example.com"}]},
                {"to": [{"email": "c@example.com"}], "from": {"email": "g@example.com"},
                    "custom_args": {"order": "c"}},
                {"to": [{"email": "d@example.com"}], "subject": "One",
                    "custom_args": {"order": "c"}},
                {"to": [{"email": "e@example.com"}]},
                {"to": [{"email": "f@example.com"}], "custom_args": {"order": "f"}},
                {"to": [{"email": "g@example.com"}]},
            ],
        }))
        .unwrap();
        let at = Timestamp(1_800_000_000);
        let span = |from, to| Span { from, to };
        let groups = [
            (Some(at), vec![span(0, 1), span(2, 4)]),
            (Some(at.plus(60)), vec![span(4, 7)]),
            (None, vec![span(1, 2)]),
        ];
        let (message, key) = (MessageId::from_bytes([1; 16]), KeyId::from_bytes([2; 16]));
        let accepted = Acceptance {
            message: &message,
            key: &key,
            client_ip: Some(IpAddr::from([192, 0, 2, 1])),
            at: at.plus(-60),
        };
        let found = listings(&mail, &groups, accepted);
        let shown: Vec<_> = found
            .iter()
            .map(|(at, waiting)| {
                let each = waiting.each().map(|own| {
                    let order = own.args.0.get("order").map_or("", String::as_str);
                    (
                        own.copy.recipient,
                        &*own.copy.to,
                        own.from,
                        own.subject,
                        order,
                    )
                });
                (at.0, waiting.piece, each.collect::<Vec<_>>())
            })
            .collect();
        let want = [
            (
                at.0,
                0,
                vec![
                    (0, "a@example.com", "f@example.com", "All", ""),
                    (2, "c@example.com", "g@example.com", "All", "c"),
                    (3, "d@example.com", "f@example.com", "One", "c"),
                ],
            ),
            (
                at.0 + 60,
                4,
                vec![
                    (4, "e@example.com", "f@example.com", "All", ""),
                    (5, "f@example.com", "f@example.com", "All", "f"),
                    (6, "g@example.com", "f@example.com", "All", ""),
                ],
            ),
        ];
        assert_eq!(shown, want);
        let first = &found[0].1;
        assert_eq!(first.categories, ["news"]);
        assert_eq!(first.client_ip.as_deref(), Some("192.0.2.1"));
        assert_eq!(first.args.0, mail.custom_args);
        // The same arguments are stored once.
        let stored: Vec<_> = first
            .copies
            .iter()
            .map(|copy| copy.args.is_some())
            .collect();
        assert_eq!(stored, [false, true, false]);
    }
}
