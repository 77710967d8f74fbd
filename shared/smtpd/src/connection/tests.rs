//! Whole conversations with arbitrary bytes, in memory.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::{Auth, Login, SmtpEnvelope};

/// Accepts everything and counts the mails.
#[derive(Default)]
struct Counter(Mutex<Vec<Vec<u8>>>);

impl Handler for Counter {
    type Identity = ();

    async fn authenticate(&self, _: &Session<()>, _: Login) -> Result<(), SmtpReply> {
        Ok(())
    }

    async fn rcpt(&self, _: &Session<()>, _: &SmtpEnvelope, _: &str) -> Result<(), SmtpReply> {
        Ok(())
    }

    async fn data(&self, _: &Session<()>, _: SmtpEnvelope, message: Vec<u8>) -> SmtpReply {
        self.0.lock().unwrap().push(message);
        SmtpReply::new(250, "2.0.0", "ok")
    }
}

/// Sends everything, hangs up, and returns the answers and the accepted mails.
fn talk(pieces: &[Vec<u8>]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(64);
        let config = Config {
            max_size: 200,
            auth: Auth::Optional,
            ..Config::new("mx.test")
        };
        let shared = Arc::new(ServerState {
            budget: MemoryBudget::new(1024),
            config,
            handler: Arc::new(Counter::default()),
        });
        let session = Session {
            id: 1,
            peer: ([127, 0, 0, 1], 1).into(),
            tls: false,
            hello: String::new(),
            esmtp: false,
            identity: None,
        };
        let (_stop, stopped) = watch::channel(false);
        let server = Connection::new(Box::new(theirs), session, Arc::clone(&shared), stopped);
        let (mut read, mut write) = tokio::io::split(ours);
        let speak = async {
            for piece in pieces {
                // The connection ended in the middle of a reply: the complete replies count.
                if write.write_all(piece).await.is_err() {
                    break;
                }
            }
            let _ = write.shutdown().await;
        };
        let listen = async {
            let mut heard = Vec::new();
            let _ = read.read_to_end(&mut heard).await;
            heard
        };
        let ((), (), heard) = tokio::join!(server.run(), speak, listen);
        let taken = shared.handler.0.lock().unwrap().clone();
        (heard, taken)
    })
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    const LINES: [&str; 16] = [
        "EHLO me\r\n",
        "HELO me\r\n",
        "MAIL FROM:<a@b.c>\r\n",
        "MAIL FROM:<> SIZE=100\r\n",
        "RCPT TO:<d@e.f>\r\n",
        "DATA\r\n",
        "\r\n.\r\n",
        ".\r\n",
        "\n.\n",
        "..text\r\n",
        "RSET\r\n",
        "NOOP\r\n",
        "AUTH PLAIN AGEAYg==\r\n",
        "AUTH LOGIN\r\n",
        "STARTTLS\r\n",
        "QUIT\r\n",
    ];
    prop_oneof![
        4 => proptest::sample::select(&LINES[..]).prop_map(|line| line.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..300),
    ]
}

proptest! {
    #[test]
    fn whatever_is_said_is_answered_in_proper_lines(pieces in proptest::collection::vec(word(), 0..30)) {
        let (heard, taken) = talk(&pieces);
        let heard = String::from_utf8(heard).unwrap();
        prop_assert!(heard.starts_with("220 mx.test ESMTP\r\n") && heard.ends_with("\r\n"));
        for line in heard.trim_end().split("\r\n") {
            let (code, rest) = line.split_at(3);
            prop_assert!(code.parse::<u16>().is_ok_and(|code| (200..600).contains(&code)), "{line}");
            prop_assert!(rest.starts_with([' ', '-']) && !rest.contains(char::is_control), "{line}");
        }
        let said = pieces.concat();
        let ends = said.windows(5).filter(|end| end == b"\r\n.\r\n").count();
        prop_assert!(taken.len() <= ends, "{} mails of {ends} ends", taken.len());
        prop_assert!(taken.iter().all(|message| message.len() <= 200));
    }
}

#[test]
fn the_words_of_the_test_above_do_make_a_mail() {
    let words = [
        "EHLO me\r\n",
        "MAIL FROM:<a@b.c>\r\n",
        "RCPT TO:<d@e.f>\r\n",
        "DATA\r\n",
        "..text\r\n",
        ".\r\n",
    ];
    let pieces: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    assert_eq!(talk(&pieces).1, [b".text\r\n"]);
}
