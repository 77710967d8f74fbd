//! A 30 MB mail takes less than four times its size, whatever it is made of.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use posthaste_mime::inbound::{Facts, Mode, Spf, form};

/// The largest mail there is (API facts, trap 36).
const LARGE: usize = 30 << 20;

/// For mails whose reading is slow in a debug build: what grows, grows with the size.
const SMALL: usize = 5 << 20;

/// What a process needs whatever the mail.
const SLACK: usize = 2 << 20;

struct Case {
    name: &'static str,
    size: usize,
    head: String,
    /// Repeated until the mail has its size.
    piece: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let case = |name, size, head: &str, piece: &[u8]| Case {
        name,
        size,
        head: head.to_owned(),
        piece: piece.to_owned(),
    };
    let text = |name, size, encoding: &str, piece: &[u8]| {
        let head = format!(
            "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: {encoding}\n\n"
        );
        case(name, size, &head, piece)
    };
    let multi = "Content-Type: multipart/mixed; boundary=b\n\n";
    let coded = b"--b\nContent-Transfer-Encoding: quoted-printable\n\n";
    let long = [coded, b"=41BCD".repeat(50_000).as_slice(), b"\n"].concat();
    vec![
        text(
            "plain text",
            LARGE,
            "8bit",
            b"\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2\r\n",
        ),
        text(
            "quoted-printable",
            LARGE,
            "quoted-printable",
            b"a b =\r\nc\r\n",
        ),
        text("base64", LARGE, "base64", b"QUJDREVGR0hJSktM\r\n"),
        text("form boundaries", SMALL, "7bit", b"--xYzZY00000001\n"),
        case("long texts", SMALL, multi, &long),
        case("short texts", SMALL, multi, b"--b\n\n0123456789abcdef\n"),
        case("files", SMALL, multi, b"--b\nContent-Type: a/b\n\nx\n"),
        case("fields", SMALL, "", b"X-A: b\n"),
        case("recipients", SMALL, "", b"To: a@b\n"),
        case("words", SMALL, "Subject: ", b"=?utf-8?Q?=C3=A4?="),
        case("a name", SMALL, "Content-Type: a/b; name=", b"abcdefgh"),
        case("nesting", SMALL, "", b"Content-Type: message/rfc822\n\n"),
    ]
}

/// Each case in a process of its own, because an allocator keeps what was freed.
#[test]
fn a_large_mail_takes_less_than_four_times_its_size() {
    for (n, case) in cases().iter().enumerate() {
        for mode in ["parsed", "raw"] {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "one_case", "--ignored", "--nocapture"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut orders = child.stdin.take().unwrap();
            write!(orders, "{n} {mode}").unwrap();
            drop(orders);
            let out = child.wait_with_output().unwrap();
            let out = String::from_utf8(out.stdout).unwrap();
            let peak = out.lines().find_map(|line| line.strip_prefix("peak "));
            let peak: usize = peak.expect("the child measures").parse().unwrap();
            println!(
                "{}, {mode}: {:.2}×",
                case.name,
                peak as f64 / case.size as f64
            );
            assert!(
                peak < 4 * case.size + SLACK,
                "{}, {mode}: {peak} bytes",
                case.name
            );
        }
    }
}

#[test]
#[ignore = "run by the test above, which tells it what to do"]
fn one_case() {
    let mut orders = String::new();
    std::io::stdin().read_to_string(&mut orders).unwrap();
    let (n, mode) = orders.split_once(' ').expect("a case and a mode");
    let case = cases().swap_remove(n.parse().unwrap());
    let mode = if mode == "raw" {
        Mode::Raw
    } else {
        Mode::Parsed
    };
    println!("\npeak {}", peak(&case, mode));
}

/// The highest use of memory over what the process began with, from mail to encoded form.
fn peak(case: &Case, mode: Mode) -> usize {
    let before = status("VmHWM");
    let mut raw = Vec::with_capacity(case.size);
    raw.extend_from_slice(case.head.as_bytes());
    while raw.len() + case.piece.len() <= case.size {
        raw.extend_from_slice(&case.piece);
    }
    let facts = Facts {
        envelope_from: "",
        envelope_to: "inbox@parse.example",
        sender_ip: None,
        received: None,
        spf: Spf::None,
        dkim: &[],
        spam: None,
    };
    let (content_type, body) = form(&raw, &facts, mode).encode();
    assert!(content_type.starts_with("multipart/form-data") && !body.is_empty());
    status("VmHWM").saturating_sub(before)
}

/// A line of `/proc/self/status`, in bytes.
fn status(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let number: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    number * 1024
}
