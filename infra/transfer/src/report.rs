//! What an export or an import did, for people and for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::part::AccountPart;

/// Lines of one kind that a report has; the rest are counted.
const MOST: usize = 1_000;

/// How many items of a part came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartCounts {
    /// Items that were read.
    pub read: usize,
    /// Items that the account has since now.
    pub created: usize,
    /// Items that the account had in another form.
    pub changed: usize,
    /// Items that the account had already.
    pub unchanged: usize,
    /// Items that were not taken; `not_taken` says why.
    pub refused: usize,
}

/// Something that was not taken along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTaken {
    pub what: String,
    pub reason: String,
}

/// A key that was created, with its secret: it is shown this once, and written nowhere.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct ShownKey {
    pub name: String,
    pub api_key_id: String,
    pub api_key: String,
}

impl std::fmt::Debug for ShownKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ShownKey({})", self.api_key_id)
    }
}

/// A record of a domain: what it was, and what it is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordChange {
    pub domain: String,
    /// `TYPE HOST DATA`, as the other service has it.
    pub before: Vec<String>,
    /// The same for this service: publish these beside the others.
    pub publish: Vec<String>,
}

/// What became of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransferReport {
    /// The name of the account.
    pub account: String,
    /// Whether nothing was written: a plan.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    pub parts: BTreeMap<&'static str, PartCounts>,
    /// Groups that have another id here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub group_ids: BTreeMap<i64, i64>,
    /// Templates that have another id here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub template_ids: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns: Vec<RecordChange>,
    /// What versions of templates have that is read otherwise here, or not at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub template_notes: Vec<NotTaken>,
    /// What is to be known about things that were taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<NotTaken>,
    /// How many more were not taken.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_taken_beside: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<ShownKey>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subusers: Vec<TransferReport>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TransferReport {
    pub(crate) fn of(account: &str, dry_run: bool) -> Self {
        Self {
            account: account.to_owned(),
            dry_run,
            ..Self::default()
        }
    }

    pub(crate) fn counts(&mut self, part: AccountPart) -> &mut PartCounts {
        self.parts.entry(part.name()).or_default()
    }

    /// Something was not taken.
    pub(crate) fn refuse(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        if self.not_taken.len() == MOST {
            self.not_taken_beside += 1;
            return;
        }
        self.not_taken.push(NotTaken {
            what: what.into(),
            reason: reason.into(),
        });
    }

    /// An item of a part was not taken.
    pub(crate) fn refuse_item(&mut self, part: AccountPart, what: &str, reason: impl Into<String>) {
        self.counts(part).refused += 1;
        self.refuse(format!("{}: {what}", part.name()), reason);
    }

    /// A remark about a template.
    pub(crate) fn note_template(&mut self, what: &str, remark: String) {
        if self.template_notes.len() < MOST {
            self.template_notes.push(NotTaken {
                what: what.to_owned(),
                reason: remark,
            });
        }
    }

    /// Lines, without a line end after the last one.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        self.write(&mut lines);
        let lines: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        lines.join("\n")
    }

    fn write(&self, lines: &mut Vec<String>) {
        let head = if self.dry_run {
            "Plan for account"
        } else {
            "Account"
        };
        lines.push(format!("{head} {}", self.account));
        lines.push(row([
            "",
            "read",
            "created",
            "changed",
            "unchanged",
            "not taken",
        ]));
        for part in AccountPart::ALL {
            let Some(counts) = self.parts.get(part.name()) else {
                continue;
            };
            let numbers = [
                counts.read,
                counts.created,
                counts.changed,
                counts.unchanged,
                counts.refused,
            ]
            .map(|number| number.to_string());
            let [read, created, changed, unchanged, refused] = &numbers;
            lines.push(row([
                part.name(),
                read,
                created,
                changed,
                unchanged,
                refused,
            ]));
        }
        self.write_ids(lines);
        self.write_remarks(lines);
        for subuser in &self.subusers {
            lines.push(String::new());
            subuser.write(lines);
        }
    }

    /// What is another one here: ids and records.
    fn write_ids(&self, lines: &mut Vec<String>) {
        let ids = self
            .group_ids
            .iter()
            .map(|(from, to)| format!("  group {from} is {to}"));
        section(lines, "Groups have other ids here:", ids);
        let ids = self.template_ids.iter();
        let ids = ids.map(|(from, to)| format!("  template {from} is {to}"));
        section(lines, "Templates have other ids here:", ids);
        for change in &self.dns {
            lines.push(format!(
                "DNS of {}: publish these, beside the records of the other service:",
                change.domain
            ));
            lines.extend(change.publish.iter().map(|record| format!("  + {record}")));
            lines.extend(change.before.iter().map(|record| format!("    {record}")));
        }
    }

    /// What is to be read by a person, and the keys.
    fn write_remarks(&self, lines: &mut Vec<String>) {
        let remark = |one: &NotTaken| format!("  {}: {}", one.what, one.reason);
        section(
            lines,
            "Templates that have something read otherwise here, or not at all:",
            self.template_notes.iter().map(remark),
        );
        section(
            lines,
            "To be known:",
            self.notes.iter().map(|note| format!("  {note}")),
        );
        section(lines, "Not taken:", self.not_taken.iter().map(remark));
        if self.not_taken_beside > 0 {
            lines.push(format!("  and {} more", self.not_taken_beside));
        }
        let keys = self.keys.iter();
        let keys = keys.map(|key| format!("  {} ({}): {}", key.name, key.api_key_id, key.api_key));
        section(lines, "API keys, shown this once and stored nowhere:", keys);
    }
}

/// A line as a terminal may show it: what would steer it, or turn the order of its characters, is escaped.
pub(crate) fn shown(line: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if c.is_control() || turns(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn section(lines: &mut Vec<String>, head: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        lines.push(head.to_owned());
        lines.extend(items);
    }
}

fn row(cells: [&str; 6]) -> String {
    let [name, numbers @ ..] = cells;
    let numbers = numbers.map(|number| format!("{number:>10}"));
    format!("  {name:<18}{}", numbers.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal_that_shows_it() {
        let mut report = TransferReport::of("ada", false);
        report
            .notes
            .push("name \u{1b}[31m\nred\u{9b}m \u{202e}ü".to_owned());
        let text = report.text();
        let want = r"  name \u{1b}[31m\nred\u{9b}m \u{202e}ü";
        assert!(text.ends_with(want), "{text}");
    }

    #[test]
    fn a_report_has_only_what_there_is_to_say() {
        let mut report = TransferReport::of("ada", false);
        assert_eq!(report.text().lines().count(), 2);
        report.counts(AccountPart::Bounces).read = 3;
        report.refuse_item(AccountPart::Bounces, "x", "no address");
        report.group_ids.insert(4, 9);
        let text = report.text();
        assert!(text.contains("bounces"), "{text}");
        assert!(text.contains("group 4 is 9"), "{text}");
        assert!(
            text.ends_with("Not taken:\n  bounces: x: no address"),
            "{text}"
        );
        for _ in 0..MOST {
            report.refuse("y", "z");
        }
        assert_eq!((report.not_taken.len(), report.not_taken_beside), (MOST, 1));
        assert!(report.text().ends_with("and 1 more"));
    }
}
