//! One recipient's copy of a 100 KB newsletter with 200 links, beside what the parsers cost alone.
//!
//! `cargo bench -p posthaste-render` (with `-- --quick` in a minute)
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing else to say"
)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lol_html::{RewriteStrSettings, element, rewrite_str};
use posthaste_mime::{Outgoing, Stamp, build};
use posthaste_model::{AccountId, Mail, MessageId, Timestamp};
use posthaste_render::{
    AccountDefaults, Compiled, Generation, Input, KeyRing, Links, Rendered, TemplateVersion,
    effective, plain_from_html, render,
};
use serde_json::{Value, json};

const STORIES: usize = 100;

const HEAD: &str = "<!DOCTYPE html><html><head><title>News</title><style>a{color:#b03030}</style></head><body><table>";
const TAIL: &str = "</table></body></html>";

/// One story with its two links: about 1 KB of tables, as builders write them.
fn story(link: &str, title: &str, text: &str) -> String {
    let style = "border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt;padding:10px 25px;word-break:break-word;font-family:Ubuntu,Helvetica,Arial,sans-serif;font-size:13px;line-height:1.4;text-align:left;color:#000000";
    format!(
        "<tr><td align=\"left\" style=\"{style}\"><!--[if mso | IE]><table role=\"presentation\"><tr><td><![endif]--><a href=\"{link}&amp;from=title\" style=\"{style}\">{title}</a><div style=\"{style}\">{text}</div><a href=\"{link}&amp;from=more\" target=\"_blank\">more &raquo;</a><!--[if mso | IE]></td></tr></table><![endif]--></td></tr>\n"
    )
}

/// The newsletter as a template: a loop over the stories.
fn template() -> String {
    let story = story(
        "https://news.example.test/s/{{id}}?u={{@root.user}}",
        "{{title}}",
        "{{#if text}}{{text}}{{else}}…{{/if}}",
    );
    format!("{HEAD}{{{{#each stories}}}}{story}{{{{/each}}}}{TAIL}")
}

fn data() -> Value {
    let stories: Vec<_> = (0..STORIES)
        .map(|id| json!({"id": id, "title": format!("Story {id} & more"), "text": "It was a dark and stormy night. ".repeat(4)}))
        .collect();
    json!({"user": "ann", "stories": stories})
}

/// The newsletter as one text with two substitution tags.
fn newsletter() -> String {
    let stories: String = (0..STORIES)
        .map(|id| {
            story(
                &format!("https://news.example.test/s/{id}?u=-user-"),
                &format!("Story {id} for -name-"),
                &"It was a dark and stormy night. ".repeat(4),
            )
        })
        .collect();
    format!("{HEAD}{stories}{TAIL}")
}

const TRACKED: &str = r#""tracking_settings":{"click_tracking":{"enable":true},"open_tracking":{"enable":true},"subscription_tracking":{"enable":true},"ganalytics":{"enable":true,"utm_source":"news"}}"#;

fn mail(html: Option<&str>, settings: &str) -> Mail {
    let content = html.map(|html| json!([{"type": "text/html", "value": html}]));
    let comma = if settings.is_empty() { "" } else { "," };
    let json = format!(
        r#"{{"from":{{"email":"news@example.test"}},"subject":"News","content":{},
        "personalizations":[{{"to":[{{"email":"ann@example.test"}}],"substitutions":{{"-user-":"ann","-name-":"Ann"}}}}]{comma}{settings}}}"#,
        content.unwrap_or_else(|| json!([]))
    );
    let mut mail: Mail = serde_json::from_str(&json).unwrap();
    if html.is_none() {
        mail.personalizations[0].dynamic_template_data = Some(data().to_string());
    }
    mail
}

fn copy(mail: &Mail, template: Option<&Compiled>, keys: &KeyRing) -> Rendered {
    let settings = effective(&AccountDefaults::default(), mail);
    let links = Links {
        base: "https://links.example.test",
        host: None,
        keys,
        account: &AccountId::from_bytes([1; 10]),
        message: &MessageId::from_bytes([2; 16]),
        now: Timestamp(1_795_820_482),
        mailbox: None,
    };
    render(&Input {
        mail,
        copy: mail.copies().next().unwrap(),
        template,
        settings: &settings,
        links: Some(links),
    })
    .unwrap()
}

