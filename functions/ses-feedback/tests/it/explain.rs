//! Which bounces suppress: by the table of `tests/corpus/bounces`, and measured on any other folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ses_feedback::explain;

/// Kind, and whether it suppresses if that is said, by the name of the mail.
fn table(folder: &Path) -> BTreeMap<String, (String, Option<bool>)> {
    let text = fs::read_to_string(folder.join("table.txt")).unwrap_or_default();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let columns: Vec<&str> = line.split(" | ").collect();
        let suppresses = match *columns.get(4)? {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let row = ((*columns.get(1)?).to_owned(), suppresses);
        Some(((*columns.first()?).to_owned(), row))
    })
    .collect()
}

fn mails(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut mails: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "eml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    mails.sort();
    mails
}

#[test]
fn a_bounce_suppresses_as_its_table_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/bounces");
    let table = table(&folder);
    let mut wrong = Vec::new();
    for (name, raw) in mails(&folder) {
        let (kind, suppresses) = &table[&name];
        let got = explain(&raw);
        let listed = got.as_ref().is_some_and(|got| got.kind == "bounce");
        let is_read = match kind.as_str() {
            "failed" => got.is_some() && got.as_ref().unwrap().class.is_some(),
            "delayed" => got.as_ref().is_some_and(|got| got.kind == "deferred"),
            "none" | "delivered" => got.is_none(),
            // Some feedback is about no recipient.
            _ => got.as_ref().is_none_or(|got| got.class.is_none()),
        };
        if suppresses.is_some_and(|want| want != listed) || !is_read {
            wrong.push(format!("{name}: {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prints what each `*.eml` of the folder `POSTHASTE_BOUNCES` is read as, and the shares. A `table.txt` there,
/// in the form of our own, states what is known of them (its columns 1, 2 and 5).
#[test]
#[ignore = "measures a folder named by POSTHASTE_BOUNCES; see CONTRIBUTING.md"]
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is no setting of the service"
)]
fn measure() {
    let folder = PathBuf::from(std::env::var("POSTHASTE_BOUNCES").unwrap());
    let table = table(&folder);
    let (mut known, mut read, mut tidy, mut suppressing) = (0, 0, 0, 0);
    let (mut wrong, mut missed) = (Vec::new(), Vec::new());
    for (name, raw) in mails(&folder) {
        let got = explain(&raw);
        let listed = got.as_ref().is_some_and(|got| got.kind == "bounce");
        match &got {
            Some(got) => println!(
                "{name} | {} | {} | {} | {} | {}",
                got.kind,
                got.recipient,
                got.status.as_deref().unwrap_or("-"),
                got.class.unwrap_or("-"),
                got.reason.as_deref().unwrap_or("-")
            ),
            None => println!("{name} | none"),
        }
        suppressing += usize::from(listed);
        let (kind, suppresses) = table
            .get(&name)
            .map_or(("unknown", None), |(kind, yes)| (kind.as_str(), *yes));
        if listed && suppresses == Some(false) {
            wrong.push(name.clone());
        }
        if matches!(kind, "failed" | "delayed") {
            known += 1;
            let is_read = got.is_some_and(|got| got.class.is_some() || got.kind == "deferred");
            read += usize::from(is_read);
            tidy += usize::from(matches!(
                posthaste_mime::report::read(&raw),
                Some(posthaste_mime::report::MailReport::Delivery(report)) if !report.recipients.is_empty()
            ));
            if !is_read {
                missed.push(name);
            }
        } else if kind != "unknown" && got.is_some_and(|got| got.class.is_some()) {
            wrong.push(name);
        }
    }
    println!("failures and delays: {known}, read: {read}, of them tidy reports: {tidy}");
    println!(
        "suppressing: {suppressing}, wrongly: {} {wrong:?}",
        wrong.len()
    );
    println!("not read: {missed:?}");
}
