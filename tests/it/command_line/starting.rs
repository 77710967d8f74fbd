//! What the host says at its start, and what keeps it from starting.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use super::{command, folder, posthaste, refused};

#[test]
fn what_keeps_the_host_from_starting_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let free = [
        "--port",
        "0",
        "--mailbox-port",
        "0",
        "--smtp-port",
        "0",
        "--submission-port",
        "0",
    ];
    let with = |more: &[&str]| {
        [&free[2..], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let run = |args: Vec<String>, code: i32, word: &str| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&args, code, word);
    };
    run(with(&["--memory", "--port", &port]), 1, "cannot listen on");
    run(
        with(&["--port", "0", "--data", "/dev/null/x"]),
        2,
        "the data folder",
    );
    run(
        with(&["--memory", "--port", "0", "--relay", "http://x"]),
        2,
        "smtp://",
    );
    let dir = folder();
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "").expect("a file");
    let empty = empty.to_str().expect("a text");
    for cert in ["none.pem", empty] {
        let tls = ["--tls-cert", cert, "--tls-key", "none.key"];
        run(
            with(&[&["--memory", "--port", "0"], &tls[..]].concat()),
            2,
            cert,
        );
    }
}

/// Sets the mode of a folder.
fn set_mode(folder: &tempfile::TempDir, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(folder.path(), mode).expect("a mode");
}

