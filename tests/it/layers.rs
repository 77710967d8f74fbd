//! The arrows between the rooms, held against `cargo metadata`.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// The level of a package; an arrow must lead to a lower number.
fn level(name: &str) -> Option<u8> {
    Some(match name {
        "posthaste-embedded" | "posthaste-metrics" | "posthaste-model" | "posthaste-offload"
        | "workspace-hack" => 0,
        "posthaste-cache" | "posthaste-dns" => 1,
        "posthaste-mime" | "posthaste-render" | "posthaste-store" | "posthaste-blob"
        | "posthaste-queue" | "posthaste-mailer" | "posthaste-webhook" | "posthaste-smtpapi"
        | "posthaste-listen" | "posthaste-identity" | "posthaste-secrets" | "posthaste-spam" => 2,
        "posthaste-http" | "posthaste-kept" | "posthaste-smtpd" => 3,
        "posthaste-runtime" => 4,
        "posthaste-erasure" | "posthaste-notices" | "posthaste-outage" | "posthaste-replay" => 5,
        "posthaste-mailbox" => 6,
        // The console shows what other functions answer.
        "console" | "posthaste-operator" | "posthaste-submission" | "posthaste-transfer" => 7,
        "posthaste" => 8,
        "posthaste-testkit" => 9,
        "posthaste-hello" | "posthaste-hostile" | "posthaste-tests" => 10,
        name if name.starts_with("posthaste-") => return None,
        // A function: its package has the name of its folder.
        _ => 6,
    })
}

/// Packages of the workspace with the names they depend on at run time.
fn packages() -> BTreeMap<String, Vec<String>> {
    let out = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&out.stdout).expect("cargo metadata is JSON");
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            let wanted = package["dependencies"].as_array().expect("dependencies");
            let real = wanted.iter().filter(|d| d["kind"].is_null());
            (
                text(package, "name"),
                real.map(|d| text(d, "name")).collect(),
            )
        })
        .collect()
}

#[test]
fn every_room_depends_only_on_the_rooms_below_it() {
    let packages = packages();
    for (name, wanted) in &packages {
        let own = level(name).unwrap_or_else(|| panic!("{name} has no place in the table"));
        for other in wanted.iter().filter(|other| packages.contains_key(*other)) {
            let lower = level(other).unwrap_or_else(|| panic!("{other} has no place in the table"));
            assert!(lower < own, "{name} must not depend on {other}");
        }
    }
}

#[test]
fn each_outside_thing_has_one_room_that_knows_it() {
    let owners: [(&str, &[&str]); 11] = [
        (
            "aws-sdk-dynamodb",
            &["posthaste-store", "posthaste-testkit"],
        ),
        ("aws-sdk-sqs", &["posthaste-queue"]),
        ("aws-sdk-eventbridge", &["posthaste-queue"]),
        ("aws-sdk-secretsmanager", &["posthaste-secrets"]),
        ("aws-sdk-sesv2", &["posthaste-mailer", "sender-identity"]),
        ("lambda_http", &["posthaste-hello", "posthaste-runtime"]),
        ("lambda_runtime", &["posthaste-runtime"]),
        ("lettre", &["posthaste-mailer"]),
        // The API reference is made in tests: no function carries its schemas' code.
        ("schemars", &["posthaste-testkit"]),
        (
            "dynoxide-rs",
            &["posthaste", "posthaste-embedded", "posthaste-testkit"],
        ),
        // For its tables of charsets: mails are read by posthaste-mime alone, for this reader's
        // stack and time have no bounds.
        ("mail-parser", &["posthaste-mime"]),
    ];
    let packages = packages();
    for (part, allowed) in owners {
        for (name, wanted) in &packages {
            let uses = wanted.iter().any(|other| other == part);
            assert!(
                !uses || allowed.contains(&name.as_str()),
                "{name} must not know {part}"
            );
        }
    }
}
