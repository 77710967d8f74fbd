//! The bodies of `tests/bodies`: what the official clients' examples produce.

use posthaste_model::{Disposition, Timestamp, TrackingSettings};
use serde_json::json;

use crate::{accept, read, with};

#[test]
fn every_body_of_the_folder_passes_and_survives_the_queue() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bodies");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mail = read(&std::fs::read(&path).unwrap());
        let mail = mail.unwrap_or_else(|found| panic!("{path:?}: {found:#?}"));
        let queued = serde_json::to_string(&mail).unwrap();
        assert_eq!(serde_json::from_str(&queued).ok(), Some(mail), "{path:?}");
        count += 1;
    }
    assert!(count >= 5, "{count} bodies");
}

#[test]
fn the_kitchen_sink_arrives_whole() {
    let mail = read(include_bytes!("../bodies/kitchen-sink.json")).unwrap();
    let envelope = &mail.personalizations[0];

    assert_eq!(mail.count(), 3);
    assert_eq!(mail.from_of(envelope).email.as_str(), "team@example.com");
    assert_eq!(mail.reply_to.len(), 2);
    assert_eq!(
        mail.attachments[0].content,
        "W0Jhc2U2NCBlbmNvZGVkIGNvbnRlbnQgaGVyZV0="
    );
    assert_eq!(
        mail.attachments[0].content_id.as_deref(),
        Some("ii_139db99fdb5c3704")
    );
    assert_eq!(mail.attachments[0].disposition, Disposition::Inline);
    assert_eq!(mail.attachments[1].disposition, Disposition::Attachment);
    assert_eq!(mail.content[2].mime_type, "text/calendar; method=REQUEST");
    assert_eq!(mail.merged_args(envelope).len(), 3);
    assert_eq!(mail.merged_headers(envelope)["x-day"], "Tuesday");
    assert_eq!(mail.send_at_of(envelope), Some(Timestamp(1_409_348_513)));
    assert_eq!(mail.sections["-section-"], "a section");
    assert_eq!(
        mail.asm.as_ref().map(|asm| asm.groups_to_display.len()),
        Some(3)
    );
    assert_eq!(mail.categories, ["newsletter", "2024"]);
    assert!(mail.batch_id.is_some() && mail.ip_pool_name.is_some());
    assert!(!mail.mail_settings.is_sandbox());
    assert!(
        mail.mail_settings
            .bypass_list_management
            .is_some_and(|t| t.enable)
    );
    let footer = mail.mail_settings.footer.unwrap();
    assert_eq!(
        (footer.text.as_deref(), footer.html.as_deref()),
        (Some("Bye"), Some("<p>Bye</p>"))
    );
    let tracking = mail.tracking_settings;
    assert!(
        tracking
            .click_tracking
            .is_some_and(|c| c.enable && c.enable_text == Some(true))
    );
    assert_eq!(
        tracking.open_tracking.unwrap().substitution_tag.as_deref(),
        Some("%opentrack")
    );
    let subscription = tracking.subscription_tracking.unwrap();
    assert_eq!(subscription.text.as_deref(), Some("off: <% %>"));
    let ganalytics = tracking.ganalytics.unwrap();
    let utm = [
        ganalytics.utm_source,
        ganalytics.utm_medium,
        ganalytics.utm_term,
        ganalytics.utm_content,
        ganalytics.utm_campaign,
    ];
    assert_eq!(utm.map(Option::unwrap).concat(), "fegdc");
}

#[test]
fn escapes_and_names_arrive_as_written() {
    let mail = read(include_bytes!("../bodies/helper.json")).unwrap();
    let first = &mail.personalizations[0];
    assert_eq!(first.to[0].name.as_deref(), Some("Last, First; Jr."));
    assert_eq!(first.bcc[0].name, None);
    assert_eq!(first.subject.as_deref(), Some("Für Ann 🎁"));
    assert_eq!(
        mail.reply_to[0].name.as_deref(),
        Some("Müller, Ünsal & \"Co\"")
    );
    assert_eq!(
        mail.personalizations[1].to[0].email.as_str(),
        "joe@example.org"
    );
    assert_eq!(
        mail.content[1].value,
        "<html>\n<body style=\"color: red\">\tHello <b>{{name}}</b></body></html>"
    );
    assert!(mail.mail_settings.is_sandbox());
}

#[test]
fn template_data_and_null_names_are_accepted() {
    let mail = read(include_bytes!("../bodies/dynamic-template.json")).unwrap();
    assert!(mail.is_dynamic() && mail.subject.is_none() && mail.content.is_empty());
    assert_eq!(mail.from.name, None);
    let data = mail.personalizations[0].dynamic_template_data.as_deref();
    let data: serde_json::Value = serde_json::from_str(data.unwrap()).unwrap();
    assert_eq!(data["items"][0]["sizes"][1], 42);
    assert_eq!(data["items"][1]["name"], "Socks ☃");
}

#[test]
fn custom_args_may_be_a_string() {
    let mail = read(include_bytes!("../bodies/custom-args-in-a-string.json")).unwrap();
    assert_eq!(mail.custom_args["order"], "17");
    assert_eq!(mail.custom_args.len(), 2);
}

#[test]
fn a_setting_that_is_not_switched_is_left_as_the_account_has_it() {
    let named = json!({"footer": {"text": "x"}});
    let mail = accept(&with(&[("mail_settings", named)]));
    assert_eq!(mail.mail_settings.footer, None);
    let named = json!({"click_tracking": {"enable_text": true}, "open_tracking": {},
        "subscription_tracking": {"text": "x"}, "ganalytics": {"utm_source": "x"}});
    let mail = accept(&with(&[("tracking_settings", named)]));
    assert_eq!(mail.tracking_settings, TrackingSettings::default());

    let off = json!({"click_tracking": {"enable": false}, "open_tracking": {"enable": false}});
    let mail = accept(&with(&[("tracking_settings", off)]));
    let click = mail.tracking_settings.click_tracking.unwrap();
    assert_eq!((click.enable, click.enable_text), (false, None));
    assert!(!mail.tracking_settings.open_tracking.unwrap().enable);
}

#[test]
fn repeated_keys_the_last_wins() {
    let body = with(&[]).to_string();
    let twice = body.replacen(
        '{',
        r#"{"subject":"first","from":{"email":"x@example.com"},"#,
        1,
    );
    let mail = read(twice.as_bytes()).unwrap();
    assert_eq!(mail.subject.as_deref(), Some("Hello"));
    assert_eq!(mail.from.email.as_str(), "shop@example.com");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let body = format!("\u{feff}{}", with(&[]));
    assert!(read(body.as_bytes()).is_ok());
}
