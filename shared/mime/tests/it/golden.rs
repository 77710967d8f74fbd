//! The exact bytes of each sample, in `tests/golden/mime/`.

use std::fs;
use std::path::PathBuf;

use posthaste_mime::build;

use crate::samples::{STAMP, all};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/mime")
}

/// A mismatch leaves `NAME.actual` beside the golden file. To accept it, look at the difference
/// and rename it by hand.
#[test]
fn every_sample_gives_the_reviewed_bytes() {
    let mut wrong = Vec::new();
    for sample in all() {
        let bytes = build(&sample.outgoing(), &STAMP).unwrap();
        let path = folder().join(format!("{}.eml", sample.name));
        let actual = folder().join(format!("{}.eml.actual", sample.name));
        if fs::read(&path).ok().as_ref() == Some(&bytes) {
            fs::remove_file(actual).ok();
        } else {
            fs::write(actual, bytes).unwrap();
            wrong.push(sample.name);
        }
    }
    assert!(
        wrong.is_empty(),
        "see *.actual in tests/golden/mime: {wrong:?}"
    );
}

#[test]
fn every_golden_file_has_its_sample() {
    let names: Vec<_> = all().iter().map(|s| format!("{}.eml", s.name)).collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = names.contains(&name) || name.ends_with(".actual");
        assert!(known, "no sample makes {name}");
    }
}

#[test]
fn the_same_stamp_gives_the_same_bytes() {
    for sample in all() {
        let once = build(&sample.outgoing(), &STAMP);
        assert_eq!(once, build(&sample.outgoing(), &STAMP), "{}", sample.name);
    }
}
