//! The traps of API facts, section 9, that a request alone springs. Those that only say which
//! message is answered (2 to 7, 12, 17, 19, 20, 42, 43) are rows of `types.rs` and `rules.rs`.

use mail_send::Senders;
use posthaste_model::Disposition;
use posthaste_queue::Job;
use serde_json::json;

use crate::test_app::TestApp;
use crate::{accept, good, read, with};

#[test]
fn trap_1_a_name_with_a_comma_stays_one_name() {
    let mail = accept(&with(&[(
        "personalizations.0.to.0.name",
        json!("Last, First; Jr."),
    )]));
    assert_eq!(mail.personalizations[0].to.len(), 1);
    assert_eq!(
        mail.personalizations[0].to[0].name.as_deref(),
        Some("Last, First; Jr.")
    );
}

#[test]
fn trap_12_an_invitation_keeps_its_method() {
    let invitation = "text/calendar; method=REQUEST";
    let mail = accept(&with(&[
        (
            "content.1",
            json!({"type": invitation, "value": "BEGIN:VCALENDAR"}),
        ),
        (
            "attachments",
            json!([{"content": "QQ==", "filename": "i.ics", "type": invitation}]),
        ),
    ]));
    assert_eq!(mail.content[1].mime_type, invitation);
    assert_eq!(mail.attachments[0].mime_type.as_deref(), Some(invitation));
}

#[test]
fn trap_14_a_filename_may_have_any_letters() {
    for name in [
        "",
        "Rechnung, März; ü.pdf",
        "简历.docx",
        "a\"b\\c.txt",
        "../../etc/passwd",
    ] {
        let mail = accept(&with(&[(
            "attachments",
            json!([{"content": "QQ==", "filename": name}]),
        )]));
        assert_eq!(mail.attachments[0].filename, name);
    }
}

#[test]
fn traps_15_and_16_a_content_id_loses_its_brackets_and_sets_no_disposition() {
    for (given, kept) in [
        ("logo", Some("logo")),
        ("<logo@x>", Some("logo@x")),
        (" <logo> ", Some("logo")),
        ("my logo.png", Some("my logo.png")),
        ("", None),
        ("<>", None),
    ] {
        let file = json!([{"content": "QQ==", "filename": "l.png", "content_id": given}]);
        let mail = accept(&with(&[("attachments", file)]));
        assert_eq!(mail.attachments[0].content_id.as_deref(), kept, "{given:?}");
        assert_eq!(mail.attachments[0].disposition, Disposition::Attachment);
    }
}

#[test]
fn trap_18_an_attachment_type_need_not_be_a_mime_type() {
    for given in ["gif", "image/", "image/png, image/jpeg", "a b"] {
        let file =
            json!([{"content": "R0lGODlh", "filename": "a.gif", "type": given, "name": "a"}]);
        let mail = accept(&with(&[("attachments", file)]));
        assert_eq!(mail.attachments[0].mime_type.as_deref(), Some(given));
    }
}

#[test]
fn base64_may_be_folded_as_encoders_fold_it() {
    for folded in ["QUJD\nREVG", "QUJD\r\nREVG\r\n", " QUJDREVG", "QUJD\tREVG"] {
        let file = json!([{"content": folded, "filename": "a"}]);
        let mail = accept(&with(&[("attachments", file)]));
        assert_eq!(mail.attachments[0].content, "QUJDREVG", "{folded:?}");
    }
}

#[test]
fn traps_21_and_22_letters_of_any_script_pass_and_spaces_do_not() {
    for email in [
        "pepé@example.com",
        "伊@例え.jp",
        "ann@müller.de",
        "\"a b\"@example.com",
    ] {
        accept(&with(&[("personalizations.0.to.0.email", json!(email))]));
    }
    let spaced = with(&[("personalizations.0.to.0.email", json!("a b@example.com"))]);
    assert!(read(spaced.to_string().as_bytes()).is_err());
}

/// SendGrid sends it as the parent's.
#[tokio::test]
async fn trap_30_mail_on_behalf_of_a_subuser_is_the_subusers() {
    let app = TestApp::new(Senders::Any).await;
    let branch = app.tenant.subuser(&app.store, "branch").await;
    let ask = app.ask().header("on-behalf-of", "branch");
    ask.json(&good()).send().await.expect(202);
    let jobs = app.queues.drain("send");
    assert_eq!(
        Job::from_text(&jobs[0].0).unwrap().account,
        branch.account.id
    );
}

/// Attachments that exceed a mail's limit get an error in the API's shape, not a proxy's page.
#[tokio::test]
async fn traps_39_and_40_ten_megabytes_pass_and_thirty_are_refused_in_the_shape_of_the_api() {
    let app = TestApp::new(Senders::Any).await;
    let file = |size: usize| json!([{"content": "QUJD".repeat(size / 4), "filename": "a.bin"}]);
    let fits = with(&[("attachments", file(20 << 20))]);
    app.send(&fits).await.expect(202);
    let refused = app.send(&with(&[("attachments", file(30 << 20))])).await;
    let refused = refused.expect(413);
    assert_eq!(refused.error(), (None, "content too large".to_owned()));
}

#[test]
fn trap_44_several_reply_addresses_come_from_the_list() {
    let list = json!([{"email": "a@example.com"}, {"email": "b@example.com", "name": "B"}]);
    let mail = accept(&with(&[("reply_to_list", list)]));
    assert_eq!(mail.reply_to.len(), 2);
}

#[test]
fn raw_letters_in_a_header_value_are_the_composers_to_encode() {
    let mail = accept(&with(&[(
        "headers",
        json!({"X-Day": "Grüße 🎉", "X-Empty": ""}),
    )]));
    assert_eq!(mail.headers["X-Day"], "Grüße 🎉");
}

/// The sample body of the official clients has this form.
#[test]
fn sections_may_be_in_an_object_of_their_own() {
    let nested = json!({"section": {":one": "1", ":two": "2"}, ":three": "3"});
    let mail = accept(&with(&[("sections", nested)]));
    let want = [(":one", "1"), (":three", "3"), (":two", "2")];
    let want = want.map(|(tag, text)| (tag.to_owned(), text.to_owned()));
    assert_eq!(mail.sections, want.into());
}

#[test]
fn unknown_keys_are_ignored_whatever_they_hold() {
    accept(&with(&[
        ("contentId", json!(null)),
        ("from.nick", json!([1])),
        ("personalizations.0.isMultiple", json!(true)),
    ]));
    let deep = format!("{{\"x\":{}{},", "[".repeat(100_000), "]".repeat(100_000));
    let body = with(&[]).to_string().replacen('{', &deep, 1);
    assert!(read(body.as_bytes()).is_ok());
}
