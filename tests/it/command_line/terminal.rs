//! An output that takes nothing: a full disk, or a reader that has gone.

use std::fs::OpenOptions;
use std::process::{Output, Stdio};

use super::{command, folder};

/// Runs the binary with this standard output.
fn with_output(args: &[&str], out: Stdio) -> Output {
    let mut command = command();
    command.args(args).stdout(out).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary runs");
    child.wait_with_output().expect("it ends")
}

/// What a person may run, each of which writes an answer.
fn lines(data: &str) -> [Vec<&str>; 4] {
    [
        vec!["--help"],
        vec!["--version"],
        vec!["account", "list", "--data", data],
        vec![
            "--memory",
            "--port=0",
            "--mailbox-port=0",
            "--smtp-port=0",
            "--submission-port=0",
        ],
    ]
}

#[test]
fn a_full_disk_under_the_output_ends_it_without_a_panic() {
    let dir = folder();
    for args in lines(dir.path().to_str().expect("a text")) {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let out = with_output(&args, full.expect("a device").into());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        let told = said
            .lines()
            .filter(|line| line.contains("cannot be written"));
        assert_eq!(told.count(), 1, "{args:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_gone_ends_it_in_silence() {
    let dir = folder();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(dir.path(), mode).expect("a mode");
    for args in lines(dir.path().to_str().expect("a text")) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let out = with_output(&args, writer.into());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        // As a shell tells of a program that SIGPIPE ended.
        assert_eq!(out.status.code(), Some(141), "{args:?}: {said}");
        assert_eq!(said, "", "{args:?}");
    }
}

#[test]
fn an_error_that_cannot_be_written_keeps_its_exit_code() {
    let full = OpenOptions::new().write(true).open("/dev/full");
    let mut command = command();
    command.args(["account", "list", "--data", "/nowhere/at/all"]);
    command.stderr(full.expect("a device"));
    let status = command.status().expect("the binary runs");
    assert_eq!(status.code(), Some(3));
}
