//! The body and the headers of an event post (API facts 3.1).

use std::ops::Range;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use posthaste_model::Timestamp;

use crate::WebhookKeyPair;

/// The largest body, in bytes: 768 KB.
pub const LARGEST: usize = 768 * 1024;

/// One body, and the events that are in it, as a range of those given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostBody {
    pub body: Bytes,
    pub events: Range<usize>,
}

/// Groups events, each already JSON, into as few bodies as the limit allows, in their order.
///
/// The layout is `[{…},\r\n{…}]\r\n`: receivers verify signatures over these very bytes. An event
/// that is larger than the limit by itself gets a body of its own.
pub fn pack<S: AsRef<str>>(events: &[S]) -> Vec<PostBody> {
    const AROUND: usize = "[]\r\n".len();
    const BETWEEN: usize = ",\r\n".len();
    let mut packed = Vec::new();
    let mut first = 0;
    let mut size = 0;
    for (i, event) in events.iter().enumerate() {
        let grown = size + BETWEEN + event.as_ref().len();
        if i > first && grown > LARGEST {
            packed.push(body(events, first..i, size));
            first = i;
            size = AROUND + event.as_ref().len();
        } else {
            size = if i > first {
                grown
            } else {
                AROUND + event.as_ref().len()
            };
        }
    }
    if first < events.len() {
        packed.push(body(events, first..events.len(), size));
    }
    packed
}

fn body<S: AsRef<str>>(events: &[S], range: Range<usize>, size: usize) -> PostBody {
    let mut text = String::with_capacity(size);
    let mut before = "[";
    for event in events.get(range.clone()).unwrap_or_default() {
        text.push_str(before);
        text.push_str(event.as_ref());
        before = ",\r\n";
    }
    text.push_str("]\r\n");
    PostBody {
        body: text.into(),
        events: range,
    }
}

/// The headers of an event post; with a key pair also the signature of `body` at `now`.
pub fn headers(signer: Option<&WebhookKeyPair>, now: Timestamp, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(USER_AGENT, HeaderValue::from_static("SendGrid Event API"));
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/json;charset=utf-8"),
    );
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    if let Some(pair) = signer {
        pair.put_signature(&mut headers, now, body);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SIGNATURE, TIMESTAMP};

    fn bodies(events: &[String]) -> Vec<(String, Range<usize>)> {
        let packed = pack(events).into_iter();
        packed
            .map(|p| (String::from_utf8(p.body.to_vec()).unwrap(), p.events))
            .collect()
    }

    #[test]
    fn every_event_is_followed_by_cr_lf_inside_one_array() {
        let texts = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        assert_eq!(bodies(&[]), []);
        assert_eq!(
            bodies(&texts(&[r#"{"a":1}"#])),
            [("[{\"a\":1}]\r\n".to_owned(), 0..1)]
        );
        assert_eq!(
            bodies(&texts(&[r#"{"a":1}"#, r#"{"b":2}"#, "{}"])),
            [("[{\"a\":1},\r\n{\"b\":2},\r\n{}]\r\n".to_owned(), 0..3)]
        );
    }

    #[test]
    fn a_body_is_as_large_as_the_limit_and_no_larger() {
        let around = 4;
        let alone = |len: usize| format!("{{{}}}", "x".repeat(len - 2));
        for (lens, want) in [
            (vec![LARGEST - around], vec![1]),
            (vec![LARGEST - around + 1], vec![1]),
            (vec![LARGEST - around - 3 - 2, 2], vec![2]),
            (vec![LARGEST - around - 3 - 2, 3], vec![1, 1]),
            (vec![LARGEST, LARGEST, 2], vec![1, 1, 1]),
            (vec![2, LARGEST, 2, 2], vec![1, 1, 2]),
        ] {
            let events: Vec<_> = lens.iter().map(|len| alone(*len)).collect();
            let packed = pack(&events);
            let counts: Vec<_> = packed.iter().map(|p| p.events.len()).collect();
            assert_eq!(counts, want, "{lens:?}");
            let all: Vec<_> = packed.iter().flat_map(|p| p.events.clone()).collect();
            assert_eq!(all, Vec::from_iter(0..lens.len()), "{lens:?}");
            for p in packed.iter().filter(|p| p.events.len() > 1) {
                assert!(p.body.len() <= LARGEST, "{lens:?}");
            }
        }
    }

    #[test]
    fn a_post_says_who_it_is_and_signs_when_asked() {
        let plain = headers(None, Timestamp(7), b"[]\r\n");
        assert_eq!(plain.get(USER_AGENT).unwrap(), "SendGrid Event API");
        assert_eq!(plain.get(ACCEPT_ENCODING).unwrap(), "gzip");
        assert_eq!(
            plain.get(CONTENT_TYPE).unwrap(),
            "application/json;charset=utf-8"
        );
        assert_eq!(plain.get(SIGNATURE), None);

        let pair = WebhookKeyPair::from_bytes(&[1; 32]).unwrap();
        let signed = headers(Some(&pair), Timestamp(1_600_112_492), b"[]\r\n");
        assert_eq!(signed.get(TIMESTAMP).unwrap(), "1600112492");
        assert_eq!(
            signed.get(SIGNATURE).unwrap(),
            &pair.sign("1600112492", b"[]\r\n")
        );
    }
}
