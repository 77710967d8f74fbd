//! The `X-SMTPAPI` header.

use posthaste_model::{EmailAddress, Timestamp};
use posthaste_smtpapi::{HeaderContext, LONGEST_HEADER, MOST_RECIPIENTS, mailbox, read};

use crate::guard::survive;
use crate::shapes::{MAIL, json, text};

const KEYS: [&str; 12] = [
    "to",
    "sub",
    "section",
    "category",
    "unique_args",
    "filters",
    "send_each_at",
    "asm_groups_to_display",
    "reply_to_list",
    "send_at",
    "batch_id",
    "ip_pool",
];

fn world(recipients: usize) -> HeaderContext {
    HeaderContext {
        recipients,
        now: Timestamp(1_800_000_000),
        horizon: 3_600,
    }
}

#[test]
fn any_header_is_read() {
    for (name, make) in json() {
        survive(name, move || {
            let text = make(LONGEST_HEADER);
            let envelope = vec![EmailAddress::parse("a@b.example").unwrap(); 1_000];
            for key in KEYS {
                if let Ok(read) = read(&text.replace("KEY", key), &world(envelope.len())) {
                    assert!(read.personalizations(&envelope).len() <= MOST_RECIPIENTS);
                }
            }
            assert!(read(&make(MAIL), &world(1)).is_err(), "too long");
        });
    }
}

#[test]
fn any_text_is_a_mailbox_or_none() {
    for (name, make) in text() {
        survive(name, move || {
            let text = make(MAIL);
            assert!(mailbox(&text).is_none());
            assert!(mailbox(&format!("\"{text}\" <a@b.example>")).is_some());
        });
    }
}

/// Unique arguments with tags that overlap, for as many recipients as their copies may fill.
#[test]
fn tags_that_overlap_are_replaced_for_every_recipient() {
    survive("overlapping tags for a list", || {
        let long = format!("{}b", "a".repeat(9_000));
        let tags = [("a".to_owned(), String::new()), (long, String::new())].into();
        let args = [("k".to_owned(), "a".repeat(9_900))].into();
        let mut budget = posthaste_render::Budget::of_recipients(MOST_RECIPIENTS);
        let none = std::collections::BTreeMap::new();
        let one =
            |_: &usize| posthaste_render::substituted(&args, &tags, &none, &mut budget).is_ok();
        // The first that does not fit ends the mail.
        let done = (0..MOST_RECIPIENTS).take_while(one).count();
        assert!((100..1_000).contains(&done), "{done} fit into the budget");
    });
}
