//! The file of the stack's secret: refused when it is damaged, or another one.

use super::*;
use crate::StartError;

const OTHER: &str = "1:BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const NEXT: &str = "2:CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Why the folder is not opened with these bytes in the file.
#[track_caller]
fn refused(root: &Path, bytes: &[u8]) -> String {
    fs::write(root.join("stack-secret"), bytes).unwrap();
    let error = Folder::open(root).expect_err("a folder without its secret");
    let said = error.to_string();
    assert_eq!(StartError::from(error).exit_code(), 2, "{said}");
    assert!(
        said.contains("stack-secret") && !said.contains('\n'),
        "{said}"
    );
    assert!(said.contains("backup") && said.contains(LIST), "{said}");
    said
}

fn opens(root: &Path, text: &str) {
    fs::write(root.join("stack-secret"), text).unwrap();
    let folder = Folder::open(root).expect(text);
    folder.note_parts().unwrap();
}

/// Takes the name of the file out of the list.
fn take_out(root: &Path) {
    let list = fs::read_to_string(root.join(LIST)).unwrap();
    fs::write(root.join(LIST), list.replace(r#""stack-secret","#, "")).unwrap();
}

#[test]
fn a_damaged_secret_is_told_with_what_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    used(dir.path());
    let halved = &KEY.as_bytes()[..KEY.len() / 2];
    for bytes in [halved, b"\xff\xfe\x00\x9a", b"nonsense", b"1:", b"x:AAAA"] {
        let said = refused(dir.path(), bytes);
        assert!(
            said.contains("is damaged") && said.contains("keys of domains"),
            "{said}"
        );
    }
    let said = refused(dir.path(), b"");
    assert!(said.contains("is missing or empty"), "{said}");
    // The remedies work.
    opens(dir.path(), KEY);
    refused(dir.path(), halved);
    fs::remove_file(dir.path().join("stack-secret")).unwrap();
    take_out(dir.path());
    let folder = Folder::open(dir.path()).expect("a folder that goes on without it");
    let made = folder.secret("stack-secret", || OTHER.to_owned()).unwrap();
    assert_eq!(made, OTHER);
}

#[test]
fn another_secret_than_the_folders_own_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    used(dir.path());
    let list = fs::read_to_string(dir.path().join(LIST)).unwrap();
    assert!(!list.contains("AAAA"), "{list}");
    for other in [OTHER, NEXT, &format!("{NEXT},{OTHER}")] {
        let said = refused(dir.path(), other.as_bytes());
        assert!(said.contains("unsigned"), "{said}");
    }
    opens(dir.path(), KEY);

    // A key is added in front, and the old one taken away when its mails are no longer read.
    opens(dir.path(), &format!("{NEXT},{KEY}"));
    opens(dir.path(), NEXT);
    refused(dir.path(), KEY.as_bytes());

    // Whoever has no backup goes on with what is there.
    take_out(dir.path());
    opens(dir.path(), KEY);
    refused(dir.path(), OTHER.as_bytes());
}

#[test]
fn a_folder_of_before_gets_its_mark_at_the_next_start() {
    for list in [
        None,
        Some(r#"{"v":1,"files":["table.db","queue.db","stack-secret"]}"#),
    ] {
        let dir = tempfile::tempdir().unwrap();
        used(dir.path());
        match list {
            None => fs::remove_file(dir.path().join(LIST)).unwrap(),
            Some(list) => fs::write(dir.path().join(LIST), list).unwrap(),
        }
        opens(dir.path(), OTHER);
        refused(dir.path(), KEY.as_bytes());
    }
}
