//! `infra/VARIABLES.md` names every environment variable: those that each function asks for when it
//! starts, those that the template sets, and those that sources and scripts name.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use posthaste::functions::{FUNCTIONS, Function};
use posthaste_runtime::{Env, Platform};

use crate::template::read::{Template, root};

const PAGE: &str = "infra/VARIABLES.md";

/// Names in the form of a variable that are something else.
const NO_VARIABLES: [&str; 12] = [
    // Of cargo, at build time.
    "CARGO_MANIFEST_DIR",
    "CARGO_PKG_VERSION",
    // The id of a row, and what a printed command leaves to fill in.
    "FIRST_ACCOUNT",
    "YOUR_API_KEY",
    // Words of SES's answers and of rspamd's rules.
    "FORGED_SENDER",
    "IN_PROGRESS",
    "NOT_APPLICABLE",
    "NOT_STARTED",
    "PROCESSING_FAILED",
    "R_PARTS_DIFFER",
    "TEMPORARY_FAILURE",
    "USE_DEFAULT_VALUE",
];

/// One line of the page.
struct Row {
    name: String,
    required: bool,
    /// The third column.
    readers: String,
}

impl Row {
    /// Whether this line is about the variable; `AWS_ENDPOINT_URL_*` is about all that begin so.
    fn names(&self, variable: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(begin) => variable.starts_with(begin),
            None => self.name == variable,
        }
    }

    /// Whether the function is among the readers.
    fn is_read_by(&self, function: &str, kind: Function) -> bool {
        let api = kind.is_http();
        self.readers.contains("every function")
            || (api && self.readers.contains("API functions"))
            || self.readers.contains(&format!("`{function}`"))
    }
}

fn page() -> Vec<Row> {
    let text = fs::read_to_string(root().join(PAGE)).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Row> = lines
        .map(|line| {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, name, default, readers, _, _] = columns[..] else {
                panic!("not four columns: {line}");
            };
            Row {
                name: name.trim_matches('`').to_owned(),
                required: default == "required",
                readers: readers.to_owned(),
            }
        })
        .collect();
    let names: BTreeSet<&String> = rows.iter().map(|row| &row.name).collect();
    assert_eq!(names.len(), rows.len(), "a variable twice");
    rows
}

/// What a function asks for when it starts with these variables, and whether it did start.
fn start(kind: Function, given: &BTreeMap<String, String>) -> (BTreeSet<String>, bool) {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let (note, given) = (asked.clone(), given.clone());
    let vars = Env::new(move |name| {
        note.lock().unwrap().insert(name.to_owned());
        given.get(name).cloned()
    });
    let platform = Platform::function(vars);
    let started = kind.open(&platform).is_ok();
    let asked = asked.lock().unwrap().clone();
    (asked, started)
}

#[tokio::test]
async fn the_page_names_what_each_function_reads() {
    let (rows, template) = (page(), Template::read());
    let mut needed = BTreeSet::new();
    for (name, kind) in FUNCTIONS {
        let stanza = &template.functions()[name];
        let full = template.variables(stanza);
        // Without the optional ones it falls back to others; by SMTP it reads other settings.
        let is_required =
            |variable: &str| rows.iter().any(|row| row.required && row.name == variable);
        let mut least = full.clone();
        least.retain(|variable, _| is_required(variable) || variable == "AWS_REGION");
        let mut smtp = full.clone();
        smtp.entry("DELIVERY".to_owned())
            .and_modify(|value| "smtp://relay.example:587".clone_into(value));

        let mut insights = full.clone();
        insights
            .entry("MESSAGE_INSIGHTS".to_owned())
            .and_modify(|value| "true".clone_into(value));

        let mut asked = BTreeSet::new();
        for given in [&full, &least, &smtp, &insights] {
            let (names, started) = start(kind, given);
            assert!(started, "{name} does not start with {given:?}");
            asked.extend(names);
        }
        for variable in &asked {
            let row = rows.iter().find(|row| row.names(variable));
            let row = row.unwrap_or_else(|| panic!("{name} reads {variable}: {PAGE}"));
            assert!(
                row.is_read_by(name, kind),
                "{name} reads {variable}: {PAGE}"
            );
        }
        for row in rows
            .iter()
            .filter(|row| row.readers.contains(&format!("`{name}`")))
        {
            let read = asked.iter().any(|variable| row.names(variable));
            assert!(read, "{name} does not read {}: {PAGE}", row.name);
        }
        for variable in least.keys().filter(|variable| is_required(variable)) {
            let mut given = least.clone();
            given.remove(variable);
            if !start(kind, &given).1 {
                needed.insert(variable.clone());
            }
        }
    }
    let required = rows.iter().filter(|row| row.required);
    let required: BTreeSet<String> = required.map(|row| row.name.clone()).collect();
    assert_eq!(needed, required, "what stops a start: {PAGE}");
}

#[test]
fn the_page_names_what_template_sources_and_scripts_name_and_nothing_else() {
    let rows = page();
    let mut found = BTreeSet::new();
    for stanza in Template::read().functions().values() {
        found.extend(Template::read().variables(stanza).into_keys());
    }
    for folder in ["functions", "shared", "infra", "tests", "fuzz"] {
        scan(&root().join(folder), &mut found);
    }
    for name in &found {
        assert!(rows.iter().any(|row| row.names(name)), "{name}: {PAGE}");
    }
    for row in &rows {
        let name = &row.name;
        assert!(
            found.iter().any(|found| row.names(found)),
            "nothing names {name}: {PAGE}"
        );
    }
}

/// The variables that the files of a folder name.
fn scan(folder: &Path, found: &mut BTreeSet<String>) {
    const NO_SOURCES: [&str; 4] = ["target", "node_modules", ".venv", "__pycache__"];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !NO_SOURCES.contains(&name) {
                scan(&path, found);
            }
            continue;
        }
        let extension = path.extension().and_then(|text| text.to_str());
        let read: fn(&str) -> Vec<&str> = match extension {
            Some("rs") => of_rust,
            Some("py") => |text| after(text, &["environ[\"", "environ.get(\""]),
            Some("c") => |text| after(text, &["getenv(\""]),
            Some("js" | "mjs") => |text| after(text, &["process.env."]),
            // Scripts of the shell have no extension here: `${NAME:-default}`.
            None => of_shell,
            Some(_) => continue,
        };
        // A script is text; what is not holds no names.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let names = read(&text)
            .into_iter()
            .filter(|name| !NO_VARIABLES.contains(name));
        found.extend(names.map(ToOwned::to_owned));
    }
}

/// Whether a text has the form of a variable of more than one word.
fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.contains('_')
        && !text.ends_with('_')
        && text.chars().all(allowed)
}

/// Every literal that is a name.
fn of_rust(text: &str) -> Vec<&str> {
    text.split('"').filter(|piece| is_name(piece)).collect()
}

/// Every name that has a default.
fn of_shell(text: &str) -> Vec<&str> {
    let pieces = text.split("${").skip(1);
    let names = pieces.filter_map(|piece| piece.split_once('-'));
    let names = names.map(|(name, _)| name.trim_end_matches(':'));
    names.filter(|name| is_name(name)).collect()
}

/// Every name behind one of these beginnings.
fn after<'a>(text: &'a str, beginnings: &[&str]) -> Vec<&'a str> {
    let pieces = beginnings
        .iter()
        .flat_map(|begin| text.split(begin).skip(1));
    let names = pieces.filter_map(|piece| {
        piece
            .split(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .next()
    });
    names.filter(|name| is_name(name)).collect()
}
