//! Counters of a day by mailbox provider, mail client, device and browser. They lie in the rows of the day, so they
//! cost no write of their own, and are named as briefly as the counters of its hours: a row is billed by its size.

use std::collections::BTreeMap;

use posthaste_model::{Segment, Segmentation};

/// The letter of each metric in the name of a counter.
const METRIC_LETTERS: [(&str, char); 12] = [
    ("blocks", 'x'),
    ("bounces", 'b'),
    ("clicks", 'c'),
    ("deferred", 'f'),
    ("delivered", 'd'),
    ("drops", 'r'),
    ("opens", 'o'),
    ("processed", 'p'),
    ("requests", 'q'),
    ("spam_reports", 's'),
    ("unique_clicks", 'v'),
    ("unique_opens", 'u'),
];

/// The letter that the names of its counters begin with.
fn letter(by: Segmentation) -> char {
    match by {
        Segmentation::MailboxProvider => 'p',
        Segmentation::Client => 'c',
        // `d` begins the attribute of the day.
        Segmentation::Device => 't',
        Segmentation::Browser => 'b',
    }
}

/// The name of a counter; `None` for a metric that segments do not have.
fn counter(segment: Segment, metric: &str) -> Option<String> {
    let mut letters = METRIC_LETTERS.into_iter();
    let (_, last) = letters.find(|(name, _)| *name == metric)?;
    let (first, code) = (letter(segment.by), segment.code);
    Some(format!("{first}{code}{last}"))
}

/// What a batch adds: by the day and the counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounts(BTreeMap<String, BTreeMap<String, i64>>);

impl SegmentCounts {
    /// Adds one to a metric of a segment, if its segmentation has that metric.
    pub fn add(&mut self, day: &str, segment: Segment, metric: &str) {
        if !segment.by.metrics().contains(&metric) {
            return;
        }
        if let Some(counter) = counter(segment, metric) {
            let day = self.0.entry(day.to_owned()).or_default();
            *day.entry(counter).or_default() += 1;
        }
    }

    pub(super) fn of_day(&self, day: &str) -> impl Iterator<Item = (&str, i64)> {
        let counters = self.0.get(day).into_iter().flatten();
        counters.map(|(name, by)| (name.as_str(), *by))
    }
}

/// The code of the segment and the metric that the counter of this name is of, if the segmentation has it.
pub(super) fn segment_of(name: &str, by: Segmentation) -> Option<(&str, &'static str)> {
    let (segment, last) = name.split_at_checked(3).filter(|_| name.len() == 4)?;
    let code = segment.strip_prefix(letter(by))?;
    let mut letters = METRIC_LETTERS.into_iter();
    let (metric, _) = letters.find(|(_, letter)| last.starts_with(*letter))?;
    Some((code, metric))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::daily::METRICS;
    use super::*;

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for by in Segmentation::ALL {
            for segment in by.segments() {
                for metric in by.metrics() {
                    let name = counter(segment, metric).unwrap();
                    assert_eq!(name.len(), 4, "{name}");
                    assert!(names.insert(name), "{segment:?} {metric}");
                }
            }
        }
        let others = METRICS
            .into_iter()
            .chain(["pk", "sk", "v", "exp", "day", "category"]);
        for other in others {
            assert!(!names.contains(other), "{other}");
        }
        // Those of hours begin so.
        assert!(!names.iter().any(|name| name.starts_with('h')));
    }

    #[test]
    fn the_name_of_a_counter_says_its_segment_and_metric() {
        let by = Segmentation::MailboxProvider;
        let gmail = Segment::provider("ann@gmail.com");
        let name = counter(gmail, "delivered").unwrap();
        assert_eq!(segment_of(&name, by), Some(("gm", "delivered")));
        assert_eq!(segment_of(&name, Segmentation::Client), None);
        for other in ["delivered", "h00d", "pgm", "pgm!", "pgmdd", "p\u{e9}1", ""] {
            assert_eq!(segment_of(other, by), None, "{other}");
        }
    }

    #[test]
    fn a_metric_of_another_segmentation_is_not_counted() {
        let mut counts = SegmentCounts::default();
        let (client, browser) = (Segment::client(""), Segment::browser(""));
        for metric in ["opens", "clicks", "unsubscribes"] {
            counts.add("2026-11-30", client, metric);
            counts.add("2026-11-30", browser, metric);
        }
        let counted: Vec<_> = counts.of_day("2026-11-30").collect();
        assert_eq!(counted, [("bzzc", 1), ("czzo", 1)]);
    }
}
