//! Any bytes as a mail to the bounce domain: no panic, and a report that is bounded and of one line
//! each, whatever it says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posthaste_mime::report::{self, MailReport, Original};

fuzz_target!(|raw: &[u8]| {
    report::attached(raw);
    check(report::bounce(raw));
    check(report::read(raw));
    // A report that is forwarded is about the mail it came with, and no report itself.
    let forwarded = [b"Content-Type: message/rfc822\r\n\r\n", raw].concat();
    assert!(report::read(&forwarded).is_none());
});

fn check(report: Option<MailReport>) {
    let lines = match report {
        None => return,
        Some(MailReport::Delivery(delivery)) => {
            assert!(delivery.recipients.len() <= 1_001);
            let mut lines = original(&delivery.original);
            lines.extend(delivery.reporting_mta);
            for one in delivery.recipients {
                assert!(
                    one.status
                        .as_ref()
                        .is_none_or(|status| status.split('.').count() == 3)
                );
                lines.push(one.address);
                lines.extend(
                    [one.original, one.diagnostic, one.remote_mta]
                        .into_iter()
                        .flatten(),
                );
            }
            lines
        }
        Some(MailReport::Complaint(complaint)) => {
            assert!(complaint.recipients.len() <= 1_000);
            let mut lines = original(&complaint.original);
            lines.push(complaint.feedback_type);
            lines.extend(complaint.recipients);
            lines.extend(
                [
                    complaint.mail_from,
                    complaint.source_ip,
                    complaint.user_agent,
                ]
                .into_iter()
                .flatten(),
            );
            lines
        }
    };
    assert!(lines.iter().all(|line| !line.contains(char::is_control)));
}

fn original(original: &Original) -> Vec<String> {
    assert!(original.headers.len() <= 1_000);
    original.message_id();
    original
        .headers
        .iter()
        .map(|(_, value)| value.clone())
        .collect()
}
