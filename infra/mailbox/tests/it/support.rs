//! A mailbox in memory and short ways to call it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use posthaste_mailbox::{Mailbox, Sources, StoredEnvelope};
use posthaste_model::{Clock, Millis};
use serde_json::Value;
use tower::ServiceExt as _;

/// 2026-11-27T12:00:00Z.
pub(crate) const NOON: i64 = 1_795_780_800_000;

/// A clock that starts at noon and goes on by a second with every look.
pub(crate) fn clock() -> Clock {
    let now = Arc::new(AtomicI64::new(NOON));
    Clock::new(move || Millis(now.fetch_add(1000, Ordering::Relaxed)))
}

pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The page, with its character references in names, which are easier to read.
    pub(crate) fn html(&self) -> String {
        let named = [
            ("&#38;", "&amp;"),
            ("&#60;", "&lt;"),
            ("&#62;", "&gt;"),
            ("&#34;", "&quot;"),
        ];
        let text = self.text();
        named
            .iter()
            .fold(text, |text, (number, name)| text.replace(number, name))
    }

    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value
            .unwrap_or_else(|| panic!("no {name}"))
            .to_str()
            .unwrap()
    }
}

#[derive(Clone)]
pub(crate) struct Box {
    pub mailbox: Mailbox,
    pub router: Router,
}

impl Box {
    pub(crate) fn new() -> Self {
        Self::with(Sources::default(), 1000)
    }

    pub(crate) fn with(sources: Sources, limit: usize) -> Self {
        let mailbox = Mailbox::open(None, limit, clock()).unwrap();
        let router = mailbox.clone().router(sources);
        Self { mailbox, router }
    }

    /// Delivers to the recipients of the envelope and returns the id.
    pub(crate) async fn deliver(&self, to: &[&str], raw: impl Into<Vec<u8>>) -> String {
        let envelope = StoredEnvelope {
            from: "bounce@sender.example".to_owned(),
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            peer: "127.0.0.1:40000".to_owned(),
        };
        let raw: Vec<u8> = raw.into();
        self.mailbox.deliver(envelope, raw.into()).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    /// The subjects of a list, newest first.
    pub(crate) async fn subjects(&self, path: &str) -> Vec<String> {
        let list = self.get(path).await.json();
        let messages = list["messages"].as_array().unwrap();
        let subject = |m: &Value| m["Subject"].as_str().unwrap().to_owned();
        messages.iter().map(subject).collect()
    }
}

/// A text mail with these header values.
pub(crate) fn mail(from: &str, to: &str, subject: &str, body: &str) -> String {
    format!(
        "From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\n\
         Message-ID: <{subject}@sender.example>\r\n\r\n{body}\r\n"
    )
}

/// Text, HTML with a picture, a CSV in Latin-1, a PDF and an attached mail.
pub(crate) fn rich() -> String {
    "From: \"Ferro, Ann\" <ann@x.example>\r\n\
     To: Bob <bob@y.example>, carl@y.example\r\n\
     Cc: =?utf-8?q?Zo=C3=AB?= <zoe@y.example>\r\n\
     Reply-To: desk@x.example\r\n\
     Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_=F0=9F=8E=89?=\r\n\
     Date: Fri, 27 Nov 2026 13:00:00 +0200\r\n\
     Message-ID: <rich.1@x.example>\r\n\
     List-Unsubscribe: <https://x.example/u>\r\n\
     List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\
     MIME-Version: 1.0\r\n\
     Content-Type: multipart/mixed; boundary=m\r\n\
     \r\n\
     --m\r\n\
     Content-Type: multipart/related; boundary=r\r\n\
     \r\n\
     --r\r\n\
     Content-Type: multipart/alternative; boundary=a\r\n\
     \r\n\
     --a\r\n\
     Content-Type: text/plain; charset=utf-8\r\n\
     \r\n\
     Hello plain\r\n\
     --a\r\n\
     Content-Type: text/x-amp-html\r\n\
     \r\n\
     <html amp4email></html>\r\n\
     --a\r\n\
     Content-Type: text/html; charset=utf-8\r\n\
     \r\n\
     <p>Hello <img src=\"cid:pic@x\"></p>\r\n\
     --a--\r\n\
     --r\r\n\
     Content-Type: image/png; name=pic.png\r\n\
     Content-ID: <pic@x>\r\n\
     Content-Disposition: inline; filename=pic.png\r\n\
     Content-Transfer-Encoding: base64\r\n\
     \r\n\
     iVBORw0KGgo=\r\n\
     --r--\r\n\
     --m\r\n\
     Content-Type: text/csv; charset=iso-8859-1\r\n\
     Content-Disposition: attachment; filename*=utf-8''gr%C3%B6%C3%9Fe.csv\r\n\
     Content-Transfer-Encoding: quoted-printable\r\n\
     \r\n\
     gr=F6=DFe;1=0D=0A\r\n\
     --m\r\n\
     Content-Type: application/pdf\r\n\
     Content-Disposition: attachment; filename=\"a b.pdf\"\r\n\
     Content-Transfer-Encoding: base64\r\n\
     \r\n\
     JVBERi0xLjQA/w==\r\n\
     --m\r\n\
     Content-Type: message/rfc822\r\n\
     \r\n\
     Subject: inner\r\n\
     \r\n\
     inner body\r\n\
     --m--\r\n"
        .to_owned()
}
