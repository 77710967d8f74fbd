//! What composing a mail costs: `cargo bench -p posthaste-mime`.

use std::collections::BTreeMap;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use posthaste_mime::{Outgoing, Stamp, build};
use posthaste_model::{Attachment, Content, Disposition, EmailAddress, Mailbox, Timestamp};

fn content(mime_type: &str, value: String) -> Content {
    Content {
        mime_type: mime_type.to_owned(),
        value,
    }
}

fn mailbox(email: &str, name: &str) -> Mailbox {
    Mailbox {
        email: EmailAddress::parse(email).expect("a valid address"),
        name: Some(name.to_owned()),
    }
}

fn outgoing(c: &mut Criterion) {
    let from = mailbox("news@example.com", "Example, Inc.");
    let to = [mailbox("ann@example.org", "Ann Müller")];
    let row = "<tr><td style=\"padding:4px 8px\">Größe 42</td><td>£ 12.50</td></tr>\n";
    let small = [
        content("text/plain", "Your order has left our house.\n".repeat(30)),
        content("text/html", row.repeat(16)),
    ];
    let newsletter = [
        content("text/plain", "News of the week.\n".repeat(300)),
        content("text/html", row.repeat(100_000 / row.len())),
    ];
    let file = [Attachment {
        content: "QUJD".repeat(5_000_000 / 3),
        mime_type: Some("application/pdf".to_owned()),
        filename: "report.pdf".to_owned(),
        disposition: Disposition::Attachment,
        content_id: None,
    }];
    let headers = BTreeMap::from([("X-Campaign".to_owned(), "spring".to_owned())]);
    let stamp = Stamp {
        message_id: "1234567890abcdef@mail.example.com",
        date: Timestamp(1_795_820_482),
        boundary: "1234567890abcdef",
    };
    let cases: [(&str, &[Content], &[Attachment]); 3] = [
        ("2 KB mail", &small, &[]),
        ("100 KB newsletter", &newsletter, &[]),
        ("5 MB attachment", &small, &file),
    ];
    let mut group = c.benchmark_group("build");
    for (name, contents, attachments) in cases {
        let mail = Outgoing {
            from: &from,
            to: &to,
            cc: &[],
            reply_to: &[],
            subject: "Your order 4711 – on its way",
            contents,
            attachments,
            headers: &headers,
            extra: &[],
        };
        let size = build(&mail, &stamp).expect("a mail").len();
        group.throughput(Throughput::Bytes(u64::try_from(size).unwrap_or(u64::MAX)));
        group.bench_function(name, |b| b.iter(|| build(&mail, &stamp)));
    }
    group.finish();
}

criterion_group!(benches, outgoing);
criterion_main!(benches);
