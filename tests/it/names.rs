//! One name means one thing: what the sources of the workspace call their types.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::template::read::root;

/// Names that say nothing without the file around them: no type has one of them.
const MEANINGLESS: [&str; 18] = [
    "Answer", "Change", "Copy", "Desk", "Door", "Kind", "Kept", "Notice", "Outcome", "Page",
    "Place", "Slice", "Stage", "Status", "Trouble", "Verdict", "Wanted", "World",
];

/// Names that more than two types have, how many, and why.
const SHARED: [(&str, usize, &str); 6] = [
    ("App", 19, "each function's state; a binary has one"),
    ("AppState", 5, "the app and what its own routes need"),
    ("Client", 3, "of the SMTP server, and of tests"),
    (
        "Command",
        8,
        "the subcommands of the command line, as clap names them",
    ),
    (
        "Disposition",
        3,
        "of a queue's message, of an attachment, and of a part: the name in the RFC",
    ),
    ("State", 6, "behind the lock of the type beside it"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The name of the type that the line declares, at the margin of its file.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let (keyword, rest) = line.split_once(' ')?;
    let declares = ["struct", "enum", "type", "trait", "union"].contains(&keyword);
    let end = rest
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(rest.len());
    declares.then(|| rest.split_at(end).0)
}

/// Every name of a type with the files that declare it.
fn types() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["functions", "shared", "infra"] {
        for package in fs::read_dir(root().join(folder)).expect("a folder of packages") {
            let source = package.expect("a package").path().join("src");
            let mut files = Vec::new();
            if source.is_dir() {
                sources(&source, &mut files);
            }
            for file in files {
                let text = fs::read_to_string(&file).expect("a source");
                for name in text.lines().filter_map(declared) {
                    let files = found.entry(name.to_owned()).or_default();
                    files.push(file.display().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn a_declaration_is_recognised() {
    for (line, name) in [
        ("pub struct Mail {", Some("Mail")),
        ("pub(crate) enum Send<'a> {", Some("Send")),
        ("pub(in crate::a) type Io = u8;", Some("Io")),
        ("struct Unit;", Some("Unit")),
        ("impl Mail {", None),
        ("    type Item = u8;", None),
        ("// struct Mail", None),
    ] {
        assert_eq!(declared(line), name, "{line}");
    }
}

#[test]
fn one_name_means_one_thing() {
    let types = types();
    assert!(types.len() > 500, "{}", types.len());
    for (name, files) in &types {
        assert!(
            !MEANINGLESS.contains(&name.as_str()),
            "{name} says nothing: {files:?}"
        );
        let allowed = SHARED.iter().find(|(shared, ..)| shared == name);
        let most = allowed.map_or(2, |(_, most, _)| *most);
        assert!(
            files.len() <= most,
            "{name} has {} meanings: {files:?}",
            files.len()
        );
    }
    for (name, most, _) in SHARED {
        assert_eq!(types[name].len(), most, "{name}: the list can be shorter");
    }
}
