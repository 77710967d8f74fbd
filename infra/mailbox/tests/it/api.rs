//! The REST calls against what Mailpit's users expect of them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Box, mail, rich};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test]
async fn an_empty_mailbox_has_an_empty_list() {
    let list = Box::new().get("/api/v1/messages").await.json();
    let want = json!({"total": 0, "unread": 0, "count": 0, "messages_count": 0,
        "messages_unread": 0, "start": 0, "tags": [], "messages": []});
    assert_eq!(list, want);
}

#[tokio::test]
async fn the_list_is_newest_first_in_pages() {
    let b = Box::new();
    for n in 0..60 {
        b.deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", &format!("m{n}"), "hi"),
        )
        .await;
    }
    let first = b.get("/api/v1/messages").await.json();
    assert_eq!(first["messages"].as_array().unwrap().len(), 50);
    assert_eq!((&first["total"], &first["count"]), (&json!(60), &json!(50)));
    assert_eq!(first["messages"][0]["Subject"], "m59");
    assert_eq!(b.subjects("/api/v1/messages?start=58").await, ["m1", "m0"]);
    assert_eq!(
        b.subjects("/api/v1/messages?start=1&limit=2").await,
        ["m58", "m57"]
    );
    assert_eq!(b.subjects("/api/v1/messages?limit=0").await.len(), 60);
    assert_eq!(
        b.subjects("/api/v1/messages?limit=-3&start=zzz")
            .await
            .len(),
        50
    );
    assert_eq!(
        b.subjects("/api/v1/messages?start=99999999999").await,
        [""; 0]
    );
    // The clock stood at noon when the first came and a second later with each of the others.
    let early = b
        .subjects("/api/v1/messages?before=2026-11-27T12:00:03Z")
        .await;
    assert_eq!(early.first().map(String::as_str), Some("m1"));
}

#[tokio::test]
async fn a_line_of_the_list_has_mailpits_fields() {
    let b = Box::new();
    let id = b.deliver(&["bob@y.example", "HID@y.example"], rich()).await;
    let list = b.get("/api/v1/messages").await.json();
    let line = &list["messages"][0];
    let want = json!({
        "ID": id, "MessageID": "rich.1@x.example", "Read": false,
        "From": {"Name": "Ferro, Ann", "Address": "ann@x.example"},
        "To": [{"Name": "Bob", "Address": "bob@y.example"}, {"Name": "", "Address": "carl@y.example"}],
        "Cc": [{"Name": "Zoë", "Address": "zoe@y.example"}],
        "Bcc": [{"Name": "", "Address": "HID@y.example"}],
        "ReplyTo": [{"Name": "", "Address": "desk@x.example"}],
        "Subject": "Grüße 🎉", "Created": "2026-11-27T12:00:01Z", "Username": "", "Tags": [],
        "Size": rich().len(), "Attachments": 3, "Snippet": "Hello plain",
    });
    assert_eq!(*line, want);
    assert_eq!(id.len(), 22);
    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric()));
}

#[tokio::test]
async fn a_message_has_mailpits_fields_and_is_read_by_asking() {
    let b = Box::new();
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(
        keys(&message),
        [
            "Attachments",
            "Bcc",
            "Cc",
            "Date",
            "From",
            "HTML",
            "ID",
            "Inline",
            "ListUnsubscribe",
            "MessageID",
            "ReplyTo",
            "ReturnPath",
            "Size",
            "Subject",
            "Tags",
            "Text",
            "To",
            "Username",
        ]
    );
    assert_eq!(message["Date"], "2026-11-27T13:00:00+02:00");
    assert_eq!(message["ReturnPath"], "bounce@sender.example");
    assert_eq!(message["Text"], "Hello plain");
    assert_eq!(message["HTML"], "<p>Hello <img src=\"cid:pic@x\"></p>");
    let unsubscribe = json!({"Header": "<https://x.example/u>", "Links": ["https://x.example/u"],
        "Errors": "", "HeaderPost": "List-Unsubscribe=One-Click"});
    assert_eq!(message["ListUnsubscribe"], unsubscribe);
    let mut message = message;
    for list in ["Inline", "Attachments"] {
        for file in message[list].as_array_mut().unwrap() {
            let sums = file.as_object_mut().unwrap().remove("Checksums").unwrap();
            assert_eq!(keys(&sums), ["MD5", "SHA1", "SHA256"]);
            if file["PartID"] == "1.2" {
                // Of the eight bytes 89 50 4e 47 0d 0a 1a 0a, by md5sum, sha1sum and sha256sum.
                let want = json!({
                    "MD5": "e9dd2797018cad79186e03e8c5aec8dc",
                    "SHA1": "4caece539b039b16e16206ea2478f8c5ffb2ca05",
                    "SHA256": "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6",
                });
                assert_eq!(sums, want);
            }
        }
    }
    let file = |part: &str, name: &str, kind: &str, cid: &str, size: usize| {
        json!({"PartID": part, "FileName": name, "ContentType": kind, "ContentID": cid,
            "Size": size})
    };
    let inline = json!([
        file("1.1.2", "", "text/x-amp-html", "", 23),
        file("1.2", "pic.png", "image/png", "pic@x", 8),
    ]);
    assert_eq!(message["Inline"], inline);
    let attachments = json!([
        file("2", "größe.csv", "text/csv", "", 9),
        file("3", "a b.pdf", "application/pdf", "", 10),
        file("4", "", "message/rfc822", "", 28),
    ]);
    assert_eq!(message["Attachments"], attachments);
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["messages"][0]["Read"], true);
    assert_eq!(list["unread"], 0);
}

