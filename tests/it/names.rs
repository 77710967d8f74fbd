//! One name means one thing: what the sources of the workspace call their types.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::template::read::root;

/// Names that say nothing without the file around them: no type has one of them.
const MEANINGLESS: [&str; 18] = [
    "Answer", "Change", "Copy", "Desk", "Door", "Kind", "Kept", "Notice", "Outcome", "Page",
    "Place", "Slice", "Stage", "Status", "Trouble", "Verdict", "Wanted", "World",
];

/// Names that may be said of several types, of how many, and why.
const SHARED: [(&str, usize, &str); 8] = [
    ("App", 22, "each function's state; a binary has one"),
    ("AppState", 6, "the app and what its own routes need"),
    ("Client", 3, "of the SMTP server, and of tests"),
    (
        "Command",
        9,
        "the subcommands of the command line, as clap names them",
    ),
    (
        "Disposition",
        3,
        "of a queue's message, of an attachment, and of a part: the name in the RFC",
    ),
    (
        "Error",
        2,
        "of what a crate does, named by its path, as the standard library names its own",
    ),
    (
        "Mailbox",
        2,
        "an address with a name (RFC 5322), and where mail is shown on a laptop",
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

/// A declaration of a type.
struct Declaration {
    /// The folder of its package.
    package: PathBuf,
    file: PathBuf,
    is_public: bool,
}

/// Every name of a type with its declarations.
fn types() -> BTreeMap<String, Vec<Declaration>> {
    let mut found: BTreeMap<String, Vec<Declaration>> = BTreeMap::new();
    for folder in ["functions", "shared", "infra"] {
        for package in fs::read_dir(root().join(folder)).expect("a folder of packages") {
            let package = package.expect("a package").path();
            let source = package.join("src");
            let mut files = Vec::new();
            if source.is_dir() {
                sources(&source, &mut files);
            }
            for file in files {
                let text = fs::read_to_string(&file).expect("a source");
                for line in text.lines() {
                    let Some(name) = declared(line) else { continue };
                    found.entry(name.to_owned()).or_default().push(Declaration {
                        package: package.clone(),
                        file: file.clone(),
                        is_public: line.starts_with("pub "),
                    });
                }
            }
        }
    }
    found
}

/// What is wrong with a name of these declarations: a name is said of one type within a package and of one
/// public type of the workspace, and of two private ones at most.
fn fault(declarations: &[Declaration]) -> Option<&'static str> {
    let packages: BTreeSet<&PathBuf> = declarations.iter().map(|one| &one.package).collect();
    if packages.len() < declarations.len() {
        return Some("two types of one package have it");
    }
    if declarations.iter().filter(|one| one.is_public).count() > 1 {
        return Some("two packages export it");
    }
    (declarations.len() > 2).then_some("more than two types have it")
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
fn a_second_meaning_is_found_in_a_package_and_among_what_packages_export() {
    let declare = |package: &str, is_public| Declaration {
        package: package.into(),
        file: PathBuf::new(),
        is_public,
    };
    let (own, other, public) = (declare("a", false), declare("b", false), declare("b", true));
    assert_eq!(fault(&[own, other]), None);
    let third = [declare("a", false), declare("b", false), declare("c", true)];
    assert_eq!(fault(&third), Some("more than two types have it"));
    let within = [declare("a", false), declare("a", true)];
    assert_eq!(fault(&within), Some("two types of one package have it"));
    let exported = [public, declare("c", true)];
    assert_eq!(fault(&exported), Some("two packages export it"));
}

#[test]
fn one_name_means_one_thing() {
    let types = types();
    assert!(types.len() > 500, "{}", types.len());
    for (name, declarations) in &types {
        let files: Vec<_> = declarations.iter().map(|one| &one.file).collect();
        assert!(
            !MEANINGLESS.contains(&name.as_str()),
            "{name} says nothing: {files:#?}"
        );
        if !SHARED.iter().any(|(shared, ..)| shared == name) {
            let fault = fault(declarations);
            assert_eq!(fault, None, "{name}: {files:#?}");
        }
    }
    for (name, count, _) in SHARED {
        assert_eq!(types[name].len(), count, "{name}");
    }
}
