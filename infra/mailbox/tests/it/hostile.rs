//! Mails that want to do harm, or are none.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::Box;

const VIEWS: [&str; 7] = [
    "html", "text", "source", "headers", "raw", "files", "events",
];

/// Every page about a message, as text with the entities that handlebars writes.
async fn pages(b: &Box, id: &str) -> String {
    let mut all = b.get("/").await.text();
    for view in VIEWS {
        let page = b.get(&format!("/message/{id}?view={view}")).await;
        assert_eq!(page.status, StatusCode::OK, "{view}");
        all.push_str(&page.text());
    }
    all
}

#[tokio::test]
async fn nothing_of_a_mail_becomes_markup_of_the_page() {
    let evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";
    let b = Box::new();
    let raw = format!(
        "From: =?utf-8?q?=3Cscript=3Ealert(1)=3C/script=3E?= <a@b.example>\r\n\
         To: \"{0}\" <c@d.example>\r\n\
         Subject: {evil}\r\n\
         Message-ID: <{evil}@x>\r\n\
         X-Evil: {evil}\r\n\
         {evil}: header\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\n\r\n{evil}\r\n\
         --b\r\nContent-Type: text/html\r\n\r\n<h1>ok</h1>{evil}\r\n\
         --b\r\nContent-Type: {evil}/{evil}; charset=\"{0}\"\r\n\
         Content-ID: <{evil}>\r\n\
         Content-Disposition: attachment; filename=\"{0}\"\r\n\r\nx\r\n--b--\r\n",
        evil.replace('"', "\\\"")
    );
    let id = b.deliver(&[evil], raw).await;
    let all = pages(&b, &id).await;
    assert!(!all.contains("<script>alert"), "{all}");
    assert!(!all.contains("<img src=x"));
    assert!(all.contains("&#60;script&#62;alert"));
    let found = b
        .get(&format!(
            "/?q={}",
            "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
        ))
        .await;
    assert!(!found.text().contains("<script>alert"));
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(message["Subject"], evil);
}

#[tokio::test]
async fn a_file_name_cannot_add_headers_or_leave_the_folder() {
    let b = Box::new();
    for (name, shown) in [
        ("a%0D%0ASet-Cookie:%20x=1", "a\r\nSet-Cookie: x=1"),
        ("..%2F..%2Fetc%2Fpasswd", "../../etc/passwd"),
        ("%22%3B%20filename%3Dx.exe", "\"; filename=x.exe"),
        ("%00%01%7F", "\0\u{1}\u{7f}"),
    ] {
        let raw = format!(
            "Content-Type: application/pdf\r\n\
             Content-Disposition: attachment; filename*=utf-8''{name}\r\n\r\nx"
        );
        let id = b.deliver(&["a@x.example"], raw).await;
        let message = b.get(&format!("/api/v1/message/{id}")).await.json();
        assert_eq!(message["Attachments"][0]["FileName"], shown);
        let part = b.get(&format!("/api/v1/message/{id}/part/0")).await;
        assert_eq!(part.status, StatusCode::OK);
        assert!(part.headers.get("set-cookie").is_none());
        let disposition = part.header("content-disposition");
        assert!(
            disposition.starts_with("attachment; filename=\""),
            "{disposition}"
        );
        assert_eq!(disposition.matches('"').count(), 2, "{disposition}");
        assert!(!disposition.contains(['/', '\\', '\0']), "{disposition}");
        pages(&b, &id).await;
    }
}

#[tokio::test]
async fn a_part_that_a_browser_would_run_is_sent_as_bytes() {
    let b = Box::new();
    for kind in [
        "text/html",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/xml",
        "TEXT/HTML",
        "text/javascript",
        "text/javascript1.5",
        "text/ecmascript",
        "text/jscript",
        "text/livescript",
        "text/x-javascript",
        "text/css",
        "text/x-amp-html",
        "text/cache-manifest",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/xml",
        "application/atom+xml",
        "application/vnd.wap.xhtml+xml",
        "application/xslt+xml",
        "application/wasm",
        "application/x-shockwave-flash",
        "application/mathml+xml",
        "image/svg",
    ] {
        let raw = format!(
            "Content-Type: {kind}; charset=utf-7\r\nContent-Disposition: attachment; filename=a\r\n\r\n<script>1</script>"
        );
        let id = b.deliver(&["a@x.example"], raw).await;
        let part = b.get(&format!("/api/v1/message/{id}/part/0")).await;
        assert_eq!(
            part.header("content-type"),
            "application/octet-stream",
            "{kind}"
        );
        assert!(
            part.header("content-disposition")
                .starts_with("attachment;")
        );
        assert_eq!(part.header("x-content-type-options"), "nosniff");
        let policy = part.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"));
        assert!(!policy.contains("allow-"));
    }
    for (kind, sent) in [
        ("x\u{7}y/z", "application/octet-stream"),
        ("text/plain; charset=\"a b\"", "text/plain"),
        ("text", "text/plain"),
        ("image/png", "image/png"),
        ("application/json", "application/json"),
        ("application/zip", "application/zip"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            "text/calendar; charset=utf-8",
            "text/calendar; charset=utf-8",
        ),
        ("audio/mpeg", "audio/mpeg"),
        // Without a boundary it is text.
        ("multipart/x-mixed-replace", "text/plain"),
    ] {
        let raw = format!("Content-Type: {kind}\r\nContent-Disposition: attachment\r\n\r\nx");
        let id = b.deliver(&["a@x.example"], raw).await;
        let part = b.get(&format!("/api/v1/message/{id}/part/0")).await;
        assert_eq!(part.header("content-type"), sent, "{kind:?}");
    }
}

