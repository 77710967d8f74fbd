//! What of an export may differ after an account has moved.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// The files of an export, with ids and times of this service masked: what else differs is a difference.
pub(crate) fn masked(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let lines = text.lines().map(|line| {
            let mut item: Value = serde_json::from_str(line).unwrap();
            mask(&name, &mut item);
            item.to_string()
        });
        let own = path.strip_prefix(root).unwrap().to_str().unwrap();
        files.insert(own.to_owned(), lines.collect::<Vec<_>>().join("\n"));
    }
}

fn mask(file: &str, item: &mut Value) {
    // The ids of these are kept, and their times.
    let is_kept = [
        "groups",
        "group_members",
        "bounces",
        "blocks",
        "invalid_emails",
        "spam_reports",
        "unsubscribes",
    ]
    .contains(&file);
    if is_kept {
        return;
    }
    match item {
        Value::Array(items) => items.iter_mut().for_each(|item| mask(file, item)),
        Value::Object(members) => {
            for (name, value) in members {
                let is_id = (name == "id" && file != "templates")
                    || ["user_id", "api_key_id", "public_key", "dns"].contains(&name.as_str());
                let is_time = ["created_at", "updated_at", "created_date", "updated_date"]
                    .contains(&name.as_str());
                let is_owner = name == "username" && file == "domains";
                if is_owner || ((is_id || is_time) && !value.is_null()) {
                    *value = "…".into();
                } else {
                    mask(file, value);
                }
            }
        }
        _ => {}
    }
}
