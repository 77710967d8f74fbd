//! STARTTLS and TLS from the first byte.

use std::sync::Arc;

use posthaste_smtpd::{Auth, Config, ServerTls};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::client::{Client, code};
use crate::{Server, config};

pub(crate) struct Certificate {
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) pem: String,
    connector: TlsConnector,
}

pub(crate) fn certificate() -> Certificate {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let der = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(aws_lc_rs::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![der.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(der).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Certificate {
        server: Arc::new(server),
        pem: made.cert.pem(),
        connector: TlsConnector::from(Arc::new(client)),
    }
}

impl Certificate {
    async fn encrypt(&self, stream: TcpStream) -> Client {
        let name = ServerName::try_from("localhost").unwrap();
        let stream = self.connector.connect(name, stream).await.unwrap();
        Client::over(Box::new(stream))
    }

    /// Connects and says STARTTLS in the clear.
    async fn starttls(&self, server: &Server) -> Client {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(b"EHLO me\r\nSTARTTLS\r\n").await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"220 2.0.0 go ahead\r\n") {
            assert!(stream.read_buf(&mut heard).await.unwrap() > 0, "{heard:?}");
        }
        self.encrypt(stream).await
    }
}

#[tokio::test]
async fn starttls_forgets_what_was_said_before_and_opens_the_login() {
    let certificate = certificate();
    let tls = ServerTls::StartTls(certificate.server.clone());
    let server = Server::start(Config {
        auth: Auth::Required,
        tls,
        ..config()
    })
    .await;
    let (mut clear, _) = Client::connect(&server).await;
    let hello = clear.ask("EHLO me").await;
    assert!(
        hello.contains("|250-STARTTLS|") && !hello.contains("AUTH"),
        "{hello}"
    );
    assert_eq!(
        clear.ask("AUTH PLAIN AGFubgBnZWhlaW0=").await,
        "538 5.7.11 say STARTTLS first"
    );
    assert_eq!(
        clear.ask("MAIL FROM:<a@b.c>").await,
        "530 5.7.0 say STARTTLS first"
    );
    let mut client = certificate.starttls(&server).await;
    assert_eq!(
        code(&client.ask("MAIL FROM:<a@b.c>").await),
        503,
        "EHLO again"
    );
    let hello = client.ask("EHLO me").await;
    assert!(
        hello.contains("|250-AUTH PLAIN LOGIN|") && !hello.contains("STARTTLS"),
        "{hello}"
    );
    assert_eq!(code(&client.ask("STARTTLS").await), 503);
    assert_eq!(code(&client.ask("AUTH PLAIN AGFubgBnZWhlaW0=").await), 235);
    client.begin().await;
    assert_eq!(code(&client.ask("hi\r\n.").await), 250);
    let mails = server.inbox.mails.lock().unwrap();
    assert!(mails[0].0.tls && mails[0].0.identity.as_deref() == Some("ann"));
}

#[tokio::test]
async fn text_sent_ahead_of_tls_ends_the_connection() {
    let tls = ServerTls::StartTls(certificate().server);
    let server = Server::start(Config { tls, ..config() }).await;
    let mut client = Client::greeted(&server).await;
    client.send(b"STARTTLS\r\nRSET\r\n").await;
    assert_eq!(
        client.last_words().await,
        "421 4.7.0 no text between STARTTLS and TLS"
    );
}

#[tokio::test]
async fn a_port_may_be_encrypted_from_the_first_byte() {
    let certificate = certificate();
    let tls = ServerTls::Wrapped(certificate.server.clone());
    let server = Server::start(Config { tls, ..config() }).await;
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let mut client = certificate.encrypt(stream).await;
    assert_eq!(client.read().await, "220 mx.test ESMTP");
    let hello = client.ask("EHLO me").await;
    assert!(!hello.contains("STARTTLS"), "{hello}");
    client.begin().await;
    assert_eq!(code(&client.ask("hi\r\n.").await), 250);
    assert_eq!(code(&client.ask("QUIT").await), 221);
}

#[tokio::test]
async fn a_handshake_that_fails_or_never_comes_ends_the_connection() {
    let certificate = certificate();
    let mut config = config();
    config.tls = ServerTls::Wrapped(certificate.server.clone());
    config.limits.handshake = std::time::Duration::from_millis(100);
    let server = Server::start(config).await;
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let mut silent = Client::over(Box::new(stream));
    assert_eq!(silent.read().await, "");
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let mut clear = Client::over(Box::new(stream));
    clear.send(b"EHLO me\r\n").await;
    // A TLS alert, which is no text, and the end.
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut clear.stream, &mut rest).await;
    assert!(read.is_err() || !rest.starts_with(b"2"), "{rest:?}");
}
