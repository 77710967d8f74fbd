//! A mail as it was composed, on its page and in the frames of it.

use posthaste_kept::{KeptMails, composed, term};
use posthaste_model::{Mail, MessageId};
use posthaste_store::{Claim, Claimant, Described, KeptMailSetting};
use posthaste_testkit::entropy;
use serde_json::json;

use crate::{TestApp, sandbox_of};

const MESSAGE: &[u8] = b"From: me@example.com\r\nTo: ann@example.com\r\nSubject: Hello\r\nX-Evil: <script>\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
    Hello <b>\r\n--b\r\nContent-Type: text/html\r\n\r\n<p onclick=x()>Hello<script>alert(1)</script>\r\n--b--\r\n";

impl TestApp {
    /// A copy that was kept for a day.
    async fn kept(&self) -> MessageId {
        self.kept_as(MESSAGE).await
    }

    async fn kept_as(&self, bytes: &[u8]) -> MessageId {
        let (account, message) = (&self.tenant.account.id, entropy().message_id());
        let now = self.hand.now();
        let setting = KeptMailSetting {
            enabled: true,
            days: 1,
        };
        let term = term(setting, now, 30 * 86_400, false);
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 30 * 86_400,
        };
        let described = Described {
            email: "ann@example.com",
            from: "me@example.com",
            subject: "Hello",
            accepted_at: now,
        };
        let which = (account, &message, 0);
        let claim = self.store.claim_to_keep(which, 0, who, (&described, term));
        assert_eq!(claim.await, Ok(Claim::Won));
        let mail: Mail = serde_json::from_value(json!({
            "from": {"email": "me@example.com"},
            "personalizations": [{"to": [{"email": "ann@example.com"}]}],
        }))
        .unwrap();
        let copy = mail.copies().next().unwrap();
        let record = composed(&mail, &message, copy, bytes.to_vec(), false);
        let kept = KeptMails::new(self.store.clone(), self.blob.clone());
        let (_, stored) = kept.put(which, term.unwrap(), record).await;
        stored.unwrap();
        message
    }
}

#[tokio::test]
async fn a_kept_mail_is_shown_in_frames_that_may_do_nothing() {
    let app = TestApp::new().await;
    let message = app.kept().await;
    let session = app.by_link().await;
    let page = app
        .page(&format!("/console/activity/{message}"), &session)
        .await;
    for words in [
        "<iframe class=\"mail\" sandbox ",
        "X-Evil",
        "&#60;script&#62;",
        r#"data-call="POST /v3/messages/{id}/send_again""#,
        r#"data-call="PATCH /v3/mail_settings/kept_mail""#,
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    for (query, media, start) in [
        ("", "text/html; charset=utf-8", "<p onclick"),
        ("?text", "text/plain; charset=utf-8", "Hello <b>"),
    ] {
        let path = format!("/console/mail-part/{message}{query}");
        let part = app.get(&path, &session).send().await.expect(200);
        assert_eq!(part.header("content-type"), media);
        sandbox_of(&part);
        assert!(part.body.starts_with(start.as_bytes()), "{:?}", part.body);
        // Without a session there is nothing.
        let refused = app.get(&path, "").send().await;
        assert!(!refused.status.is_success());
        assert!(!refused.body.starts_with(start.as_bytes()));
    }
    app.hand.advance(86_400);
    let session = app.by_link().await;
    let page = app
        .page(&format!("/console/activity/{message}"), &session)
        .await;
    assert!(page.contains("the mail was kept until"), "{page}");
    assert!(
        !page.contains("<iframe") && !page.contains("send_again"),
        "{page}"
    );
}

#[tokio::test]
async fn pictures_of_the_mail_itself_stand_in_its_frame() {
    let app = TestApp::new().await;
    let part = |kind: &str, id: &str, text: &str| {
        format!("--r\r\nContent-Type: {kind}\r\nContent-ID: <{id}>\r\n\r\n{text}\r\n")
    };
    let html = "<img src=\"cid:logo@x\"><img src=cid:page@x><img src=cid:odd@x><img src=cid:none>";
    let mail = [
        "From: me@example.com\r\nTo: ann@example.com\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\n",
        html,
        "\r\n",
        &part("image/png", "logo@x", "PNG"),
        &part("text/html", "page@x", "<script>"),
        &part("image/p'ng", "odd@x", "PNG"),
        "--r--\r\n",
    ];
    let message = app.kept_as(mail.concat().as_bytes()).await;
    let session = app.by_link().await;
    let path = format!("/console/mail-part/{message}");
    let part = app.get(&path, &session).send().await.expect(200);
    sandbox_of(&part);
    let shown = String::from_utf8(part.body.to_vec()).unwrap();
    let rest = "<img src=cid:page@x><img src=cid:odd@x><img src=cid:none>";
    let want = format!("<img src=\"data:image/png;base64,UE5H\">{rest}");
    assert_eq!(shown.trim_end(), want);
}

#[tokio::test]
async fn a_page_without_a_kept_mail_says_why() {
    let app = TestApp::new().await;
    let message = app.kept().await;
    let scopes = ["email_activity.read", "mail.send"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let path = format!("/console/activity/{message}");
    let page = app.page(&path, &session).await;
    assert!(
        page.contains("lacks the scope messages.content.read"),
        "{page}"
    );
    assert!(
        !page.contains("<iframe") && !page.contains("kept_mail"),
        "{page}"
    );
    let part = app.get(&format!("/console/mail-part/{message}"), &session);
    part.send().await.expect(403);
}
