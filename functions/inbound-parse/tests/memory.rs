//! The largest mails that SES brings, two at once, in the memory that the template gives the function. The only test of
//! its binary: it measures the process it runs in.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use inbound_parse::{App, SenderChecks, handle};
use posthaste_blob::Blob;
use posthaste_store::{ParseSetting, SettingCreation};
use posthaste_testkit::{Services, Tenant, most_memory, sqs_event};
use posthaste_webhook::Guard;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const MIB: usize = 1 << 20;

/// The largest mail that SES receives (SES developer guide, "Service quotas").
const MAIL: usize = 40 * MIB;

/// Messages of a batch (`BatchSize` of `InboundParseFunction`).
const BATCH: usize = 2;

/// `MemorySize` of the function, without what Lambda's own part of it is taken for.
const MOST: u64 = (512 - 40) << 20;

/// What a large mail consists of.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// Files in base64, 5 MB each.
    Files,
    /// One file in base64.
    File,
    /// A text of as many lines.
    Text,
    /// HTML in quoted-printable, each of its letters encoded.
    Html,
}

const BOUNDARY: &str = "--=_b\r\n";

fn write_mail(path: &Path, content: Content) {
    let mut mail = BufWriter::new(File::create(path).unwrap());
    let mut size = 0;
    let mut put = |text: &str| {
        mail.write_all(text.as_bytes()).unwrap();
        size += text.len();
        size
    };
    put(
        "From: ann@sender.example\r\nTo: box@in.shop.example\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=\"=_b\"\r\n\r\n",
    );
    let file = "Content-Type: application/octet-stream; name=a.bin\r\n\
        Content-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    let (head, line) = match content {
        Content::Files | Content::File => (
            file,
            "SGVsbG8gd29ybGQhIEhlbGxvIHdvcmxkISBIZWxsbyB3b3JsZCEgSGVsbG8gd29ybGQhIEhl\r\n",
        ),
        Content::Text => (
            "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n",
            "Good morning, and a good day to all of you who read as far as this.\r\n",
        ),
        Content::Html => (
            "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n",
            "=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=\r\n",
        ),
    };
    put(BOUNDARY);
    put(head);
    let mut next = 5 * MIB;
    loop {
        let written = put(line);
        if written > MAIL - 100 {
            break;
        }
        if matches!(content, Content::Files) && written > next {
            put(BOUNDARY);
            put(head);
            next += 5 * MIB;
        }
    }
    put("--=_b--\r\n");
    mail.flush().unwrap();
}

/// A receiver that takes each post, and keeps nothing of it but the number of posts.
async fn receiver(posts: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(take(stream, Arc::clone(&posts)));
        }
    });
    format!("http://{address}/")
}

async fn take(mut stream: TcpStream, posts: Arc<AtomicUsize>) {
    let (mut buffer, mut head, mut left) = (vec![0; 65_536], Vec::new(), None);
    while left != Some(0) {
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the post broke off");
        left = match left {
            Some(left) => Some(left - read),
            None => {
                head.extend_from_slice(&buffer[..read]);
                let end = head.windows(4).position(|four| four == b"\r\n\r\n");
                end.map(|end| {
                    let text = String::from_utf8_lossy(&head[..end]).to_lowercase();
                    let line = text
                        .lines()
                        .find_map(|line| line.strip_prefix("content-length: "));
                    line.unwrap().parse::<usize>().unwrap() - (head.len() - end - 4)
                })
            }
        };
    }
    posts.fetch_add(1, Ordering::Relaxed);
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).await.unwrap();
}

fn notice(object: &str) -> String {
    json!({
        "notificationType": "Received",
        "mail": {"source": "ann@sender.example", "messageId": object, "destination": ["box@in.shop.example"]},
        "receipt": {
            "recipients": ["box@in.shop.example"],
            "spfVerdict": {"status": "PASS"}, "dkimVerdict": {"status": "PASS"},
            "spamVerdict": {"status": "PASS"}, "virusVerdict": {"status": "PASS"},
            "dmarcVerdict": {"status": "PASS"},
            "action": {"type": "S3", "bucketName": "b", "objectKey": object},
        },
    })
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_mails_fit_into_the_functions_memory() {
    let bucket = tempfile::tempdir().unwrap();
    let services = Services::start().await.part(Guard::with_loopback());
    let services = services.part(SenderChecks(None));
    let mut app = services.open(App::from_env);
    app.blob = Blob::folder(bucket.path()).unwrap();
    let tenant = Tenant::new(&services.store, "owner", services.clock.now()).await;
    tenant.domain(&app.store, "shop.example").await;
    let posts = Arc::new(AtomicUsize::new(0));
    let url = receiver(Arc::clone(&posts)).await;
    for send_raw in [false, true] {
        let host = if send_raw { "raw" } else { "in" };
        let setting = ParseSetting {
            account: tenant.account.id.clone(),
            hostname: format!("{host}.shop.example"),
            target: url.clone(),
            url: url.clone(),
            spam_check: true,
            send_raw,
            created_at: services.clock.now(),
            security_policy: None,
        };
        let put = app.store.create_parse(&setting).await.unwrap();
        assert_eq!(put, SettingCreation::Stored);
    }
    for (content, host) in [
        (Content::Files, "in"),
        (Content::File, "in"),
        (Content::Text, "in"),
        (Content::Html, "in"),
        (Content::File, "raw"),
    ] {
        let mut notices = Vec::new();
        for number in 0..BATCH {
            let object = format!("received/{content:?}-{host}-{number}");
            let path = bucket.path().join(&object);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write_mail(&path, content);
            notices.push(notice(&object).replace("@in.", &format!("@{host}.")));
        }
        let work = async |jobs: Vec<String>| {
            let done = handle(&app, &sqs_event(jobs)).await;
            assert_eq!(done.unfinished().count(), 0, "{content:?}");
            let sent = services.queues.drain("inbound");
            sent.into_iter().map(|(body, _)| body).collect::<Vec<_>>()
        };
        let jobs = work(notices).await;
        assert_eq!(jobs.len(), BATCH);
        assert_eq!(work(jobs).await.len(), 0);
        assert_eq!(posts.swap(0, Ordering::Relaxed), BATCH);
        println!("{content:?} to {host}: at most {} MiB", most_memory() >> 20);
    }
    assert!(most_memory() < MOST, "{} MiB", most_memory() >> 20);
}
