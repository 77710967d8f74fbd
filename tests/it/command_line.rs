//! The binary as a person starts it.

mod deployed;
mod explain;
mod first_mail;
mod help;
mod refusals;
mod running;
mod starting;
mod terminal;

use std::path::PathBuf;
use std::process::{Command, Output};

/// A data folder in which a service has run once: an empty one is enough.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn the_operator_works_on_a_data_folder_that_no_host_uses() {
    let dir = folder();
    let data = dir.path().to_str().expect("a text");
    let made = posthaste(&["account", "create", "ann", "--data", data, "--json"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).expect("JSON");
    assert_eq!(made["api_key"].as_str().map(str::len), Some(69), "{made}");

    let suspended = posthaste(&["account", "suspend", "--data", data, "ann"]);
    let said = String::from_utf8_lossy(&suspended.stdout).into_owned();
    assert!(
        suspended.status.success() && said.contains("its webhooks are notified"),
        "{said}"
    );

    let listed = posthaste(&["account", "list", "--data", data, "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(
        (&listed[0]["username"], &listed[0]["status"]),
        (&"ann".into(), &"suspended".into())
    );
}

#[test]
fn what_the_operator_cannot_do_has_its_exit_code() {
    let dir = folder();
    let data = dir.path().to_str().expect("a text");
    let held = std::fs::File::create(dir.path().join("lock")).expect("a file");
    for (args, code, word) in [
        (
            vec!["account", "list", "--data", "/nowhere/at/all"],
            3,
            "there is no data folder",
        ),
        (
            vec!["account", "show", "bob", "--data", data],
            3,
            "there is no account bob",
        ),
        (vec!["ses", "preflight", "--data", data], 4, "--aws"),
        (vec!["account", "list", "--table", "x"], 2, "--aws"),
        (
            vec!["account", "list", "--data", "/dev/null"],
            2,
            "/dev/null is no folder",
        ),
        (
            vec!["--data", data, "account", "list"],
            2,
            "posthaste account … --data <DIR>",
        ),
        (
            vec!["account", "create", "a/b", "--data", data],
            2,
            "a user name is",
        ),
        (
            vec!["account", "create", "a", "--email", "b", "--data", data],
            2,
            "--email",
        ),
        (
            vec!["key", "create", "a", "--scopes", "x", "--data", data],
            2,
            "the scope `x`",
        ),
        (vec!["account", "frobnicate"], 2, "frobnicate"),
    ] {
        let out = posthaste(&args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    }
    held.lock().expect("a lock");
    let out = posthaste(&["account", "list", "--data", data]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("stop it first"), "{said}");
}

pub(crate) fn posthaste(args: &[&str]) -> Output {
    command().args(args).output().expect("the binary runs")
}

/// The built binary; `tests/run` builds it first.
pub(crate) fn command() -> Command {
    let folder = std::env::current_exe().expect("this test has a path");
    let folder = folder.ancestors().nth(2).expect("target/debug").to_owned();
    let binary: PathBuf = folder.join("posthaste");
    assert!(binary.exists(), "build it first: cargo build -p posthaste");
    Command::new(binary)
}

#[track_caller]
fn refused(args: &[&str], code: i32, word: &str) {
    let out = posthaste(args);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
    assert!(said.contains(word), "{args:?}: {said}");
}
