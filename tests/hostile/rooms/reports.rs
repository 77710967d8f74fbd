//! Mails to the bounce domain: delivery reports, bounces in words and complaints.

use posthaste_mime::report::{self, MailReport};

use crate::guard::survive;
use crate::shapes::{MAIL, bounces, reports, structures};

fn is_bounded(report: Option<MailReport>) {
    match report {
        Some(MailReport::Delivery(delivery)) => {
            assert!(delivery.recipients.len() <= 1_001);
            assert!(delivery.original.headers.len() <= 1_000);
        }
        Some(MailReport::Complaint(complaint)) => assert!(complaint.recipients.len() <= 1_000),
        None => {}
    }
}

#[test]
fn any_mail_is_a_report_or_none() {
    for (name, make) in reports().into_iter().chain(structures()).chain(bounces()) {
        survive(name, move || {
            let mail = make(MAIL);
            is_bounded(report::read(mail.as_bytes()));
            is_bounded(report::bounce(mail.as_bytes()));
            report::attached(mail.as_bytes());
        });
    }
}
