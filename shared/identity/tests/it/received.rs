//! Received mail, checked against a name server on loopback.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use posthaste_dns::Resolver;
use posthaste_identity::{Came, SpfCheck, check_received};
use tokio::net::UdpSocket;

/// Names that a server was asked about.
type Asked = Arc<Mutex<BTreeSet<String>>>;

/// A server that knows none of the names it is asked about, until the test ends.
async fn name_server() -> (SocketAddr, Asked) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let asked = Asked::default();
    let noted = asked.clone();
    tokio::spawn(async move {
        let mut bytes = [0; 1500];
        while let Ok((size, from)) = socket.recv_from(&mut bytes).await {
            let mut message = Message::from_vec(&bytes[..size]).unwrap();
            let name = message.queries[0].name().to_ascii();
            noted.lock().unwrap().insert(name);
            message.metadata.message_type = MessageType::Response;
            message.metadata.response_code = ResponseCode::NXDomain;
            let answer = message.to_vec().unwrap();
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    (address, asked)
}

/// A mail without a body, with so many signatures that match it, each by a domain of its own that
/// wants to hear of failures.
fn signed(signatures: usize) -> String {
    let signature = |number: usize| {
        format!(
            "DKIM-Signature:v=1;a=rsa-sha256;d=d{number}.c;s=s;r=y;h=from;\
             bh=frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=;b=AAAA\r\n"
        )
    };
    let header: String = (0..signatures).map(signature).collect();
    format!("{header}From: ann@d0.c\r\n\r\n")
}

#[tokio::test]
async fn a_mail_of_many_signatures_has_few_keys_looked_up() {
    // The last one fits 256 KiB, and is larger than what is checked.
    for (signatures, looked_up) in [(1, 1), (20, 20), (21, 20), (500, 20), (1_999, 0)] {
        let (address, asked) = name_server().await;
        let resolver = Resolver::server(address).unwrap();
        let came = Came {
            ip: None,
            hello: "d0.c",
            from: "ann@d0.c",
            host: "mx.example.com",
        };
        let mail = signed(signatures);
        let checked = check_received(&resolver, came, mail.as_bytes()).await;

        let keys: BTreeSet<String> = (0..looked_up)
            .map(|number| format!("s._domainkey.d{number}.c."))
            .collect();
        assert_eq!(*asked.lock().unwrap(), keys, "{signatures} signatures");
        // A key that is not published makes a signature invalid.
        let dkim: Vec<_> = (0..looked_up)
            .map(|number| (format!("d{number}.c"), false))
            .collect();
        assert_eq!(checked.dkim, dkim, "{signatures} signatures");
        assert_eq!(checked.spf, SpfCheck::None);
    }
}
