//! The modules of a crate use each other in one direction, in each of its folders. Read from the
//! sources: every `crate::`, `super::` and `self::` path, where a name that a module exports again counts
//! as the module it is from. A module and those below it may use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::template::read::root;

/// Modules by path (`a/deep`), with those that each uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Names that a module imports or exports again, with the paths they are from.
type Imports = BTreeMap<String, BTreeMap<String, Vec<String>>>;

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
    let found = circles_of(&[
        (
            "",
            "mod a;\nmod b;\nmod c;\npub use a::{deep::One, Two as Three};",
        ),
        ("a", "use crate::{b::X, c};\nmod deep;"),
        ("a/deep", "use super::Y; fn f() {}"),
        ("b", "// use crate::a::Y;\nuse super::c::Z;"),
        ("c", "fn f(x: crate::Three) { $crate::b::x(); }"),
    ]);
    assert_eq!(found, [set(&["a", "b", "c"])]);
}

#[test]
fn a_circle_is_found_between_files_of_a_folder() {
    let found = circles_of(&[
        ("", "mod a;\nmod z;"),
        (
            "a",
            "mod b;\nmod c;\nmod d;\nmod e;\npub(crate) use self::{c::One, d::Two};",
        ),
        ("a/b", "use super::One;"),
        ("a/c", "use super::c::Own;\nfn f() { crate::a::b::f(); }"),
        ("a/d", "use crate::a::{b, e::{self, E}};"),
        ("a/e", "use super::super::z;"),
        ("a/e/deep", "use super::super::Two;"),
        ("z", ""),
    ]);
    assert_eq!(found, [set(&["a/b", "a/c"]), set(&["a/d", "a/e"])]);
}

fn circles_of(files: &[(&str, &str)]) -> Vec<BTreeSet<String>> {
    let text = |text: &str| text.to_owned();
    let files = files.iter().map(|(name, code)| (text(name), text(code)));
    circles(&uses_of(&files.collect()))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
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

/// The same of files by their module (`a/deep`; empty for the root). What a module uses of another counts
/// for the two folders or files that lie beside each other above them.
fn uses_of(files: &BTreeMap<String, String>) -> Uses {
    let files: BTreeMap<&str, String> = files
        .iter()
        .filter(|(name, _)| !name.split('/').any(|part| part == "tests"))
        .map(|(name, code)| (name.as_str(), plain(code)))
        .collect();
    let imports: Imports = files
        .iter()
        .map(|(name, code)| ((*name).to_owned(), imports(name, code, &files)))
        .collect();
    let mut uses = Uses::new();
    for (name, code) in files.iter().filter(|(name, _)| !name.is_empty()) {
        let paths = paths(code).into_iter();
        let paths = paths.filter_map(|path| absolute(name, &path));
        let modules = paths.map(|path| module_of(&path, &imports));
        for (own, used) in modules.filter_map(|module| beside(name, &module)) {
            uses.entry(own).or_default().insert(used);
        }
    }
    uses
}

/// The two that lie in one folder, of which one is or holds the first module and one the second; `None` for
/// a module and one below it.
fn beside(one: &str, other: &str) -> Option<(String, String)> {
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split('/').collect(), other.split('/').collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let end = same + 1;
    let both = (one.get(..end)?, other.get(..end)?);
    (!other.contains(&"")).then(|| (both.0.join("/"), both.1.join("/")))
}

/// A path from the crate's root: `crate`, `super` and `self` of a module resolved.
fn absolute(module: &str, path: &[String]) -> Option<Vec<String>> {
    let mut base: Vec<String> = module.split('/').map(str::to_owned).collect();
    base.retain(|part| !part.is_empty());
    let mut rest = path;
    while let Some((first, tail)) = rest.split_first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()?),
            "self" => {}
            _ => break,
        }
        rest = tail;
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The module that a path from the root leads to, through the names that modules export again.
fn module_of(path: &[String], imports: &Imports) -> String {
    let mut path = path.to_vec();
    // A re-export of a re-export of …: none is that long.
    for _ in 0..8 {
        let mut module = String::new();
        let mut names = path.iter();
        let mut next = names.next();
        while let Some(name) = next {
            let below = format!("{module}/{name}");
            let below = below.trim_start_matches('/').to_owned();
            if !imports.contains_key(&below) {
                break;
            }
            module = below;
            next = names.next();
        }
        let from = next.and_then(|name| imports.get(&module)?.get(name));
        let Some(from) = from else { return module };
        path = from.iter().chain(names).cloned().collect();
    }
    String::new()
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

/// The names that a module imports or exports again from modules of the crate, with their paths from its
/// root.
fn imports(
    module: &str,
    code: &str,
    files: &BTreeMap<&str, String>,
) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for part in code.split("use ").skip(1) {
        let tree = part.split(';').next().unwrap_or_default();
        for (mut path, name) in leaves(tree) {
            let first = path.first().map_or("", String::as_str);
            let below = format!("{module}/{first}");
            if files.contains_key(below.trim_start_matches('/')) {
                path.insert(0, "self".to_owned());
            } else if !["crate", "super", "self"].contains(&first) {
                continue;
            }
            if let Some(path) = absolute(module, &path) {
                found.insert(name, path);
            }
        }
    }
    found
}

/// Every path of code that begins with `crate`, `super` or `self`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for prefix in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| is_word(c) || c == '$' || c == ':') {
                continue;
            }
            found.extend(leaves(&code[at..]).into_iter().map(|(path, _)| path));
        }
    }
    found
}

/// The paths of the tree at the start of a text, each with the name that it is used by: `a::{b, C as D}` is
/// `a::b` by `b` and `a::C` by `D`.
fn leaves(text: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    read_tree(text, &[], &mut found);
    found
}

/// Reads one tree below a path; what is behind it is returned.
fn read_tree<'a>(
    text: &'a str,
    above: &[String],
    found: &mut Vec<(Vec<String>, String)>,
) -> &'a str {
    let mut rest = text.trim_start();
    let mut path = above.to_vec();
    loop {
        let word = word(rest);
        rest = rest[word.len()..].trim_start();
        // `a::{self}` is `a`.
        if !word.is_empty() && (word != "self" || path.is_empty()) {
            path.push(word.to_owned());
        }
        let Some(below) = rest.strip_prefix("::") else {
            break;
        };
        rest = below.trim_start();
        if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                let next = read_tree(inner, &path, found);
                let next = next.trim_start_matches('*').trim_start();
                match next.strip_prefix(',') {
                    Some(more) => inner = more,
                    None => return next.strip_prefix('}').unwrap_or_default(),
                }
            }
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if let Some(renamed) = rest.strip_prefix("as ") {
        let renamed = renamed.trim_start();
        name = word(renamed).to_owned();
        rest = renamed[name.len()..].trim_start();
    }
    if !name.is_empty() {
        found.push((path, name));
    }
    rest
}

/// The word at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.split_at(end.unwrap_or(text.len())).0
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
