//! Says what stands in the place of a data folder: the system's own words about it mislead.

use std::fs;
use std::path::{Path, PathBuf};

use super::FolderError;

/// Refuses a path on which a file, or a link that leads nowhere, is in the way of the folder.
pub(crate) fn check(root: &Path) -> Result<(), FolderError> {
    // A slash at the end would hide what it follows.
    let path: PathBuf = root.components().collect();
    // The nearest that is there; whatever is below it can be made.
    let mut there = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    let Some(near) = there.find(|path| fs::symlink_metadata(path).is_ok()) else {
        return Ok(());
    };
    match fs::metadata(near) {
        Ok(near) if near.is_dir() => Ok(()),
        Ok(_) => Err(FolderError::NoFolder(root.to_owned(), near.to_owned())),
        Err(error) => Err(match fs::read_link(near) {
            Ok(target) => FolderError::DeadLink(root.to_owned(), near.to_owned(), target),
            Err(_) => FolderError::Unusable(root.to_owned(), error),
        }),
    }
}
