//! Submitted mails: what their header says, and what is passed on with its texts changed.

use posthaste_mime::Stamp;
use posthaste_mime::submitted::{Changes, SubmittedHead, pass_on, received, texts};
use posthaste_model::Timestamp;

use crate::guard::survive;
use crate::shapes::{MAIL, mails};

const STAMP: Stamp<'_> = Stamp {
    message_id: "ours@example.com",
    date: Timestamp(1_800_000_000),
    boundary: "seed",
};

#[test]
fn any_mail_is_read_and_passed_on() {
    for (name, make) in mails() {
        survive(name, move || {
            let mail = make(MAIL);
            let head = SubmittedHead::read(mail.as_bytes());
            assert!(head.subject.len() <= 3 << 20);
            // A line that is too long and cannot be broken is refused.
            if let Ok(traced) = received(mail.as_bytes(), "from a; now") {
                assert!(traced.starts_with(b"Received: from a"));
            }
            let before = texts(mail.as_bytes());
            let mut after = before.clone();
            for text in &mut after {
                text.value.push_str("<p>more</p>");
            }
            let changes = Changes {
                before: &before,
                after: &after,
                to: &head.reply_to,
                reply_to: &head.reply_to,
                subject: Some(&head.subject),
                extra: &[(
                    "List-Unsubscribe".to_owned(),
                    "<https://x.example>".to_owned(),
                )],
            };
            let passed = pass_on(mail.as_bytes(), &changes, &STAMP).unwrap();
            assert!(passed.len() < 4 * MAIL);
        });
    }
}