#[tokio::test]
async fn latest_stands_for_the_newest_or_the_newest_that_matches() {
    let b = Box::new();
    let none = b.get("/api/v1/message/latest").await;
    assert_eq!(
        (none.status, none.text()),
        (StatusCode::NOT_FOUND, "Message not found".into())
    );
    b.deliver(
        &["a@x.example"],
        mail("f@x.example", "a@x.example", "one", "hi"),
    )
    .await;
    b.deliver(
        &["b@x.example"],
        mail("f@x.example", "b@x.example", "two", "hi"),
    )
    .await;
    let latest = b.get("/api/v1/message/latest").await.json();
    assert_eq!(latest["Subject"], "two");
    let latest = b
        .get("/api/v1/message/latest?query=to%3Aa%40x.example")
        .await
        .json();
    assert_eq!(latest["Subject"], "one");
    let raw = b.get("/api/v1/message/latest/raw").await;
    assert!(raw.text().contains("Subject: two"));
}

#[tokio::test]
async fn what_is_not_there_is_told_as_mailpit_tells_it() {
    let b = Box::new();
    let id = b.deliver(&["bob@y.example"], rich()).await;
    for path in [
        "/api/v1/message/nope",
        "/api/v1/message/nope/raw",
        "/api/v1/message/nope/headers",
        "/api/v1/message/nope/part/1",
        "/api/v1/message/nope/events",
        &format!("/api/v1/message/{id}/part/9"),
        &format!("/api/v1/message/{id}/part/1"),
        &format!("/api/v1/message/{id}/part/x"),
        "/api/v1/nothing",
        "/nothing",
        "/view/nope.html",
        &format!("/view/{id}"),
        &format!("/view/{id}.exe"),
    ] {
        let answer = b.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.text(), "404 page not found", "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
    let wrong = b.ask("POST", "/api/v1/messages", &[], "{}").await;
    assert_eq!(wrong.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn raw_and_parts_come_out_as_they_went_in() {
    let b = Box::new();
    let mut bytes = rich().into_bytes();
    bytes.extend(b"\xff\xfe epilogue");
    let id = b.deliver(&["bob@y.example"], bytes.clone()).await;
    let raw = b.get(&format!("/api/v1/message/{id}/raw")).await;
    assert_eq!(raw.body, bytes);
    assert_eq!(raw.header("content-type"), "text/plain; charset=utf-8");
    assert!(raw.headers.get("content-disposition").is_none());
    let file = b.get(&format!("/api/v1/message/{id}/raw?dl=1")).await;
    let name = format!("attachment; filename=\"{id}.eml\"; filename*=UTF-8''{id}.eml");
    assert_eq!(file.header("content-disposition"), name);

    let csv = "attachment; filename=\"gr__e.csv\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv";
    let pdf = "attachment; filename=\"a b.pdf\"; filename*=UTF-8''a%20b.pdf";
    let pic = "inline; filename=\"pic.png\"; filename*=UTF-8''pic.png";
    for (part, kind, disposition, body) in [
        (
            "2",
            "text/csv; charset=iso-8859-1",
            csv,
            &b"gr\xf6\xdfe;1\r\n"[..],
        ),
        ("3", "application/pdf", pdf, b"%PDF-1.4\0\xff"),
        ("1.2", "image/png", pic, b"\x89PNG\r\n\x1a\n"),
    ] {
        let got = b.get(&format!("/api/v1/message/{id}/part/{part}")).await;
        assert_eq!(got.body, body, "{part}");
        assert_eq!(got.header("content-type"), kind);
        assert_eq!(got.header("content-disposition"), disposition);
        assert_eq!(got.header("x-content-type-options"), "nosniff");
        assert!(got.header("content-security-policy").contains("sandbox"));
    }
    let inner = b.get(&format!("/api/v1/message/{id}/part/4")).await;
    assert_eq!(inner.text(), "Subject: inner\r\n\r\ninner body");
}

#[tokio::test]
async fn headers_are_sorted_under_their_canonical_names() {
    let b = Box::new();
    let raw = "received: b\r\nReceived: a\r\nX-lower-CASE: 1\r\nsubject: s\r\n\r\n";
    let id = b.deliver(&["a@x.example"], raw).await;
    let headers = b.get(&format!("/api/v1/message/{id}/headers")).await.json();
    let want = json!({"Received": ["b", "a"], "Subject": ["s"], "X-Lower-Case": ["1"]});
    assert_eq!(headers, want);
}
