//! What is decided before a body is read: its type, its compression, its size.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use mail_send::Senders;
use posthaste_testkit::Response;
use serde_json::json;

use crate::test_app::TestApp;
use crate::{good, with};

const MIB: usize = 1 << 20;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

async fn packed(app: &TestApp, encoding: &str, body: Vec<u8>) -> Response {
    let ask = app.ask().header("content-type", "application/json");
    let ask = ask.header("content-encoding", encoding);
    ask.body(body).send().await
}

/// A good body, padded with white space to a length.
fn padded(length: usize) -> Vec<u8> {
    let mut body = good().to_string().into_bytes();
    body.resize(length, b' ');
    body
}

#[tokio::test]
async fn a_compressed_body_is_accepted_unless_the_account_may_not_send_one() {
    let app = TestApp::new(Senders::Any).await;
    let body = gzip(good().to_string().as_bytes());
    for encoding in ["gzip", "GZIP", " gzip "] {
        packed(&app, encoding, body.clone()).await.expect(202);
    }
    for encoding in ["br", "deflate", "gzip, gzip", "gzip;q=1"] {
        let error = packed(&app, encoding, body.clone()).await.expect(415);
        assert_eq!(error.error().1, "Content-Encoding is not supported.");
    }
    let broken = packed(&app, "gzip", b"not packed".to_vec()).await;
    assert_eq!(broken.expect(400).error(), (None, "Bad Request".to_owned()));

    app.store
        .update_account(&app.tenant.account.id, |account| {
            account.gzip = false;
        })
        .await
        .unwrap();
    app.hand.advance(10);
    packed(&app, "gzip", body).await.expect(415);
    app.send(&good()).await.expect(202);
}

/// A mail of one file, a little below the limit, and what its template says on top of it.
#[tokio::test]
async fn the_texts_of_a_template_count() {
    let app = TestApp::new(Senders::Any).await;
    let largest = 30 * MIB / 78 * 76;
    let send = async |html: &str, room: usize| {
        let id = app.template(html).await;
        let file = "A".repeat((largest - room) / 4 * 4);
        let body = with(&[
            ("template_id", json!(id)),
            (
                "attachments",
                json!([{"content": file, "filename": "a.bin"}]),
            ),
        ]);
        // As JSON the file is larger than it may be on its way; packed it is small.
        packed(&app, "gzip", gzip(body.to_string().as_bytes())).await
    };
    let html = "<p>line</p>\r\n".repeat(20_000);
    send(&html, html.len() + 8192).await.expect(202);
    let refused = send(&html, html.len() / 2).await.expect(413);
    assert_eq!(refused.error(), (None, "content too large".to_owned()));
    send("<p>short</p>", html.len() / 2).await.expect(202);
}

#[tokio::test]
async fn an_unpacked_body_is_below_48_mebibytes() {
    let app = TestApp::new(Senders::Any).await;
    let largest = packed(&app, "gzip", gzip(&padded(48 * MIB - 1))).await;
    largest.expect(202);
    let answer = packed(&app, "gzip", gzip(&padded(48 * MIB))).await;
    assert_eq!(answer.expect(413).error().1, "content too large");
}

#[tokio::test]
async fn a_body_is_below_30_mebibytes_as_received() {
    let app = TestApp::new(Senders::Any).await;
    for (length, status) in [(30 * MIB - 1, 202), (30 * MIB, 413)] {
        let ask = app.ask().header("content-type", "application/json");
        let answer = ask.body(padded(length)).send().await.expect(status);
        if status == 413 {
            assert_eq!(
                String::from_utf8(answer.body.to_vec()).unwrap(),
                r#"{"errors":[{"message":"content too large","field":null,"help":null}]}"#
            );
        }
    }
}

#[tokio::test]
async fn the_composed_mail_is_below_30_mebibytes_too() {
    let app = TestApp::new(Senders::Any).await;
    // Base64 is folded on its way out: 76 characters and a line end.
    let file = json!([{"content": "A".repeat(30 * MIB / 78 * 76), "filename": "a"}]);
    let body = with(&[("attachments", file)]).to_string();
    assert!(body.len() < 30 * MIB);
    let answer = packed(&app, "identity", body.into_bytes()).await;
    assert_eq!(answer.expect(413).error().1, "content too large");
    assert!(app.queues.drain("send").is_empty());
}

#[tokio::test]
async fn only_json_in_utf_8_is_read() {
    let app = TestApp::new(Senders::Any).await;
    for (kind, status) in [
        ("application/json", 202),
        ("application/json; charset=utf-8", 202),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonx", 415),
    ] {
        let ask = app.ask().header("content-type", kind);
        let answer = ask.body(good().to_string()).send().await.expect(status);
        if status == 415 {
            let text = "Content-Type should be application/json.";
            assert_eq!(answer.error(), (None, text.to_owned()), "{kind}");
        }
    }
    let ask = app.ask().header("content-type", "application/json");
    let answer = ask.body(&b"{\"subject\":\"\xff\"}"[..]).send().await;
    assert_eq!(answer.expect(415).error().1, "Invalid UTF8 in request");
}
