//! Templates of the largest size, with the most that a mail may bring to them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{End, Ledger, MIB, changed, filled, wide};

/// Values of `dynamic_template_data`, the object itself included.
const MOST_VALUES: usize = 1_000_000;

/// A template with one version of the largest texts, which begin like this; its id.
async fn template(ledger: &Ledger, generation: &str, [subject, text, html]: [&str; 3]) -> String {
    let body = json!({"name": wide(100), "generation": generation});
    let template = ledger.made("/v3/templates", &body).await;
    let id = template["id"].as_str().expect("an id").to_owned();
    let version = json!({
        "name": wide(100), "subject": format!("{subject}{}", wide(255 - subject.len())),
        "html_content": filled(html, MIB), "plain_content": filled(text, MIB),
        "generate_plain_content": false, "active": 1,
    });
    let path = format!("/v3/templates/{id}/versions");
    ledger.made(&path, &version).await;
    id
}

/// A mail to one that a dynamic template makes of this data.
fn dynamic(template: &str, data: &Value) -> Value {
    json!({
        "personalizations": [{"to": [{"email": "ann@example.com"}], "dynamic_template_data": data}],
        "from": {"email": "sender@example.com"},
        "template_id": template,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recipient_of_the_largest_dynamic_template_ends_once() {
    let mut ledger = Ledger::open().await;
    let html = "{{#if list}}<p>{{text}}</p>{{/if}}\n";
    let id = template(&ledger, "dynamic", ["{{name}}", "Dear {{name}}\n", html]).await;
    // The object, a name, a text, a list: the rest are its items.
    let data = |items: usize| json!({"name": wide(100_000), "text": filled("", 16 * MIB), "list": vec![7; items]});
    let fits = data(MOST_VALUES - 4);
    ledger
        .send("data", &dynamic(&id, &fits), End::Delivered)
        .await;
    let past = json!({"list": vec![7; MOST_VALUES - 1]});
    let reason = "dynamic_template_data is not a JSON object of at most 1000000 values";
    ledger
        .send("more data", &dynamic(&id, &past), End::Dropped(reason))
        .await;
    ledger.ended().await;
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_legacy_template_ends_once() {
    let mut ledger = Ledger::open().await;
    let texts = [
        "<%subject%>",
        "Hello\n<%body%>\n",
        "<h1>Hello</h1><%body%>\n",
    ];
    let id = template(&ledger, "legacy", texts).await;
    // The names of all sections together have 262,144 bytes; the texts only have to fit a mail.
    let mut sections: BTreeMap<String, String> = (0..32_768)
        .map(|n| (format!(":{n:07}"), String::new()))
        .collect();
    sections.insert(":0000000".to_owned(), filled("", 6 * MIB));
    let mail = changed(|mail| {
        mail["template_id"] = json!(id);
        mail["sections"] = json!(sections);
        mail["content"] = json!([
            {"type": "text/plain", "value": "-a-"},
            {"type": "text/html", "value": "<p>-a-</p>"},
        ]);
        let value = format!(":0000000{}", "v".repeat(9_989));
        mail["personalizations"][0]["substitutions"] = json!({"-a-": value});
    });
    ledger.send("sections", &mail, End::Delivered).await;
    ledger.ended().await;
    ledger.close().await;
}
