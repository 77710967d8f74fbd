//! A client we did not write: lettre.

use lettre::address::Envelope as Addressed;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{Certificate as Trusted, Tls as Wanted, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use posthaste_smtpd::{Auth, Config, ServerTls};

use crate::tls::certificate;
use crate::{Server, config};

#[tokio::test]
async fn lettre_sends_with_every_login_and_every_encryption() {
    let certificate = certificate();
    let trusted = Trusted::from_pem(certificate.pem.as_bytes()).unwrap();
    let parameters = TlsParameters::builder("localhost".to_owned())
        .add_root_certificate(trusted)
        .build()
        .unwrap();
    for (tls, wanted) in [
        (ServerTls::Off, Wanted::None),
        (
            ServerTls::StartTls(certificate.server.clone()),
            Wanted::Required(parameters.clone()),
        ),
        (
            ServerTls::Wrapped(certificate.server.clone()),
            Wanted::Wrapper(parameters),
        ),
    ] {
        let encrypted = !matches!(tls, ServerTls::Off);
        let server = Server::start(Config {
            auth: Auth::Required,
            tls,
            ..config()
        })
        .await;
        for mechanism in [Mechanism::Plain, Mechanism::Login] {
            let client = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("localhost")
                .port(server.addr.port())
                .tls(wanted.clone())
                .credentials(Credentials::new("ann".to_owned(), "geheim".to_owned()))
                .authentication(vec![mechanism])
                .build();
            let to = vec!["d@e.f".parse().unwrap(), "g@h.i".parse().unwrap()];
            let envelope = Addressed::new(Some("a@b.c".parse().unwrap()), to).unwrap();
            // It adds the last line end itself.
            let message = "Subject: caf\u{e9}\r\n\r\n.\r\n..hi";
            let sent = client
                .send_raw(&envelope, message.as_bytes())
                .await
                .unwrap();
            assert!(sent.is_positive());
        }
        let mails = server.inbox.mails.lock().unwrap();
        assert_eq!(mails.len(), 2);
        for (session, envelope, message) in mails.iter() {
            assert_eq!(session.tls, encrypted);
            assert_eq!(
                (
                    envelope.from.as_str(),
                    envelope.to.len(),
                    envelope.eight_bit
                ),
                ("a@b.c", 2, true)
            );
            assert_eq!(
                message,
                "Subject: caf\u{e9}\r\n\r\n.\r\n..hi\r\n".as_bytes()
            );
        }
    }
}
