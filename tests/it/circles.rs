//! The modules of a crate use each other in one direction. Read from the sources: every `crate::` and
//! `super::` path, where a name that the crate's root exports again counts as the module it is from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::template::read::root;

/// Modules by name, with those that each uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_modules_of_a_crate_use_each_other_in_one_direction() {
    let mut found = Vec::new();
    for folder in crates() {
        let name = folder
            .strip_prefix(root())
            .expect("a crate of the workspace");
        let name = name.to_string_lossy().into_owned();
        for circle in circles(&uses(&folder.join("src"))) {
            found.push((name.clone(), circle));
        }
    }
    assert!(
        found.is_empty(),
        "modules that reach each other: move what both need below them: {found:#?}"
    );
}

#[test]
fn a_circle_is_found_through_names_of_the_root_and_through_super() {
    let text = |code: &str| code.to_owned();
    let files = BTreeMap::from([
        (
            text(""),
            text("mod a;\nmod b;\nmod c;\npub use a::{deep::One, Two as Three};"),
        ),
        (text("a"), text("use crate::{b::X, c};\nmod deep;")),
        (text("a/deep"), text("use super::Y; fn f() {}")),
        (text("b"), text("// use crate::a::Y;\nuse super::c::Z;")),
        (text("c"), text("fn f(x: crate::Three) { $crate::b::x(); }")),
    ]);
    let found = circles(&uses_of(&files));
    let all = ["a", "b", "c"].map(str::to_owned);
    assert_eq!(found, [BTreeSet::from(all)]);
}

/// The folders of the crates whose modules are looked at.
fn crates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for part in ["shared", "functions", "infra"] {
        let folders = fs::read_dir(root().join(part)).expect("a folder of crates");
        let folders = folders.map(|entry| entry.expect("an entry").path());
        found.extend(folders.filter(|path| path.join("Cargo.toml").is_file()));
    }
    found.sort();
    found
}

fn uses(src: &Path) -> Uses {
    let mut files = BTreeMap::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.with_extension("");
                let name = name.strip_prefix(src).expect("a file below `src`");
                let name = name.to_string_lossy().replace('\\', "/");
                let code = fs::read_to_string(&path).expect("a source file");
                let root = matches!(name.as_str(), "lib" | "main");
                let place = if root { String::new() } else { name };
                files
                    .entry(place)
                    .and_modify(|all: &mut String| all.push_str(&code))
                    .or_insert(code);
            }
        }
    }
    uses_of(&files)
}

/// The same of files by their module (`a/deep`; empty for the root).
fn uses_of(files: &BTreeMap<String, String>) -> Uses {
    let files: BTreeMap<&str, String> = files
        .iter()
        .filter(|(name, _)| !name.split('/').any(|part| part == "tests"))
        .map(|(name, code)| (name.as_str(), plain(code)))
        .collect();
    let top = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let mut uses: Uses = files
        .keys()
        .filter(|name| !name.is_empty())
        .map(|name| (top(name), BTreeSet::new()))
        .collect();
    let exports = files.get("").map(|code| exports(code, &uses));
    let exports = exports.unwrap_or_default();
    for (name, code) in files.iter().filter(|(name, _)| !name.is_empty()) {
        let depth = name.split('/').count();
        let supers = "super::".repeat(depth);
        let mut named = first_names(code, "crate::");
        named.extend(first_names(code, &supers));
        let own = top(name);
        let used = named.into_iter().filter_map(|named| {
            let module = if uses.contains_key(&named) {
                Some(&named)
            } else {
                exports.get(&named)
            };
            module.filter(|module| **module != own).cloned()
        });
        let used: Vec<_> = used.collect();
        uses.entry(own).or_default().extend(used);
    }
    uses
}

/// Code without comments and tests.
fn plain(code: &str) -> String {
    let mut parts = code.split("#[cfg(test)]\nmod ");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Tests in the file itself are its end; those in another file are one line.
        match part.split_once('\n') {
            Some((line, rest)) if line.ends_with(';') => code.push_str(rest),
            _ => break,
        }
    }
    let lines = code.lines().map(|line| line.split("//").next());
    let lines: Vec<_> = lines.flatten().collect();
    lines.join("\n")
}

/// The modules that names of the root are from.
fn exports(root: &str, modules: &Uses) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in root.split("use ").skip(1) {
        let tree = part.split(';').next().unwrap_or_default();
        let tree = tree.trim_start_matches("self::");
        let tree = tree.trim_start_matches("crate::");
        let Some((module, rest)) = tree.split_once("::") else {
            continue;
        };
        if !modules.contains_key(module) {
            continue;
        }
        for leaf in rest.split(['{', '}', ',']) {
            let name = leaf.rsplit(" as ").next().unwrap_or_default();
            let name = name.rsplit("::").next().unwrap_or_default().trim();
            if !name.is_empty() {
                found.insert(name.to_owned(), module.to_owned());
            }
        }
    }
    found
}

/// What stands first behind a prefix of paths: `a` and `B` of `crate::{a::X, B}`.
fn first_names(code: &str, prefix: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |text: &str| {
        text.trim_start()
            .chars()
            .take_while(|c| is_word(*c))
            .collect()
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == '$' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let Some(tree) = rest.strip_prefix('{') else {
            found.push(word(rest));
            continue;
        };
        let (mut depth, mut start) = (0_u32, 0);
        for (at, c) in tree.char_indices() {
            match c {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    found.push(word(&tree[start..at]));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    found
}

/// Groups of modules of which each reaches every other.
fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = uses
        .keys()
        .map(|module| (module, reach(uses, module)))
        .collect();
    let mut found = BTreeSet::new();
    for (module, others) in reached
        .iter()
        .filter(|(module, others)| others.contains(*module))
    {
        let back = others.iter().filter(|other| {
            let theirs = reached.get(*other);
            theirs.is_some_and(|theirs| theirs.contains(*module))
        });
        found.insert(back.map(|other| (*other).clone()).collect::<BTreeSet<_>>());
    }
    found.into_iter().collect()
}

/// The modules that one reaches, itself only by a circle.
fn reach<'a>(uses: &'a Uses, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = uses.get(module).into_iter().flatten();
        open.extend(next.filter(|other| seen.insert(*other)));
    }
    seen
}
