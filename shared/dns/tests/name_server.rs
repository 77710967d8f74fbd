//! The resolver against a name server on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::net::SocketAddr;

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{CNAME, MX, TXT};
use hickory_resolver::proto::rr::{Name, RData, Record};
use posthaste_dns::Resolver;
use posthaste_model::RecordKind;
use tokio::net::UdpSocket;

/// Answers a few names, by UDP, until the test ends.
async fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut bytes = [0; 1500];
        while let Ok((size, from)) = socket.recv_from(&mut bytes).await {
            let answer = answer(&bytes[..size]);
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    address
}

fn answer(question: &[u8]) -> Vec<u8> {
    let mut message = Message::from_vec(question).unwrap();
    message.metadata.message_type = MessageType::Response;
    let name = message.queries[0].name().clone();
    let host = |text: &str| Name::from_ascii(text).unwrap();
    let data = match name.to_ascii().as_str() {
        "alias.example.com." => vec![RData::CNAME(CNAME(host("Target.Example.net.")))],
        "mail.example.com." => vec![
            RData::MX(MX::new(10, host("mx1.example.net."))),
            RData::MX(MX::new(20, host("mx2.example.net."))),
        ],
        "text.example.com." => {
            let pieces = vec!["v=DKIM1; k=rsa; ".to_owned(), "p=AAAA".to_owned()];
            vec![
                RData::TXT(TXT::new(pieces)),
                RData::TXT(TXT::new(vec!["other".to_owned()])),
            ]
        }
        "broken.example.com." => {
            message.metadata.response_code = ResponseCode::ServFail;
            Vec::new()
        }
        "empty.example.com." => Vec::new(),
        _ => {
            message.metadata.response_code = ResponseCode::NXDomain;
            Vec::new()
        }
    };
    for data in data {
        message.add_answer(Record::from_rdata(name.clone(), 60, data));
    }
    message.to_vec().unwrap()
}

#[tokio::test]
async fn records_are_read_from_a_name_server() {
    let resolver = Resolver::server(name_server().await).unwrap();
    for (kind, host, want) in [
        (
            RecordKind::Cname,
            "alias.example.com",
            &["Target.Example.net."][..],
        ),
        (
            RecordKind::Mx,
            "mail.example.com.",
            &["mx1.example.net.", "mx2.example.net."],
        ),
        (
            RecordKind::Txt,
            "text.example.com",
            &["v=DKIM1; k=rsa; p=AAAA", "other"],
        ),
        (RecordKind::Txt, "empty.example.com", &[]),
        (RecordKind::Txt, "nobody.example.com", &[]),
    ] {
        let mut found = resolver.lookup(kind, host).await.unwrap();
        found.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        assert_eq!(found, want, "{kind} {host}");
    }
}

#[tokio::test]
async fn a_server_that_fails_is_no_answer() {
    let resolver = Resolver::server(name_server().await).unwrap();
    let error = resolver
        .lookup(RecordKind::Txt, "broken.example.com")
        .await
        .unwrap_err();
    assert_eq!(error.kind, RecordKind::Txt);
}
