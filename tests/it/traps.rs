//! Each trap that users of the v3 API fall into (API facts, section 9): what Posthaste does, and the tests that
//! show it, in `traps.txt`.

use std::collections::BTreeMap;
use std::fs;

use crate::template::read::root;

const TRAPS: &str = include_str!("traps.txt");

/// The numbers of the traps.
const ALL: std::ops::RangeInclusive<u8> = 1..=45;

/// The file and the function of each test, by the number of its trap.
fn tests() -> BTreeMap<u8, Vec<(&'static str, &'static str)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in TRAPS.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(" | ").collect();
        let [number, here, file, test] = columns[..] else {
            panic!("not four columns: {line}");
        };
        let number = number.parse().expect(line);
        assert!(
            found.contains_key(&number) != (here.trim().len() > 10),
            "the first line of a trap, and only that, says what happens here: {line}"
        );
        found.entry(number).or_default().push((file, test));
    }
    found
}

#[test]
fn each_trap_is_shown_by_tests_that_are_there() {
    let tests = tests();
    assert!(tests.keys().copied().eq(ALL), "{:?}", tests.keys());
    for (number, tests) in tests {
        for (file, test) in tests {
            let text = fs::read_to_string(root().join(file)).expect(file);
            let head = format!("fn {test}(");
            let place = text
                .find(&head)
                .unwrap_or_else(|| panic!("{number}: no {test} in {file}"));
            let (before, _) = text.split_at(place);
            let last = before
                .rsplit("#[")
                .find(|a| a.starts_with("test") || a.starts_with("tokio::test"));
            assert!(last.is_some(), "{number}: {test} is no test");
        }
    }
}
