//! Codes and links of mails.

mod html;
mod layouts;
mod mails;
mod words;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Box;
use mails::Sample;

/// What the mailbox reads of a mail: all codes, and the links to follow.
async fn read(b: &Box, id: &str) -> (Vec<String>, Vec<String>) {
    let codes = b.get(&format!("/api/v1/message/{id}/codes")).await.json();
    let links = b.get(&format!("/api/v1/message/{id}/links")).await.json();
    let texts = |list: &Value, field: &str, is: &dyn Fn(&Value) -> bool| {
        let list = list.as_array().unwrap().iter().filter(|one| is(one));
        list.map(|one| one[field].as_str().unwrap().to_owned())
            .collect()
    };
    (
        texts(&codes["Codes"], "Code", &|_| true),
        texts(&links["Links"], "URL", &|link| link["Kind"] == "action"),
    )
}

/// The samples that are read otherwise than a person would: what is missing, wrong or too much.
async fn misread(samples: &[Sample]) -> Vec<String> {
    let b = Box::new();
    let mut wrong = Vec::new();
    for sample in samples {
        let id = b.deliver(&["ann@x.example"], sample.raw.clone()).await;
        let (codes, links) = read(&b, &id).await;
        let want = (
            sample.code.iter().cloned().collect::<Vec<_>>(),
            sample.link.iter().cloned().collect::<Vec<_>>(),
        );
        if (&codes, &links) != (&want.0, &want.1) {
            wrong.push(format!(
                "{}: read {codes:?} and {links:?}, expected {want:?}",
                sample.name
            ));
        }
    }
    wrong
}

#[tokio::test]
async fn codes_and_links_of_five_hundred_mails_are_read_right() {
    let (held_out, seen): (Vec<_>, Vec<_>) = mails::all()
        .into_iter()
        .partition(|sample| sample.is_held_out);
    assert_eq!((seen.len(), held_out.len()), (250, 250));
    let wrong = [misread(&seen).await, misread(&held_out).await];
    let right = wrong.each_ref().map(|wrong| 250 - wrong.len());
    let sum: usize = right.iter().sum();
    println!(
        "codes and links of {sum} of 500 mails are read right ({:.1} %); of 250 held out: {}",
        sum as f64 / 5.0,
        right[1]
    );
    assert!(
        right.iter().all(|right| right * 100 >= 250 * 99),
        "{right:?} of 250 each are right:\n{}",
        wrong.concat().join("\n")
    );
}

/// Writes the mails as `*.eml` into the folder `POSTHASTE_MAILS`, with `mails.json`: of each its name, code and link.
#[test]
#[ignore = "writes into a folder named by POSTHASTE_MAILS; see tests/wait/README.md"]
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is no setting of the service"
)]
fn write() {
    let folder = PathBuf::from(std::env::var("POSTHASTE_MAILS").unwrap());
    let mut table = Vec::new();
    for (number, sample) in mails::all().into_iter().enumerate() {
        let file = format!("{number:03}.eml");
        std::fs::write(folder.join(&file), sample.raw).unwrap();
        table.push(
            json!({"file": file, "name": sample.name, "is_held_out": sample.is_held_out,
            "code": sample.code, "link": sample.link}),
        );
    }
    let table = serde_json::to_vec(&table).unwrap();
    std::fs::write(folder.join("mails.json"), table).unwrap();
}
