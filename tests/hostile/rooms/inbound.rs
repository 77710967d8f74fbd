//! Received mails as the form that is posted.

use posthaste_mime::inbound::{Facts, Mode, Spf, form};
use posthaste_mime::report;

use crate::guard::survive;
use crate::shapes::{MAIL, mails, reports};

#[test]
fn any_mail_becomes_a_form() {
    for (name, make) in mails().into_iter().chain(reports()) {
        survive(name, move || {
            let mail = make(MAIL);
            let facts = Facts {
                envelope_from: "a@b.example",
                envelope_to: "c@d.example",
                sender_ip: None,
                received: None,
                spf: Spf::None,
                dkim: &[],
                spam: None,
            };
            let raw = form(mail.as_bytes(), &facts, Mode::Raw);
            assert_eq!(raw.get("email"), Some(mail.as_bytes()));
            let form = form(mail.as_bytes(), &facts, Mode::Parsed);
            let files = form.entries.iter().filter(|entry| entry.file.is_some());
            assert!(files.count() <= 1_200);
            let size: usize = form.entries.iter().map(|entry| entry.value.len()).sum();
            assert!(form.encode().1.len() > size);
            report::is_auto_reply(mail.as_bytes(), "ann@example.com");
            report::subject(mail.as_bytes());
        });
    }
}
