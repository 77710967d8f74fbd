//! A file has a size at which it can be read and found: no source above 400 lines, and few files of one or two
//! functions, each for a reason.
//!
//! A file is small when it has one or two functions, methods included, in fewer than 40 lines of code; comments,
//! blank lines and unit tests do not count. `lib.rs` and `main.rs`, files of tests, and files without a function
//! (types, tables of data, declarations of modules) are never small.

use std::fs;

use crate::template::read::root;

/// The most lines of a file.
const MOST_LINES: usize = 400;

/// The most small files.
const MOST_SMALL: usize = 20;

/// A file with as many lines of code is not small.
const LINES_OF_CODE: usize = 40;

/// The small files, and why each is not part of another.
const SMALL: &[(&str, &str)] = &[
    (
        "infra/local/src/args/rates.rs",
        "flags of one subject, which the whole command line has no room for",
    ),
    (
        "shared/http/src/acting.rs",
        "one cookie, which the sessions of the console set and read",
    ),
    (
        "shared/model/src/csv.rs",
        "the rule for a cell, which downloads and exports share",
    ),
    (
        "functions/ses-feedback/src/sending_status.rs",
        "a notice of SES about the whole account, beside those about one mail",
    ),
    (
        "shared/http/src/page.rs",
        "the frame of every public page, whichever function answers with it",
    ),
    (
        "shared/http/src/undelivered.rs",
        "the query and the page of two functions' lists of what was given up",
    ),
    (
        "shared/model/src/configuration_sets.rs",
        "one form of text, which mail-send and delivery read",
    ),
    (
        "shared/queue/src/insights.rs",
        "a job that the sweep writes and ses-feedback reads",
    ),
    (
        "shared/runtime/src/work_error.rs",
        "the one error of every worker",
    ),
    (
        "shared/store/src/access/rates.rs",
        "the rows of one subject, as each file of the store",
    ),
    (
        "shared/store/src/access/username.rs",
        "the form of user names, which accounts and their profile share",
    ),
    (
        "shared/store/src/stats/spread.rs",
        "how hot rows are spread, which days and the sums of categories share",
    ),
    (
        "shared/store/src/stats/reputation.rs",
        "the rows of one subject, as each file of the store",
    ),
];

/// Every source of the crates below these folders, by its path from the root.
fn sources(parts: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<_> = parts.iter().map(|part| root().join(part)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let name = path.strip_prefix(root()).expect("a path below the root");
                found.push((name.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    found.sort();
    found
}

/// The functions that the line declares: one or none.
fn declares_function(line: &str) -> bool {
    let mut rest = line.trim_start();
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            return name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        }
        let Some((word, after)) = rest.split_once(' ') else {
            return false;
        };
        let is_visibility = word == "pub" || (word.starts_with("pub(") && word.ends_with(')'));
        if !is_visibility && !["const", "async", "unsafe"].contains(&word) {
            return false;
        }
        rest = after;
    }
}

/// A source without its unit tests.
fn without_tests(text: &str) -> &str {
    let tests = text.find("#[cfg(test)]\nmod ");
    let inline = tests.filter(|at| text[*at..].lines().nth(1).is_some_and(|l| l.ends_with('{')));
    &text[..inline.unwrap_or(text.len())]
}

/// The functions of a source.
fn functions(text: &str) -> usize {
    let lines = without_tests(text).lines();
    lines.filter(|line| declares_function(line)).count()
}

/// The lines of code of a source.
fn lines_of_code(text: &str) -> usize {
    let lines = without_tests(text).lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

/// Whether the path is one of the sources that count when they are small.
fn counts(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let is_root = ["lib.rs", "main.rs"].contains(&name) && folder.ends_with("src");
    let is_test = name == "tests.rs" || name.ends_with("_tests.rs") || folder.contains("/tests");
    (folder.contains("/src/") || folder.ends_with("/src")) && !is_root && !is_test
}

#[test]
fn functions_are_counted_without_unit_tests() {
    let text = "pub(crate) const async fn a() {}\nimpl A {\n    fn b(&self) {}\n}\n// fn c()\n";
    assert_eq!(functions(text), 2);
    let with_tests = format!("{text}#[cfg(test)]\nmod tests {{\n    fn d() {{}}\n}}\n");
    assert_eq!(functions(&with_tests), 2);
    let declared = format!("#[cfg(test)]\nmod tests;\n{text}");
    assert_eq!(functions(&declared), 2);
    assert_eq!(lines_of_code(&with_tests), 4);
    assert!(counts("shared/http/src/gzip.rs") && counts("shared/a/src/b/c.rs"));
    for path in [
        "shared/a/src/lib.rs",
        "shared/a/src/b/tests.rs",
        "shared/a/tests/it/b.rs",
    ] {
        assert!(!counts(path), "{path}");
    }
}

#[test]
fn no_source_is_above_400_lines() {
    let sources = sources(&["functions", "infra", "shared", "tests"]);
    assert!(sources.len() > 500, "{}", sources.len());
    let long = sources.iter().filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > MOST_LINES).then(|| format!("{path}: {lines}"))
    });
    let long: Vec<_> = long.collect();
    assert!(long.is_empty(), "split: {long:#?}");
}

#[test]
fn few_files_hold_one_or_two_functions_and_each_has_a_reason() {
    let sources = sources(&["functions", "infra", "shared"]);
    let small = sources.iter().filter(|(path, text)| {
        let is_short = lines_of_code(text) < LINES_OF_CODE;
        counts(path) && is_short && (1..=2).contains(&functions(text))
    });
    let small: Vec<&str> = small.map(|(path, _)| path.as_str()).collect();
    let listed = |path: &&str| SMALL.iter().any(|(known, _)| known == path);
    let new: Vec<_> = small.iter().filter(|path| !listed(path)).collect();
    assert!(
        new.is_empty(),
        "files of one or two functions: join each with the file that uses it: {new:#?}"
    );
    for (path, reason) in SMALL {
        assert!(
            small.contains(path),
            "{path} is gone or grew: take it out of the list"
        );
        assert!(reason.len() > 20, "{path}: the reason");
    }
    assert!(SMALL.len() <= MOST_SMALL, "{} small files", SMALL.len());
}
