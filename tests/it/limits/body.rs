//! How large a body may be: as received, unpacked, and as the mail it asks for.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde_json::Value;

use super::told;
use crate::service::{Service, mail};

const MIB: usize = 1 << 20;

/// Most bytes of a body as received (SPEC, "Limits").
const RECEIVED: usize = 30 * MIB - 1;

/// Most bytes of an unpacked body.
const UNPACKED: usize = 48 * MIB - 1;

/// A good body of so many bytes, the rest white space.
fn padded(length: usize) -> Vec<u8> {
    let mut body = mail("ann@example.com").to_string().into_bytes();
    body.resize(length, b' ');
    body
}

fn packed(plain: &[u8], level: Compression) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), level);
    gzip.write_all(plain).expect("memory takes it");
    gzip.finish().expect("memory takes it")
}

/// A packed body of so many bytes: stored as it is, so that its length follows from what it holds.
fn stored(length: usize) -> Vec<u8> {
    let mut plain = length - 18;
    loop {
        let body = packed(&padded(plain), Compression::none());
        match body.len() {
            found if found > length => plain -= found - length,
            found if found < length => plain += length - found,
            _ => return body,
        }
    }
}

async fn post(service: &Service, gzip: bool, body: Vec<u8>) -> (u16, String) {
    let mut ask = service.ask(Method::POST, "/v3/mail/send");
    ask = ask
        .bearer_auth(service.key())
        .header(CONTENT_TYPE, "application/json");
    if gzip {
        ask = ask.header(CONTENT_ENCODING, "gzip");
    }
    let answer = ask.body(body).send().await.expect("the API answers");
    let status = answer.status().as_u16();
    (status, answer.text().await.expect("a body"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_be_so_large_and_one_byte_more_is_told_in_our_shape() {
    let service = Service::start().await;
    let fast = Compression::fast();
    for (what, gzip, at, past) in [
        ("as received", false, padded(RECEIVED), padded(RECEIVED + 1)),
        ("packed", true, stored(RECEIVED), stored(RECEIVED + 1)),
        (
            "unpacked",
            true,
            packed(&padded(UNPACKED), fast),
            packed(&padded(UNPACKED + 1), fast),
        ),
    ] {
        let (status, text) = post(&service, gzip, at).await;
        assert_eq!((status, text.as_str()), (202, ""), "{what}");
        let (status, text) = post(&service, gzip, past).await;
        assert_eq!(status, 413, "{what}");
        let answer: Value = serde_json::from_str(&text).expect("an error body");
        assert_eq!(told(&answer), [(None, "content too large")], "{what}");
    }
    service.stop().await;
}
