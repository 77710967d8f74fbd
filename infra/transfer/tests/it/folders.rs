//! Folders that are not those of the import, and plans beside one that was stopped.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::again::stopped_after;
use crate::fixture::{Service, from_folder, from_service};
use crate::standin::{data, files, standin};

#[tokio::test]
async fn a_plan_leaves_the_keys_of_a_stopped_import_to_be_shown() {
    let to = Service::start("ada").await;
    let address = standin(|call| match call.path.as_str() {
        "/v3/api_keys" => data(&json!({"result": [{"api_key_id": "a"}, {"api_key_id": "b"}]})),
        "/v3/api_keys/a" => data(&json!({"name": "Shop", "scopes": ["mail.send"]})),
        "/v3/api_keys/b" => data(&json!({"name": "Page", "scopes": ["mail.send"]})),
        _ => None,
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let flags = from_service(&address, "SG.a.b", &state);
    let mut steps = 1;
    while to.keys().await.is_empty() {
        assert!(
            !stopped_after(&to, &flags, steps).await,
            "it was to be stopped"
        );
        steps += 1;
    }
    let plan = to.import(&format!("{flags} --dry-run")).await.unwrap();
    assert_eq!((plan.keys.len(), plan.parts["api_keys"].created), (0, 2));
    let report = to.import(&flags).await.unwrap();
    assert_eq!(report.keys.len(), 2, "{}", report.text());
    assert_eq!(to.keys().await, ["Page", "Shop"]);
    assert_eq!(
        to.status_with(&report.keys[0].api_key, "/v3/api_keys")
            .await,
        403
    );
}

#[tokio::test]
async fn a_folder_with_other_files_is_refused_and_stays_as_it_is() {
    let (from, to) = (Service::start("ada").await, Service::start("ada").await);
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    from.export(&export).await;
    let address = standin(|_| None).await;
    let flags = from_service(&address, "SG.a.b", &export);
    let before = files(&export);
    for first in [
        None,
        Some("\u{feff}{\"import\":{}}\n"),
        Some("{\"time\":1}\n{\"time\":2}\n"),
        Some("not JSON"),
    ] {
        let journal = export.join("journal.jsonl");
        if let Some(text) = first {
            std::fs::write(&journal, text).unwrap();
        }
        let before = files(&export);
        for flags in [flags.clone(), format!("{flags} --dry-run")] {
            let refused = to.import(&flags).await.unwrap_err();
            assert_eq!(refused.exit_code(), 4, "{refused}");
            assert_eq!(files(&export), before, "{first:?}");
        }
    }
    assert_eq!(before.len() + 1, files(&export).len());
}

#[tokio::test]
async fn a_broken_line_in_the_middle_is_named_and_a_torn_last_one_is_dropped() {
    let to = Service::start("ada").await;
    let address = standin(|_| None).await;
    let folder = tempfile::tempdir().unwrap();
    let flags = from_service(&address, "SG.a.b", folder.path());
    to.import(&flags).await.unwrap();
    let journal = folder.path().join("journal.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&journal)
        .unwrap();
    file.write_all(b"{\"read\":{\"par").unwrap();
    to.import(&flags).await.unwrap();
    assert!(std::fs::read(&journal).unwrap().starts_with(&whole));
    let text = std::fs::read_to_string(&journal).unwrap();
    let broken = text.replacen("{\"read\"", "{read", 1);
    std::fs::write(&journal, &broken).unwrap();
    let refused = to.import(&flags).await.unwrap_err().to_string();
    assert!(refused.contains("journal.jsonl, line "), "{refused}");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), broken);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_named_and_the_rest_is_taken() {
    let to = Service::start("ada").await;
    let folder = tempfile::tempdir().unwrap();
    let template = |name: &str, text: &str| json!({"id": name, "name": name, "generation": "dynamic", "versions": [], "x": text});
    let lines = [
        template("large", &"x".repeat(65 << 20)),
        template("small", ""),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    std::fs::write(folder.path().join("templates.jsonl"), lines).unwrap();
    let bounces = "{\"created\":1,\"email\":\"no address\"}\n";
    std::fs::write(folder.path().join("bounces.jsonl"), bounces).unwrap();
    let report = to.import(&from_folder(folder.path())).await.unwrap();
    assert_eq!(report.parts["templates"].created, 1);
    let names: Vec<_> = report
        .not_taken
        .iter()
        .map(|one| one.what.as_str())
        .collect();
    assert_eq!(
        names,
        ["bounces: line 1 (no address)", "templates: line 1 (large)"]
    );
}

#[tokio::test]
async fn only_the_owner_reads_what_is_written() {
    let from = Service::start("ada").await;
    from.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    std::fs::create_dir(&export).unwrap();
    std::fs::set_permissions(&export, std::fs::Permissions::from_mode(0o755)).unwrap();
    from.export(&export).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&export), 0o700);
    for path in files(&export).keys() {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
}
