//! The budget of accepting (DESIGN, "Budgets"): decoding and checking a mail of 2 KB costs at most
//! four times a plain typed parse of the same bytes.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mail_send::{SendLimits, decode_and_check};
use posthaste_model::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// What anybody would write first: owned fields, derived, nothing checked.
#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, not read")]
struct Plain {
    personalizations: Vec<PlainEnvelope>,
    from: PlainMailbox,
    reply_to: Option<PlainMailbox>,
    subject: Option<String>,
    content: Vec<PlainContent>,
    #[serde(default)]
    attachments: Vec<PlainAttachment>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    custom_args: BTreeMap<String, String>,
    send_at: Option<i64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, not read")]
struct PlainEnvelope {
    to: Vec<PlainMailbox>,
    #[serde(default)]
    cc: Vec<PlainMailbox>,
    subject: Option<String>,
    #[serde(default)]
    substitutions: BTreeMap<String, String>,
    #[serde(default)]
    custom_args: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, not read")]
struct PlainMailbox {
    email: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, not read")]
struct PlainContent {
    r#type: String,
    value: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, not read")]
struct PlainAttachment {
    content: String,
    filename: String,
    r#type: Option<String>,
}

/// A transactional mail as a shop sends it: 2 KB of JSON, most of it HTML.
fn two_kilobytes() -> Value {
    let row = "<tr><td style=\"padding:8px\">Blue socks</td><td>2 × 4.90 €</td></tr>\n";
    let html = format!(
        "<html><body><table>\n{}</table></body></html>",
        row.repeat(15)
    );
    json!({
        "personalizations": [{
            "to": [{"email": "ann@example.org", "name": "Ann Example"}],
            "custom_args": {"order": "2024-11-0815", "customer": "4711"},
        }],
        "from": {"email": "shop@example.com", "name": "The Sock Shop"},
        "reply_to": {"email": "desk@example.com", "name": "Service desk"},
        "subject": "Your order 2024-11-0815 is on its way",
        "content": [
            {"type": "text/plain", "value": "Hello Ann,\n\nyour order is on its way.\n\nThe Sock Shop"},
            {"type": "text/html", "value": html},
        ],
        "headers": {"X-Entity-Ref-ID": "2024-11-0815"},
        "categories": ["orders", "shipping"],
        "custom_args": {"tenant": "north"},
    })
}

/// The same mail to a thousand envelopes.
fn thousand_envelopes() -> Value {
    let mut body = two_kilobytes();
    let envelope = |i| {
        json!({
            "to": [{"email": format!("customer{i}@example.org"), "name": format!("Customer {i}")}],
            "substitutions": {"-name-": format!("Customer {i}"), "-code-": format!("{i:08x}")},
        })
    };
    if let Some(envelopes) = body.get_mut("personalizations") {
        *envelopes = (0..1000).map(envelope).collect();
    }
    body
}

/// One attachment of 5 MB.
fn large_attachment() -> Value {
    let mut body = two_kilobytes();
    if let Some(body) = body.as_object_mut() {
        let content = "TG9yZW0g".repeat(5_000_000 / 8);
        let file = json!({"content": content, "filename": "a.pdf", "type": "application/pdf"});
        body.insert("attachments".to_owned(), json!([file]));
    }
    body
}

fn accept(c: &mut Criterion) {
    let bodies = [
        ("2 KB", two_kilobytes()),
        ("1000 envelopes", thousand_envelopes()),
        ("5 MB attachment", large_attachment()),
    ];
    for (name, body) in bodies {
        let body = body.to_string();
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function("plain typed parse", |b| {
            b.iter(|| serde_json::from_str::<Plain>(black_box(&body)).is_ok());
        });
        group.bench_function("decode_and_check", |b| {
            let (now, limits) = (Timestamp(1_800_000_000), SendLimits::default());
            b.iter(|| decode_and_check(black_box(body.as_bytes()), now, &limits).is_ok());
        });
        group.finish();
    }
}

criterion_group!(benches, accept);
criterion_main!(benches);
