//! Every function asks the same of the crates beneath it, so that `sam build` compiles each crate once.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The feature sets of a crate: one, or two when build scripts ask for other features than the code.
type Sets = BTreeSet<String>;

/// The crates beneath a function.
fn crates(function: &str) -> BTreeMap<String, Sets> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}|{f}"])
        .args(["--package", function])
        .output()
        .expect("cargo runs");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let mut crates = BTreeMap::<_, Sets>::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let line = line.trim_end_matches(" (*)");
        let (name, features) = line.split_once('|').expect("as the format says");
        let sets = crates.entry(name.trim().to_owned()).or_default();
        sets.insert(features.trim().to_owned());
    }
    crates
}

#[test]
fn one_build_of_each_crate_serves_every_function() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../functions");
    let mut seen = BTreeMap::<String, (String, Sets)>::new();
    for entry in std::fs::read_dir(root).expect("functions") {
        let entry = entry.expect("an entry");
        if !entry.path().is_dir() {
            continue;
        }
        let function = entry.file_name();
        let function = function.to_string_lossy();
        for (name, sets) in crates(&function) {
            let first = seen.entry(name.clone());
            let (other, others) =
                first.or_insert_with(|| (function.clone().into_owned(), sets.clone()));
            assert!(
                sets.is_subset(others) || others.is_subset(&sets),
                "{function} builds {name} with {sets:?}, {other} with {others:?}: \
                 name the union in shared/workspace-hack/Cargo.toml"
            );
        }
    }
    assert!(seen.len() > 100, "cargo tree was read");
}
