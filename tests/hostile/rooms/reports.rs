//! Mails to the bounce domain: delivery reports and complaints.

use posthaste_mime::report::{self, Report};

use crate::guard::survive;
use crate::shapes::{MAIL, reports, structures};

#[test]
fn any_mail_is_a_report_or_none() {
    for (name, make) in reports().into_iter().chain(structures()) {
        survive(name, move || {
            let mail = make(MAIL);
            match report::read(mail.as_bytes()) {
                Some(Report::Delivery(delivery)) => {
                    assert!(delivery.recipients.len() <= 1_001);
                    assert!(delivery.original.headers.len() <= 1_000);
                }
                Some(Report::Complaint(complaint)) => assert!(complaint.recipients.len() <= 1_000),
                None => {}
            }
        });
    }
}
