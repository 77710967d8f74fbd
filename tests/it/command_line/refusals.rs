//! A data folder and an environment that a host must not start on: exit code 2 and one sentence.

use std::path::Path;

use super::{command, folder, posthaste};

const PORTS: [&str; 4] = [
    "--port=0",
    "--mailbox-port=0",
    "--smtp-port=0",
    "--submission-port=0",
];

/// A data folder that a host has used.
async fn used() -> tempfile::TempDir {
    let dir = folder();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(dir.path(), mode).expect("a mode");
    let (clock, entropy) = (posthaste_runtime::clock(), posthaste_runtime::entropy());
    let settings = posthaste::HostSettings {
        data: Some(dir.path().to_owned()),
        ..posthaste::HostSettings::in_memory(clock, entropy)
    };
    let host = posthaste::Host::start(&settings).await.expect("a host");
    host.stop().await;
    dir
}

/// What the host says that does not start.
#[track_caller]
fn refused(data: &Path, what: &str) -> String {
    let mut command = command();
    command.args(PORTS).arg("--data").arg(data);
    let out = command.output().expect("the binary runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{what}: {said}");
    assert_eq!(said.lines().count(), 1, "{what}: {said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_secret_is_not_started_with() {
    let dir = used().await;
    for name in ["stack-secret", "api-key"] {
        let file = dir.path().join(name);
        let whole = std::fs::read(&file).expect("a secret");
        let mut changed = whole.clone();
        // One character, within the first half of the secret.
        changed[5] = if changed[5] == b'A' { b'B' } else { b'A' };
        let half = whole.len() / 2;
        for (what, bytes) in [
            ("halved", &whole[..half]),
            ("random", b"\x8f\x12\xff\xfe\x00\x9c".as_slice()),
            ("empty", b""),
            ("changed", &changed),
        ] {
            // Another key is a revoked one, or one of another folder: that is no damage.
            if (name, what) == ("api-key", "changed") {
                continue;
            }
            std::fs::write(&file, bytes).expect("written");
            let said = refused(dir.path(), what);
            assert!(
                said.contains(name) && said.contains("backup"),
                "{what}: {said}"
            );
        }
        std::fs::write(&file, whole).expect("written");
    }
}

#[test]
fn what_is_no_data_folder_is_told_as_it_is() {
    let dir = folder();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    std::fs::write(&file, "").expect("a file");
    std::os::unix::fs::symlink(dir.path().join("gone"), &link).expect("a link");
    for (data, word) in [(&file, "is no folder"), (&link, "is a link to")] {
        let said = refused(data, word);
        assert!(said.contains(word), "{said}");
        let out = posthaste(&["account", "list", "--data", data.to_str().expect("a text")]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_variable_that_cannot_be_read_stops_host_and_operator() {
    let dir = folder();
    let data = dir.path().join("data");
    for (name, value) in [
        ("POSTHASTE_LOG", "loud"),
        ("POSTHASTE_LOG", "info,,"),
        ("POSTHASTE_LOG", "foo=bar=baz"),
        ("POSTHASTE_LOG", "=x"),
        ("SSL_CERT_FILE", "/nosuch"),
        ("SSL_CERT_FILE", "/dev/null"),
    ] {
        for words in [&[][..], &["account", "list"]] {
            let mut command = command();
            command.args(words).env(name, value);
            if words.is_empty() {
                command.args(PORTS);
            }
            let out = command.arg("--data").arg(&data).output();
            let out = out.expect("the binary runs");
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(2), "{name}={value}: {said}");
            assert_eq!(said.lines().count(), 1, "{name}={value}: {said}");
            assert!(said.contains(name), "{name}={value}: {said}");
            assert!(!data.exists(), "{name}={value}");
        }
    }
}
