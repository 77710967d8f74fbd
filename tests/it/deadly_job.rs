//! A job that ends the process: the host is started again until it stays up. Everything else
//! arrives, and the job is a dead letter that the operator replays.
//!
//! `tests/drills/deadly_job.py` is the same under load. The fault is in debug builds alone
//! (`infra/local/src/poll.rs`).

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::command_line::{command, posthaste};
use crate::service::mail;

const DEADLY: &str = "the-job-that-kills";

/// So many starts at most: one for each death, and the one that stays up.
const STARTS: usize = 6;

/// A running host; killed when it goes.
struct Running {
    child: Child,
    api: String,
    mailbox: String,
    key: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have died already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the host; nothing if it died before it said where it listens.
fn start(data: &Path, log: &Path, deadly: bool) -> Option<Running> {
    let ports = ["port", "mailbox-port", "smtp-port", "submission-port"];
    let mut host = command();
    host.args(ports.map(|port| format!("--{port}=0")))
        .arg("--data")
        .arg(data)
        .stdout(Stdio::piped())
        .stderr(File::create(log).expect("a log"));
    if deadly {
        host.env("POSTHASTE_DRILL_ABORT_ON", DEADLY);
    }
    let mut child = host.spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("its output"));
    let mut said = String::new();
    while !said.ends_with("Ctrl-C stops.\n") {
        if lines.read_line(&mut said).expect("text") == 0 {
            child.wait().expect("it ended");
            return None;
        }
    }
    let after = |label: &str| {
        let line = said
            .lines()
            .find_map(|line| line.trim().strip_prefix(label));
        line.expect(label).trim().to_owned()
    };
    Some(Running {
        api: after("API  "),
        mailbox: after("Mailbox"),
        key: after("API key"),
        child,
    })
}

impl Running {
    /// Sends a mail of this subject; whether it was accepted.
    async fn send(&self, subject: &str) -> bool {
        let mut body = mail("somebody@example.com");
        body["subject"] = subject.into();
        let client = reqwest::Client::new();
        let call = client.post(format!("{}/v3/mail/send", self.api));
        let answer = call.bearer_auth(&self.key).json(&body).send().await;
        answer.is_ok_and(|answer| answer.status() == 202)
    }

    /// How many mails were recorded; nothing once the host has died.
    async fn recorded(&self) -> Option<u64> {
        let url = format!("{}/api/v1/messages?limit=1", self.mailbox);
        let answer = reqwest::get(url).await.ok()?;
        answer.json::<Value>().await.ok()?["total"].as_u64()
    }

    /// Waits until so many mails were recorded, or the host died: whether it lives.
    async fn reaches(&self, count: u64) -> bool {
        loop {
            match self.recorded().await {
                None => return false,
                Some(recorded) if recorded >= count => return true,
                Some(_) => tokio::task::yield_now().await,
            }
        }
    }
}

fn operator(data: &Path, words: &[&str]) -> Value {
    let data = data.to_str().expect("text");
    let out = posthaste(&[words, &["--data", data, "--json"]].concat());
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ends_the_process_ends_with_the_dead_letters() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let (mut accepted, mut sent_deadly) = (0, false);
    let mut starts = 0;
    let host = loop {
        starts += 1;
        assert!(starts <= STARTS, "it does not stay up");
        let Some(host) = start(&data, &log, true) else {
            continue;
        };
        // Before, beside and after the one; what a dying host did not accept may arrive all the same.
        for number in 0..20 {
            if !sent_deadly && number == 10 {
                // Whatever it answered: once it lies on the queue, the host dies of it.
                sent_deadly = true;
                host.send(DEADLY).await;
            }
            if accepted < 40 && host.send(&format!("mail {number}")).await {
                accepted += 1;
            }
        }
        if host.reaches(accepted).await && starts > 1 {
            break host;
        }
    };
    assert!(sent_deadly && accepted >= 20, "{accepted}");
    let mut said = String::new();
    let mut log_file = File::open(&log).expect("the log");
    log_file.read_to_string(&mut said).expect("text");
    let telling = said
        .lines()
        .filter(|line| line.contains("is a dead letter now"));
    assert_eq!(telling.count(), 1, "{said}");
    let recorded = host.recorded().await.expect("it stays up");
    drop(host);

    let dead = operator(&data, &["dead-letters", "jobs"]);
    assert_eq!(dead.as_array().map(Vec::len), Some(1), "{dead}");
    assert_eq!(
        (&dead[0]["queue"], &dead[0]["deaths"]),
        (&"send".into(), &4.into())
    );
    let replayed = operator(&data, &["dead-letters", "replay-jobs", "--all"]);
    assert_eq!(replayed["jobs"], 1);
    assert_eq!(
        operator(&data, &["dead-letters", "jobs"]),
        Value::Array(Vec::new())
    );

    let host = start(&data, &log, false).expect("it starts");
    assert!(
        host.reaches(recorded + 1).await,
        "the replayed mail arrives"
    );
}
