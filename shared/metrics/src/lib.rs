//! The metrics of the functions and queues, and the one way to write them: [`record`].
//!
//! A metric is a field of an event whose target is [`TARGET`]. `posthaste-runtime` turns each of these
//! events into one log line from which CloudWatch creates the metrics; a terminal does not show them.

/// The target of the events that carry metrics. Only [`record`] writes to it.
pub const TARGET: &str = "metrics";

/// The list of metrics, as the variants of [`Metric`] and the fields of the event.
macro_rules! metrics {
    ($($(#[$meaning:meta])* $metric:ident => $name:ident,)*) => {
        /// A metric. Alarms and widgets in `template.yaml` watch it by [its name](Metric::name).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $($(#[$meaning])* $metric,)*
        }

        impl Metric {
            /// Every metric.
            pub const ALL: &[Self] = &[$(Self::$metric,)*];

            /// The name that CloudWatch shows. One that ends in `_ms` is a time in milliseconds, every
            /// other a count.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$metric => stringify!($name),)*
                }
            }
        }

        /// Writes these figures as one log line. A figure of zero is written, a metric that is left
        /// out is not; of a metric that is given twice, the first figure is written.
        pub fn record(figures: &[Figure]) {
            let of = |metric| {
                let given = figures.iter().find(|figure| figure.metric == metric);
                given.map(|figure| figure.value)
            };
            tracing::info!(target: TARGET, $($name = of(Metric::$metric)),*);
        }
    };
}

metrics! {
    /// Requests to send that were accepted.
    Requests => requests,
    /// Copies that they ask for.
    Accepted => accepted,
    /// Bytes of their bodies.
    AcceptedBytes => accepted_bytes,
    /// Copies that the recipient's side took.
    Delivered => delivered,
    /// Attempts that the recipient's side put off.
    Deferred => deferred,
    /// Copies that the recipient's side refused.
    Bounced => bounced,
    /// Copies that were never handed to the relay.
    Dropped => dropped,
    /// Jobs that return to the send queue.
    JobsAgain => jobs_again,
    /// Copies that were handed to the relay.
    RelayCalls => relay_calls,
    /// Copies that wait because the relay takes no mail.
    RelayTrouble => relay_trouble,
    /// Outcomes that the table could not store, and mail that waited and cannot be read.
    Unrecordable => unrecordable,
    /// Complaints that SES or a mail reports.
    SpamReports => spam_reports,
    /// Accounts that the service warns of, because too many of their mails bounce or are reported as spam.
    AccountsWarned => accounts_warned,
    /// Accounts that the service suspends for that.
    AccountsSuspended => accounts_suspended,
    /// Times that SES stopped sending, for the AWS account or a part of it.
    SendingDisabled => sending_disabled,
    /// Copies that SES has had for a day without a word about them, of one hour.
    WithoutNews => without_news,
    /// Events that come from feedback.
    FeedbackEvents => feedback_events,
    /// Posts to webhooks.
    WebhookPosts => webhook_posts,
    /// Events in these posts.
    WebhookEvents => webhook_events,
    /// The age of the oldest event at its first post.
    WebhookLagMs => webhook_lag_ms,
    /// Rows that the search wrote.
    SearchRows => search_rows,
    /// The age of the oldest due row that a sweep found in a past minute.
    OldestDueMs => oldest_due_ms,
    /// The most times that a message of a batch has returned to its queue.
    MostReturns => most_returns,
}

/// A metric and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    metric: Metric,
    value: i64,
}

impl Metric {
    /// The metric with this value; one too large is written as the largest number.
    pub fn of(self, value: impl TryInto<i64>) -> Figure {
        Figure {
            metric: self,
            value: value.try_into().unwrap_or(i64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_the_name_of_its_variant() {
        for metric in Metric::ALL {
            let words = metric.name().split('_');
            let camel = words.map(|word| {
                let (first, rest) = word.split_at(1);
                first.to_uppercase() + rest
            });
            assert_eq!(camel.collect::<String>(), format!("{metric:?}"));
        }
    }

    #[test]
    fn a_value_that_is_too_large_is_the_largest_number() {
        assert_eq!(Metric::AcceptedBytes.of(u64::MAX).value, i64::MAX);
        assert_eq!(Metric::OldestDueMs.of(-1_i64).value, -1);
        assert_eq!(Metric::Delivered.of(7_usize).value, 7);
    }
}
