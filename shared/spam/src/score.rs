//! The result of a filter, and why there is none.

/// A filter's verdict on a mail.
#[derive(Clone, Debug, PartialEq)]
pub struct SpamScore {
    pub score: f64,
    /// From this score on a mail is spam.
    pub threshold: f64,
    /// For display: the rules that matched, a line each.
    pub report: String,
}

impl SpamScore {
    /// Whether the score reaches the threshold.
    pub fn is_spam(&self) -> bool {
        self.score >= self.threshold
    }
}

/// A rule that matched.
#[derive(Clone, Debug, PartialEq)]
pub struct SpamRule {
    pub score: f64,
    pub name: String,
    pub description: String,
}

/// Rules of a report that are read.
const MOST_RULES: usize = 500;

impl SpamScore {
    /// The rules of the report, in its order: lines of points, a name and a description, which lines without points
    /// go on with.
    pub fn rules(&self) -> Vec<SpamRule> {
        let mut rules: Vec<SpamRule> = Vec::new();
        let lines = self.report.lines();
        // The rules are below the last line of dashes.
        let head = lines
            .clone()
            .filter(|line| line.starts_with("----"))
            .count();
        let below = lines.scan(0, |seen, line| {
            let is_head = line.starts_with("----");
            *seen += usize::from(is_head);
            Some((*seen >= head && !is_head).then_some(line))
        });
        for line in below.flatten() {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            let score = first.parse().ok().filter(|score: &f64| score.is_finite());
            let rest: Vec<_> = words.collect();
            if let (Some(score), Some((name, description))) = (score, rest.split_first()) {
                rules.push(SpamRule {
                    score,
                    name: (*name).to_owned(),
                    description: description.join(" "),
                });
            } else if let Some(last) = rules.last_mut().filter(|_| line.starts_with(' ')) {
                last.description.push(' ');
                last.description.push_str(line.trim());
            }
            if rules.len() >= MOST_RULES {
                break;
            }
        }
        rules
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum SpamError {
    #[error("the mail is larger than a spam filter is asked about")]
    TooLarge,
    #[error("the spam filter did not answer in time")]
    Timeout,
    #[error("the spam filter cannot be reached: {0}")]
    Unreachable(String),
    #[error("the spam filter answered: {0}")]
    Refused(String),
    #[error("the spam filter's answer cannot be read")]
    Garbled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_a_report_are_read() {
        let report = "Spam detection software, running on the system \"mail\",\n\
            Content analysis details:   (4.5 points, 5.0 required)\n\n \
            pts rule name              description\n\
            ---- ---------------------- ------------------------------\n\
            -0.0 NORELAYS              Informational: message was not\n                            \
            relayed via SMTP\n 3.5 BAYES99               BODY: Bayes spam\n\n";
        let verdict = SpamScore {
            score: 4.5,
            threshold: 5.0,
            report: report.to_owned(),
        };
        let rules = verdict.rules();
        let found: Vec<_> = rules
            .iter()
            .map(|rule| (rule.score, rule.name.as_str(), rule.description.as_str()))
            .collect();
        let want = [
            (
                -0.0,
                "NORELAYS",
                "Informational: message was not relayed via SMTP",
            ),
            (3.5, "BAYES99", "BODY: Bayes spam"),
        ];
        assert_eq!(found, want);
    }

    #[test]
    fn a_report_in_another_form_has_no_rules() {
        for report in ["", "no rules", "----\n----", "nan RULE text", "1.0"] {
            let verdict = SpamScore {
                score: 0.0,
                threshold: 5.0,
                report: report.to_owned(),
            };
            assert_eq!(verdict.rules(), [], "{report}");
        }
    }
}