#[test]
fn a_folder_that_is_open_to_others_is_told_of_in_one_line() {
    for (mode, lines) in [(0o700, 0), (0o755, 1), (0o770, 1)] {
        let dir = folder();
        set_mode(&dir, mode);
        let data = dir.path().to_str().expect("a text");
        let out = posthaste(&["account", "list", "--data", data]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(said.lines().count(), lines, "{said}");
        assert_eq!(said.matches("chmod 700").count(), lines, "{said}");
    }
}

#[test]
fn a_data_folder_that_lost_something_is_not_started_on() {
    type Harm = fn(&std::path::Path);
    let remove: Harm = |file| std::fs::remove_file(file).expect("removed");
    let empty: Harm = |file| std::fs::write(file, "").expect("emptied");
    // With SQLite's log beside it, which may hold every page.
    let flip: Harm = |file| {
        for file in [file.to_owned(), file.with_extension("db-wal")] {
            let Ok(mut bytes) = std::fs::read(&file) else {
                continue;
            };
            bytes.iter_mut().for_each(|byte| *byte ^= 0xA5);
            std::fs::write(file, bytes).expect("written");
        }
    };
    for (file, harm, word) in [
        ("table.db", remove, "is missing or empty"),
        ("table.db", empty, "is missing or empty"),
        ("table.db", flip, "is damaged"),
        ("queue.db", remove, "is missing or empty"),
        ("queue.db", empty, "is missing or empty"),
        ("queue.db", flip, "is damaged"),
    ] {
        let dir = folder();
        set_mode(&dir, 0o700);
        let data = dir.path().to_str().expect("a text");
        let made = posthaste(&["account", "create", "ann", "--data", data]);
        assert!(made.status.success(), "{made:?}");
        harm(&dir.path().join(file));
        let ports = [
            "--port=0",
            "--mailbox-port=0",
            "--smtp-port=0",
            "--submission-port=0",
        ];
        let out = posthaste(&[&ports[..], &["--data", data]].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{file}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(file) && said.contains(word), "{said}");
    }
}

/// What the host says at its start; it is stopped then.
fn greeting(more: &[&str]) -> String {
    let ports = [
        "--port",
        "--mailbox-port",
        "--smtp-port",
        "--submission-port",
    ];
    let mut host = command()
        .arg("--memory")
        .args(ports.into_iter().flat_map(|port| [port, "0"]))
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = String::new();
    let mut lines = BufReader::new(host.stdout.take().expect("its output"));
    while !said.ends_with("Ctrl-C stops.\n") {
        let read = lines.read_line(&mut said).expect("text");
        assert!(read > 0, "it ended: {said}");
    }
    host.kill().expect("it runs");
    host.wait().expect("it ends");
    said
}

#[test]
fn the_host_says_at_its_start_who_may_send() {
    for (more, senders, domains) in [
        (
            &[][..],
            "Senders   any sender (use --strict-senders to try as on AWS)",
            "Domains   authenticated as soon as they are created",
        ),
        (
            &["--strict-senders"],
            "Senders   only verified senders and authenticated domains",
            "Domains   authenticated by their records in the DNS",
        ),
    ] {
        let said = greeting(more);
        assert!(said.contains(senders) && said.contains(domains), "{said}");
    }
}

/// It would take mail that it cannot build, or links that lead nowhere, so it does not start.
#[test]
fn a_name_that_mail_cannot_carry_is_refused_before_anything_starts() {
    for (flag, value, why) in [
        (
            "--hostname",
            "m\u{e4}il.example",
            "write xn--mil-qla.example instead",
        ),
        ("--hostname", "a b", "labels of 1 to 63"),
        ("--hostname", "x..y", "labels of 1 to 63"),
        ("--hostname", "-", "labels of 1 to 63"),
        ("--hostname", "mail.example.", "does not end with a dot"),
        ("--hostname", "127.0.0.1", "begins with a letter"),
        ("--hostname", "", "cannot be empty"),
        ("--bounce-domain", "bounce example", "labels of 1 to 63"),
        ("--public-url", "post.example", "begins with http"),
        ("--public-url", "https://post.example/?a=b", "no query"),
        (
            "--public-url",
            "https://u:p@x.example",
            "no user and no password",
        ),
        (
            "--relay",
            "smtp://h?tls=required&tls=none",
            "more than once",
        ),
        (
            "--relay",
            "smtp://h?tls=none&x=1",
            "must end after the port",
        ),
        ("--relay", "smtp://u:p%zz@h", "percent-encoded"),
        ("--relay", "smtp://u:p/w@h:25", "/ as %2F"),
        ("--relay", "smtp://u:p#w@h", "# as %23"),
        ("--relay", "smtp://-", "invalid host"),
        ("--spam-filter", "spamd://m\u{e4}il", "ASCII host name"),
        (
            "--outgoing-spam-filter",
            "spamd://h?timeout=1&timeout=2",
            "each once",
        ),
        ("--connections-per-address", "0", "at least 1"),
        ("--rate-limit", "0", "0 is not in 1.."),
    ] {
        let folder = folder();
        let data = folder.path().join("data");
        let flag_and_value = format!("{flag}={value}");
        let mut command = command();
        command.arg(&flag_and_value).arg("--data").arg(&data);
        let out = command.output().expect("the binary runs");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{flag_and_value}: {said}");
        assert!(
            said.contains(flag) && said.contains(why),
            "{flag_and_value}: {said}"
        );
        assert!(!data.exists(), "{flag_and_value}");
    }
}

#[test]
fn the_variables_of_a_stack_are_checked_like_flags() {
    for (name, value, why) in [
        ("MAIL_HOSTNAME", "a b", "labels of 1 to 63"),
        ("RATE_LIMIT", "0", "at least 1"),
        ("BOUNCE_DOMAIN", "x..y", "labels of 1 to 63"),
        ("PUBLIC_URL", "post.example", "begins with http"),
        // As the template sets it without the parameter.
        ("PUBLIC_URL", "", "is not set"),
        ("MAX_WEBHOOKS", "0", "at least 1"),
        ("SPF", "include:a\nv=spf1", "SPF mechanism"),
        ("SEND_QUEUE_URL", "notaurl", "URL of a queue"),
        ("RETRIES_QUEUE_URL", "ftp://queue", "URL of a queue"),
        ("TABLE_NAME", "a b", "3 to 255"),
        ("BUCKET_NAME", "a/b", "3 to 255"),
        ("POSTHASTE_LOG", "loud", "it is a level"),
        ("SSL_CERT_FILE", "/nosuch", "cannot be read"),
    ] {
        let mut command = command();
        command.arg("--aws").env("AWS_REGION", "us-east-1");
        for known in [
            "TABLE_NAME",
            "SEND_QUEUE_URL",
            "RETRIES_QUEUE_URL",
            "EVENTS_QUEUE_URL",
            "INBOUND_QUEUE_URL",
            "BUCKET_NAME",
        ] {
            let url = format!("https://sqs.us-east-1.amazonaws.com/1/{known}");
            let value = if known.ends_with("_URL") {
                url.as_str()
            } else {
                "posthaste"
            };
            command.env(known, value);
        }
        command.env("STACK_SECRET", format!("1:{}", "A".repeat(43)));
        let out = command
            .env("BOUNCE_DOMAIN", "bounce.example")
            .env("PUBLIC_URL", "https://post.example")
            .env(name, value);
        let out = out.output().expect("the binary runs");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(name) && said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_host_that_others_reach_says_where_the_links_of_its_mail_lead() {
    let warning = "name this host's own address with --public-url";
    for (more, warns) in [
        (&["--host", "0.0.0.0"][..], true),
        (
            &["--host", "0.0.0.0", "--public-url", "https://post.example"],
            false,
        ),
        (&[], false),
        // Nothing is sent, so nobody connects to the relay.
        (&["--relay", "smtp://relay.example:25"], true),
        (
            &[
                "--relay",
                "smtp://relay.example:25",
                "--public-url",
                "https://post.example",
            ],
            false,
        ),
        (&["--relay", "smtp://127.0.0.1:1025"], false),
        (&["--relay", "smtp://localhost:1025"], false),
    ] {
        let said = greeting(more);
        assert_eq!(said.contains(warning), warns, "{said}");
    }
}
