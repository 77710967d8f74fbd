//! Checks the file of the stack's secret before anything is opened with it.
//!
//! A secret that reads but is another one opens nothing that the folder holds: the keys of domains,
//! without which mail leaves unsigned, and the secrets of webhooks. `folder.json` keeps a keyed mark
//! of each key of the file, which distinguishes keys and reveals nothing about them.

use std::collections::BTreeMap;
use std::path::Path;

use posthaste_render::KeyRing;
use posthaste_webhook::Sealer;

use super::FolderError;
use crate::damage;

/// What is marked. No address of a bounce reads so, whose claims the same keys mark.
const MARKED: &str = "data folder";

/// A mark of each key, by its id.
pub(super) type Marks = BTreeMap<u8, String>;

/// The marks of a text that is a stack's secret, or why it is none.
pub(super) fn marks(text: &str) -> Result<Marks, String> {
    let _: KeyRing = text.parse().map_err(reason)?;
    let _: Sealer = text.parse().map_err(reason)?;
    let one = |part: &str| {
        let (id, _) = part.trim().split_once(':').unwrap_or_default();
        let id = id.parse().map_err(reason)?;
        let key: KeyRing = part.parse().map_err(reason)?;
        Ok((id, format!("{:08x}", key.mark(MARKED))))
    };
    text.split(',').map(one).collect()
}

fn reason(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Refuses a file that holds no secret, or another than the one that was noted. A key may be added
/// in front, and an old one taken away, while one of the known ones stays.
pub(super) fn check(
    file: &Path,
    text: &str,
    known: &Marks,
    list: &Path,
) -> Result<(), FolderError> {
    let list = list.display();
    let marks = marks(text).map_err(|cause| {
        let remedy = format!(
            "put it back from a backup, or, to go on without the keys of domains and the secrets of \
             webhooks that it opens, delete it and take its name out of {list}"
        );
        FolderError::Damaged(damage::mendable(file, &cause, &remedy))
    })?;
    let is_same = |(id, mark): (&u8, &String)| known.get(id) == Some(mark);
    let is_other = |(id, mark): (&u8, &String)| known.get(id).is_some_and(|old| old != mark);
    if known.is_empty() || marks.iter().any(is_same) && !marks.iter().any(is_other) {
        return Ok(());
    }
    Err(FolderError::Damaged(format!(
        "the file {} is not the one that this folder was used with, so mail would leave unsigned: put \
         that one back from a backup, or, to go on with this one and without the keys of domains and \
         the secrets of webhooks, take its name out of {list}",
        file.display()
    )))
}
