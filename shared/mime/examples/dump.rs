//! Writes every sample mail into a folder, each with a description of what went in:
//! `cargo run -p posthaste-mime --example dump FOLDER`. For `tests/mime/parse_back.py`.

#[path = "../tests/it/samples/mod.rs"]
mod samples;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use posthaste_mime::{HeaderRule, build, header_rule};
use posthaste_model::{Disposition, Mailbox};
use serde_json::{Value, json};

use samples::{STAMP, Sample, all};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name a folder")?);
    for sample in all() {
        let mail = build(&sample.outgoing(), &STAMP)?;
        fs::write(folder.join(format!("{}.eml", sample.name)), mail)?;
        let path = folder.join(format!("{}.json", sample.name));
        fs::write(path, described(&sample).to_string())?;
    }
    Ok(())
}

/// What went in, for a reader that knows nothing of this crate.
fn described(sample: &Sample) -> Value {
    let headers: Vec<_> = sample
        .headers
        .iter()
        .filter(|(n, _)| header_rule(n) == HeaderRule::Written)
        .collect();
    let contents: Vec<_> = sample
        .contents
        .iter()
        .map(|c| json!({ "type": c.mime_type, "value": c.value }))
        .collect();
    let files: Vec<_> = sample
        .attachments
        .iter()
        .map(|file| {
            json!({
                "type": file.mime_type,
                "filename": file.filename,
                "content": file.content,
                "content_id": file.content_id,
                "inline": file.disposition == Disposition::Inline,
            })
        })
        .collect();
    json!({
        "shape": sample.shape,
        "from": people(std::slice::from_ref(&sample.from)),
        "to": people(&sample.to),
        "cc": people(&sample.cc),
        "reply_to": people(&sample.reply_to),
        "subject": sample.subject,
        "headers": headers,
        "extra": sample.extra,
        "contents": contents,
        "attachments": files,
        "message_id": STAMP.message_id,
        "date": STAMP.date,
    })
}

fn people(list: &[Mailbox]) -> Value {
    list.iter()
        .map(|m| json!([m.name.as_deref().unwrap_or_default(), m.email.wire()]))
        .collect()
}
