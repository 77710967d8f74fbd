//! What taking a received mail apart costs: `cargo bench -p posthaste-mime --bench inbound`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use posthaste_mime::inbound::{Facts, Mode, Spf, form};

fn mails() -> [(&'static str, Vec<u8>); 4] {
    let head = "From: =?utf-8?Q?J=C3=B6rg?= <j@example.com>\r\nTo: inbox@parse.example\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\r\nMIME-Version: 1.0\r\n";
    let alternative = |text: &str, html: &str| {
        format!(
            "{head}Content-Type: multipart/alternative; boundary=b\r\n\r\n\
             --b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n\
             --b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{html}\r\n\
             --b--\r\n"
        )
    };
    let row = "<tr><td style=3D\"padding:4px 8px\">Gr=C3=B6=C3=9Fe 42</td></tr>\r\n";
    let line = format!("{}\r\n", "QUJD".repeat(19));
    let file = format!(
        "{head}Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
        line.repeat((30 << 20) / line.len())
    );
    [
        (
            "2 KB mail",
            alternative(&"Hi Ann\r\n".repeat(60), &row.repeat(20)).into(),
        ),
        (
            "100 KB newsletter",
            alternative(&"News\r\n".repeat(900), &row.repeat(1500)).into(),
        ),
        ("30 MB attachment", file.into()),
        (
            "30 MB of fields",
            "X-A: b\r\n".repeat((30 << 20) / 8).into(),
        ),
    ]
}

fn inbound(c: &mut Criterion) {
    let facts = Facts {
        envelope_from: "bounce@example.com",
        envelope_to: "inbox@parse.example",
        sender_ip: None,
        received: None,
        spf: Spf::Pass,
        dkim: &[],
        spam: None,
    };
    let mut group = c.benchmark_group("inbound");
    group.sample_size(10);
    for (name, raw) in mails() {
        group.throughput(Throughput::Bytes(
            u64::try_from(raw.len()).unwrap_or(u64::MAX),
        ));
        group.bench_function(name, |b| {
            b.iter(|| form(&raw, &facts, Mode::Parsed).encode());
        });
    }
    group.finish();
}

criterion_group!(benches, inbound);
criterion_main!(benches);
