//! The binary as a person starts it.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The built binary; `tests/run` builds it first.
fn posthaste(args: &[&str]) -> Output {
    let folder = std::env::current_exe().expect("this test has a path");
    let folder = folder.ancestors().nth(2).expect("target/debug").to_owned();
    let binary: PathBuf = folder.join("posthaste");
    assert!(binary.exists(), "build it first: cargo build -p posthaste");
    Command::new(binary)
        .args(args)
        .output()
        .expect("the binary runs")
}

#[track_caller]
fn refused(args: &[&str], word: &str) {
    let out = posthaste(args);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success(), "{args:?} must fail");
    assert!(said.contains(word), "{args:?}: {said}");
}

#[test]
fn what_keeps_the_host_from_starting_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let free = ["--port", "0", "--mailbox-port", "0", "--smtp-port", "0"];
    let with = |more: &[&str]| {
        [&free[2..], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let run = |args: Vec<String>, word: &str| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&args, word);
    };
    run(with(&["--memory", "--port", &port]), "cannot listen on");
    run(
        with(&["--port", "0", "--data", "/dev/null/x"]),
        "the data folder",
    );
    run(
        with(&["--memory", "--port", "0", "--relay", "http://x"]),
        "smtp://",
    );
    run(
        with(&[
            "--memory",
            "--port",
            "0",
            "--tls-cert",
            "none.pem",
            "--tls-key",
            "none.key",
        ]),
        "none.pem",
    );
}

#[test]
fn the_help_names_every_flag() {
    let out = posthaste(&["--help"]);
    let help = String::from_utf8_lossy(&out.stdout).into_owned();
    for flag in [
        "--host",
        "--port",
        "--mailbox-port",
        "--smtp-port",
        "--data",
        "--memory",
        "--relay",
        "--tls-cert",
        "--tls-key",
    ] {
        assert!(help.contains(flag), "{flag}");
    }
}
