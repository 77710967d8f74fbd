//! How many mails a second one core hands to a relay on loopback, and what each costs.
//!
//! `cargo run --profile bench -p posthaste-mailer --example throughput [mails]`. The relay is a
//! second process that throws everything away, so the CPU time is the client's alone.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on ends, and its table is its purpose"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_mailer::{Attempt, Envelope, Mailer, Smtp, SmtpConfig, Tags};
use posthaste_model::{AccountId, EmailAddress, EnforcedTls, MessageId};
use posthaste_smtpd::{Config, Extensions, Handler, Session, SmtpLimits, SmtpReply, serve};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Octets of an ordinary mail and of a newsletter.
const SIZES: [usize; 2] = [2_000, 100_000];

fn main() {
    let argument = std::env::args().nth(1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match argument.as_deref() {
        Some("sink") => runtime.block_on(sink(true)),
        Some("sink-without-pipelining") => runtime.block_on(sink(false)),
        mails => runtime.block_on(measure(mails.map_or(20_000, |text| text.parse().unwrap()))),
    }
}

async fn measure(mails: usize) {
    println!("| relay | connections | octets | mails/s | client CPU per mail | mails/s per core |");
    println!("|---|---|---|---|---|---|");
    for kind in ["sink", "sink-without-pipelining"] {
        let relay = Sink::start(kind);
        for connections in [1, 10] {
            for size in SIZES {
                let count = mails.min(mails * 20_000 / (size * 2));
                run(&relay, kind, (connections, size, count)).await;
            }
        }
    }
}

async fn run(relay: &Sink, kind: &str, (connections, size, count): (usize, usize, usize)) {
    let mut config = SmtpConfig::new(relay.url.parse().unwrap());
    config.max_connections = connections;
    config.mails_per_connection = u32::MAX;
    let mailer = Mailer::Smtp(Smtp::new(config));
    let message: Arc<[u8]> = message(size).into();
    // Connections are opened before the clock starts.
    send(&mailer, &message, connections, connections * 10).await;
    let (start, cpu) = (Instant::now(), cpu_time());
    send(&mailer, &message, connections, count).await;
    let (wall, cpu) = (
        start.elapsed().as_secs_f64(),
        (cpu_time() - cpu).as_secs_f64(),
    );
    let count = f64::from(u32::try_from(count).unwrap());
    println!(
        "| {kind} | {connections} | {size} | {:.0} | {:.1} µs | {:.0} |",
        count / wall,
        cpu / count * 1e6,
        count / cpu
    );
}

/// Hands over `count` mails, `senders` at a time.
async fn send(mailer: &Mailer, message: &Arc<[u8]>, senders: usize, count: usize) {
    let mut tasks = JoinSet::new();
    for _ in 0..senders {
        let (mailer, message) = (mailer.clone(), Arc::clone(message));
        tasks.spawn(async move {
            let envelope = envelope();
            for _ in 0..count / senders {
                let attempt = mailer.hand_over(&envelope, &message).await;
                assert!(matches!(attempt, Attempt::Accepted { .. }), "{attempt:?}");
            }
        });
    }
    tasks.join_all().await;
}

fn envelope() -> Envelope {
    Envelope {
        from: "b-abcdefghijklmnopqrstuvwxyz-0-abcdefghij-00000000@bounce.test".to_owned(),
        to: EmailAddress::parse("ann@example.com").unwrap(),
        foreign_sender: false,
        pool: None,
        enforced_tls: EnforcedTls::default(),
        tags: Tags {
            account: AccountId::from_bytes([1; 10]),
            message: MessageId::from_bytes([2; 16]),
            recipient: 0,
        },
    }
}

fn message(size: usize) -> Vec<u8> {
    let mut message = b"From: a@example.com\r\nTo: ann@example.com\r\nSubject: hi\r\n\r\n".to_vec();
    while message.len() < size {
        message
            .extend_from_slice(b"A line of the length that base64 and quoted-printable have.\r\n");
    }
    message
}

/// User and system time of this process, in the kernel's ticks of 10 ms.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|n| n.parse::<u64>().unwrap())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// The relay's process, ended with ours.
struct Sink {
    child: Child,
    url: String,
}

impl Sink {
    fn start(kind: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(kind)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // It may have ended already, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn sink(pipelining: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("smtp://{}?tls=none", listener.local_addr().unwrap());
    let config = Config {
        offers: Extensions {
            pipelining,
            ..Extensions::default()
        },
        limits: SmtpLimits {
            idle_commands: u32::MAX,
            ..SmtpLimits::default()
        },
        ..Config::new("sink.test")
    };
    serve(listener, config, Arc::new(Hole), std::future::pending()).await;
}

/// Accepts everything and keeps nothing.
struct Hole;

impl Handler for Hole {
    type Identity = ();

    async fn rcpt(
        &self,
        _: &Session<()>,
        _: &posthaste_smtpd::SmtpEnvelope,
        _: &str,
    ) -> Result<(), SmtpReply> {
        Ok(())
    }

    async fn data(
        &self,
        _: &Session<()>,
        _: posthaste_smtpd::SmtpEnvelope,
        _: Vec<u8>,
    ) -> SmtpReply {
        SmtpReply::new(250, "2.0.0", "ok")
    }
}
