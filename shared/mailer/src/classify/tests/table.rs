//! Holds the rows to two tables of refusals: one that the rows were written after, and one in other
//! words that they were not.
//!
//! The words are those of servers' documents and of public lists; addresses, hosts and ids are
//! invented. A line is `stage`, `type`, `class`, `suppressed`, and the reply, with tabs between.

use std::collections::BTreeSet;

use posthaste_model::BounceType;

use crate::classify::rows;
use crate::smtp::{Explained, Fate, SmtpStage, explain};

const KNOWN: &str = include_str!("../../../tests/refusals/known.tsv");
const OTHER_WORDS: &str = include_str!("../../../tests/refusals/other_words.tsv");

/// A line of a table.
struct KnownRefusal {
    want: [&'static str; 3],
    got: [&'static str; 3],
    explained: Explained,
}

impl KnownRefusal {
    fn read(line: &'static str) -> Self {
        let mut cells = line.splitn(5, '\t');
        let mut next = || cells.next().unwrap_or_else(|| panic!("five cells: {line}"));
        let (stage, want) = (next(), [next(), next(), next()]);
        let stage = match stage {
            "connect" => SmtpStage::Connect,
            "mail" => SmtpStage::Mail,
            "rcpt" => SmtpStage::Rcpt,
            "data" => SmtpStage::Data,
            other => panic!("no stage: {other}"),
        };
        let explained = explain(next(), stage).unwrap_or_else(|| panic!("no reply: {line}"));
        let (kind, suppressed) = match explained.fate {
            Fate::Refused(BounceType::Bounce) => ("bounce", "yes"),
            Fate::Refused(_) => ("blocked", "no"),
            Fate::Deferred(_) => ("deferred", "no"),
            Fate::Accepted => panic!("accepted: {line}"),
        };
        Self {
            want,
            got: [kind, explained.meaning.class.as_str(), suppressed],
            explained,
        }
    }

    fn is_right(&self) -> bool {
        self.want == self.got
    }

    fn is_wrongly_suppressed(&self) -> bool {
        (self.want[2], self.got[2]) == ("no", "yes")
    }
}

fn read(table: &'static str) -> Vec<KnownRefusal> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(KnownRefusal::read).collect()
}

/// Prints the share that is right in every column, which `tests/run` shows, and fails below a threshold of percents.
fn measure(name: &str, table: &'static str, threshold: usize) {
    let refusals = read(table);
    let wrong: Vec<_> = refusals.iter().filter(|one| !one.is_right()).collect();
    for one in &wrong {
        let Explained {
            response, meaning, ..
        } = &one.explained;
        eprintln!(
            "{:?}, not {:?}, by {}: {response}",
            one.got, one.want, meaning.row
        );
    }
    let right = refusals.len() - wrong.len();
    let suppressed = wrong.iter().filter(|one| one.is_wrongly_suppressed());
    let suppressed = suppressed.count();
    eprintln!(
        "refusals, {name}: {right} of {} right ({:.1} %), {suppressed} wrongly suppressed",
        refusals.len(),
        100.0 * right as f64 / refusals.len() as f64,
    );
    assert!(right * 100 >= threshold * refusals.len(), "{name}: {right}");
    assert_eq!(suppressed, 0, "{name}: wrongly suppressed");
}

#[test]
fn refusals_as_known() {
    measure("as known", KNOWN, 98);
}

#[test]
fn refusals_in_other_words() {
    measure("in other words", OTHER_WORDS, 90);
}

#[test]
fn the_table_is_large_and_each_line_is_there_once() {
    for (table, least) in [(KNOWN, 300), (OTHER_WORDS, 60)] {
        let lines: Vec<_> = table.lines().filter(|l| !l.starts_with('#')).collect();
        let unique: BTreeSet<_> = lines.iter().collect();
        assert_eq!(unique.len(), lines.len());
        assert!(lines.len() >= least);
    }
}

#[test]
fn every_row_has_its_refusal() {
    let used: BTreeSet<_> = read(KNOWN)
        .iter()
        .map(|one| one.explained.meaning.row)
        .collect();
    for row in rows::all() {
        assert!(
            used.contains(row.name),
            "nothing known is about {}",
            row.name
        );
    }
}