#[tokio::test]
async fn the_frame_of_a_hostile_mail_has_no_script_and_no_origin() {
    let b = Box::new();
    let raw = "Content-Type: text/html\r\n\r\n<base href=//e.vil><script src=//e.vil></script>\
        <meta http-equiv=refresh content=0;url=//e.vil><a href=x target=_top>x</a>";
    let id = b.deliver(&["a@x.example"], raw).await;
    let frame = b.get(&format!("/view/{id}.html?embed=1")).await;
    assert_eq!(
        frame.text(),
        "<a href=\"x\" target=\"_blank\" rel=\"noopener noreferrer\">x</a>"
            .replace("href=\"x\"", "href=x")
    );
    let policy = frame.header("content-security-policy");
    let sandbox = policy
        .split(';')
        .find(|d| d.trim().starts_with("sandbox"))
        .unwrap();
    assert_eq!(
        sandbox.trim(),
        "sandbox allow-popups allow-popups-to-escape-sandbox"
    );
    let page = b.get(&format!("/message/{id}")).await.text();
    assert!(page.contains("sandbox=\"allow-popups allow-popups-to-escape-sandbox\""));
}

#[tokio::test]
async fn what_is_no_mail_is_kept_and_shown_all_the_same() {
    let b = Box::new();
    let nested = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n".repeat(3000);
    let inner = "Content-Type: message/rfc822\r\n\r\n".repeat(2000);
    let raws: [&[u8]; 12] = [
        b"",
        b"\r\n",
        b"\0\0\0\0",
        b"\xff\xfe\xfd",
        b"no headers at all",
        b"Subject",
        b":\r\n:\r\n",
        b"Subject: \xc3\x28\xff\r\n\r\n\xe2\x82",
        b"Content-Type: multipart/mixed\r\n\r\n--\r\n--\r\n----",
        b"Content-Type: text/html; charset=nonsense\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!",
        nested.as_bytes(),
        inner.as_bytes(),
    ];
    for raw in raws {
        let id = b.deliver(&["a@x.example"], raw).await;
        let shown = &raw[..raw.len().min(60)];
        for path in ["", "/raw", "/headers", "/part/0", "/part/1", "/events"] {
            let answer = b.get(&format!("/api/v1/message/{id}{path}")).await;
            let is_expected = [StatusCode::OK, StatusCode::NOT_FOUND].contains(&answer.status);
            assert!(is_expected, "{path} {shown:?} {}", answer.status);
            if path == "/raw" {
                assert_eq!(answer.body, raw);
            }
        }
        pages(&b, &id).await;
    }
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["total"], raws.len());
}

#[tokio::test]
async fn a_mail_of_thirty_megabytes_is_kept_whole_and_shown_in_part() {
    let b = Box::new();
    let line = "x".repeat(998);
    let body = format!("{line}\r\n").repeat(30 * 1024 * 1024 / 1000);
    let raw = format!("Subject: big\r\n\r\n{body}");
    let id = b.deliver(&["a@x.example"], raw.clone()).await;
    let got = b.get(&format!("/api/v1/message/{id}/raw")).await;
    assert!(got.body == raw.as_bytes(), "{} bytes", got.body.len());
    for view in ["text", "raw"] {
        let page = b.get(&format!("/message/{id}?view={view}")).await;
        assert!(page.body.len() < 400_000, "{view}: {}", page.body.len());
        assert!(page.text().contains("Only the beginning is shown."));
    }
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["messages"][0]["Size"], raw.len());
}

#[tokio::test]
async fn a_thousand_attachments_are_all_there() {
    let b = Box::new();
    let mut raw = "Subject: many\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n".to_owned();
    for n in 1..=1000 {
        raw.push_str(&format!(
            "--b\r\nContent-Type: application/octet-stream\r\n\
             Content-Disposition: attachment; filename=f{n}\r\n\r\nbody {n}\r\n"
        ));
    }
    raw.push_str("--b--\r\n");
    let id = b.deliver(&["a@x.example"], raw).await;
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(message["Attachments"].as_array().unwrap().len(), 1000);
    let last = json!({"PartID": "1000", "FileName": "f1000", "ContentID": "", "Size": 9,
    "ContentType": "application/octet-stream", "Checksums": {
        "MD5": "50bde9de1c4e7aea68b14fa75f0d44d3",
        "SHA1": "7b18131971ecacc2853dee2f9f6d5fcb5079fcd3",
        "SHA256": "36397858e10b063ecb5816ea0e5b1537670eaf63b9589683b6718e64911cfbaf",
    }});
    assert_eq!(message["Attachments"][999], last);
    let part = b.get(&format!("/api/v1/message/{id}/part/1000")).await;
    assert_eq!(part.text(), "body 1000");
    assert!(pages(&b, &id).await.contains("f1000"));
}
