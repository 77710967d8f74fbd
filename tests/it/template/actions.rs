//! What each function asks of the table, read from the sources: a call that its policy does not
//! allow fails on a deployed stack alone, for the table in this machine allows everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::read::{self, Template};
use posthaste::functions::FUNCTIONS;

type Names = BTreeSet<String>;

/// How the SDK's calls and a transaction's steps look in `store`, and what a policy calls them.
const CALLS: [(&str, &str); 12] = [
    (".get_item()", "GetItem"),
    (".batch_get_item()", "BatchGetItem"),
    (".query()", "Query"),
    (".scan()", "Scan"),
    (".put_item()", "PutItem"),
    (".update_item()", "UpdateItem"),
    (".delete_item()", "DeleteItem"),
    (".batch_write_item()", "BatchWriteItem"),
    ("PutOp::builder()", "PutItem"),
    ("Update::builder()", "UpdateItem"),
    ("Delete::builder()", "DeleteItem"),
    ("ConditionCheck::builder()", "ConditionCheckItem"),
];

/// What the code could ask for and never does.
const NEVER: [(&str, &str, &str); 1] = [(
    "inbound-parse",
    "DeleteItem",
    "`begin_arrival` changes a row by `modify`, and never asks it to delete",
)];

/// The Rust files below a folder, each without comments and tests.
fn sources(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let file = fs::read_to_string(path).unwrap();
                let code = file.split("#[cfg(test)]").next().unwrap_or_default();
                let told = |line: &&str| !line.trim_start().starts_with("//");
                let lines: Vec<_> = code.lines().filter(told).map(str::trim).collect();
                files.push(lines.join("\n"));
            }
        }
    }
    files
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words that are called in this code, each with the word that owns it: `self` in `self.get(`,
/// `Self` in `Self::get(`, none in `get(`.
fn called(code: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (end, _) in code.match_indices(['(', ':']) {
        if !code[end..].starts_with('(') && !code[end..].starts_with("::<") {
            continue;
        }
        let (before, name) = split_word(&code[..end]);
        let before = before.trim_end();
        let owner = before.strip_suffix('.').or(before.strip_suffix("::"));
        let owner = match owner {
            None => "",
            // Whatever a call gave back.
            Some(owner) if owner.trim_end().ends_with([')', '?', '>']) => "?",
            Some(owner) => split_word(owner.trim_end()).1,
        };
        if !name.is_empty() {
            found.push((owner, name));
        }
    }
    found
}

/// A text without its last word, and that word.
fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(is_word).len())
}

/// Every method of `store` by name, with what it asks of the table by itself or through others.
/// Methods of one name count as one; a function that is none belongs to its file.
fn store() -> BTreeMap<String, Names> {
    let mut asks: BTreeMap<String, Names> = BTreeMap::new();
    let mut calls: BTreeMap<String, Names> = BTreeMap::new();
    let files = sources(&read::root().join("shared/store/src"));
    for (number, code) in files.iter().enumerate() {
        let of_file = |name: &str| format!("{number}:{name}");
        // What stands before the first function is no body.
        for part in code.split("fn ").skip(1) {
            let name: String = part.chars().take_while(|c| is_word(*c)).collect();
            let head = part.split('{').next().unwrap_or_default();
            let name = if head.contains("self") {
                name
            } else {
                of_file(&name)
            };
            // A call may be broken over lines.
            let line = part.replace('\n', "");
            let own = CALLS.iter().filter(|(call, _)| line.contains(call));
            let own = own.map(|(_, action)| (*action).to_owned());
            asks.entry(name.clone()).or_default().extend(own);
            let others = called(part)
                .into_iter()
                .filter_map(|(owner, other)| match owner {
                    "self" | "store" => Some(other.to_owned()),
                    "" => Some(of_file(other)),
                    _ => None,
                });
            calls.entry(name).or_default().extend(others);
        }
    }
    loop {
        let before: usize = asks.values().map(BTreeSet::len).sum();
        for (name, others) in &calls {
            let more = others.iter().filter_map(|other| asks.get(other));
            let more: Names = more.flatten().cloned().collect();
            asks.entry(name.clone()).or_default().extend(more);
        }
        if before == asks.values().map(BTreeSet::len).sum::<usize>() {
            return asks;
        }
    }
}

/// What the code below a folder asks of the table.
fn asked(folder: &str, store: &BTreeMap<String, Names>) -> Names {
    let files = sources(&read::root().join(folder));
    let calls = files.iter().flat_map(|code| called(code));
    let calls = calls.filter(|(owner, _)| *owner == "store");
    let asked = calls.filter_map(|(_, name)| store.get(name));
    asked.flatten().cloned().collect()
}

#[test]
fn policies_allow_what_the_code_asks_of_the_table() {
    let store = store();
    assert!(store["subusers"].contains("BatchGetItem"), "{store:?}");
    assert!(store["create_account"].contains("PutItem"), "{store:?}");
    let gate = asked("shared/http/src", &store);
    assert!(
        gate.contains("GetItem") && gate.contains("UpdateItem"),
        "{gate:?}"
    );
    let notices = asked("shared/notices/src", &store);
    assert!(notices.contains("PutItem"), "{notices:?}");
    let template = Template::read();
    let stanzas = template.functions();
    for (name, kind) in FUNCTIONS {
        let folder = format!("functions/{name}/src");
        let mut needed = asked(&folder, &store);
        let writes = |code: &String| code.contains("posthaste_notices::");
        if sources(&read::root().join(folder)).iter().any(writes) {
            needed.extend(notices.iter().cloned());
        }
        if kind.is_http() {
            needed.extend(gate.iter().cloned());
        }
        let policies = template.policies(&stanzas[name]);
        let policies: Vec<_> = policies.iter().flat_map(read::texts).collect();
        let allowed: Names = policies
            .iter()
            .filter_map(|text| text.strip_prefix("dynamodb:"))
            .map(str::to_owned)
            .collect();
        let never = |action: &str| NEVER.iter().any(|(of, a, _)| *of == name && *a == action);
        let missing = needed.difference(&allowed).filter(|action| !never(action));
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "{name} needs {missing:?}");
    }
}