/// The bytes that one recipient gets: the copy, composed.
fn whole(mail: &Mail, template: Option<&Compiled>, keys: &KeyRing) -> Vec<u8> {
    let rendered = copy(mail, template, keys);
    let envelope = &mail.personalizations[0];
    let extra: Vec<(&str, String)> = rendered
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let outgoing = Outgoing {
        from: &mail.from,
        to: &envelope.to,
        cc: &[],
        reply_to: &rendered.reply_to,
        subject: &rendered.subject,
        contents: &rendered.parts,
        attachments: &[],
        headers: &mail.headers,
        extra: &extra,
    };
    let stamp = Stamp {
        message_id: "1234567890abcdef@mail.example.test",
        date: Timestamp(1_795_820_482),
        boundary: "1234567890abcdef",
    };
    build(&outgoing, &stamp).unwrap()
}

fn compile(html: &str) -> Compiled {
    Compiled::compile(&TemplateVersion {
        generation: Generation::Dynamic,
        subject: "News",
        html_content: html,
        plain_content: "",
        generate_plain_content: false,
    })
    .unwrap()
}

fn rewriting(c: &mut Criterion) {
    let html = newsletter();
    let keys = KeyRing::new(&[(1, &[7; 32])]).unwrap();
    let mut group = c.benchmark_group("newsletter");
    group.throughput(Throughput::Bytes(html.len().try_into().unwrap()));
    group.bench_function("bare lol_html, 200 attributes set", |b| {
        b.iter(|| {
            let settings = RewriteStrSettings::new().append_element_content_handler(element!(
                "a[href]",
                |el| {
                    el.set_attribute("href", "https://links.example.test/ls/click?upn=x")?;
                    Ok(())
                }
            ));
            rewrite_str(black_box(&html), settings).unwrap()
        });
    });
    let plain = mail(Some(&html), "");
    group.bench_function("substitutions only", |b| {
        b.iter(|| copy(black_box(&plain), None, &keys));
    });
    let tracked = mail(Some(&html), TRACKED);
    group.bench_function("substitutions, utm, 200 signed links, footer, pixel", |b| {
        b.iter(|| copy(black_box(&tracked), None, &keys));
    });
    group.bench_function("all of that, and the MIME of it", |b| {
        b.iter(|| whole(black_box(&tracked), None, &keys));
    });
    group.bench_function("text generated from the HTML", |b| {
        b.iter(|| plain_from_html(black_box(&html)));
    });
    group.finish();
}

fn templates(c: &mut Criterion) {
    let source = template();
    let keys = KeyRing::new(&[(1, &[7; 32])]).unwrap();
    let mut registry = handlebars::Handlebars::new();
    registry.register_template_string("news", &source).unwrap();
    let data = data();
    let size = registry.render("news", &data).unwrap().len();
    let mut group = c.benchmark_group("dynamic template");
    group.throughput(Throughput::Bytes(size.try_into().unwrap()));
    group.bench_function("bare handlebars crate", |b| {
        b.iter(|| registry.render("news", black_box(&data)).unwrap());
    });
    let compiled = compile(&source);
    let plain = mail(None, "");
    group.bench_function("template only, data parsed from its JSON", |b| {
        b.iter(|| copy(black_box(&plain), Some(&compiled), &keys));
    });
    let tracked = mail(None, TRACKED);
    group.bench_function("template, utm, 200 signed links, footer, pixel", |b| {
        b.iter(|| copy(black_box(&tracked), Some(&compiled), &keys));
    });
    group.bench_function("all of that, and the MIME of it", |b| {
        b.iter(|| whole(black_box(&tracked), Some(&compiled), &keys));
    });
    group.finish();

    let large = newsletter()
        .replace("-user-", "{{user}}")
        .replace("-name-", "{{name}}");
    let mut group = c.benchmark_group("compile 100 KB with 300 tags");
    group.sample_size(10);
    group.bench_function("handlebars crate", |b| {
        b.iter(|| handlebars::Template::compile(black_box(&large)).unwrap());
    });
    group.bench_function("ours", |b| b.iter(|| compile(black_box(&large))));
    group.finish();
}

criterion_group!(benches, rewriting, templates);
criterion_main!(benches);
