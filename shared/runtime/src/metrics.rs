//! Metrics for CloudWatch, in its embedded metric format: a log line from which CloudWatch creates
//! metrics, with no call and no agent.
//!
//! `posthaste-metrics` has the metrics, and writes them as events whose fields are numbers. They go
//! into the namespace `Posthaste`, by stack.

use std::fmt::Debug;
use std::io::Write;

use posthaste_metrics::TARGET;
use posthaste_model::Clock;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;

/// Writes metrics, one line for each event.
pub(crate) struct Embedded<W> {
    pub stack: String,
    pub clock: Clock,
    pub writer: W,
}

impl<S, W> Layer<S> for Embedded<W>
where
    S: Subscriber,
    W: for<'w> MakeWriter<'w> + 'static,
{
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != TARGET {
            return;
        }
        let mut figures = Figures::default();
        event.record(&mut figures);
        if let Some(line) = line(figures.0, &self.stack, self.clock.now_ms().0) {
            // A failure to write a metric must not stop the work that it counts.
            let _ = writeln!(self.writer.make_writer(), "{line}");
        }
    }
}

/// The line; `at` is in milliseconds. `None` without any metric.
fn line(figures: Map<String, Value>, stack: &str, at: i64) -> Option<Value> {
    if figures.is_empty() {
        return None;
    }
    let unit = |name: &str| {
        if name.ends_with("_ms") {
            "Milliseconds"
        } else {
            "Count"
        }
    };
    let metrics: Vec<Value> = figures
        .keys()
        .map(|name| json!({"Name": name, "Unit": unit(name)}))
        .collect();
    let mut line = figures;
    line.insert("Stack".to_owned(), json!(stack));
    line.insert(
        "_aws".to_owned(),
        json!({
            "Timestamp": at,
            "CloudWatchMetrics": [{
                "Namespace": "Posthaste",
                "Dimensions": [["Stack"]],
                "Metrics": metrics,
            }],
        }),
    );
    Some(Value::Object(line))
}

/// The numbers among the fields of an event.
#[derive(Default)]
struct Figures(Map<String, Value>);

impl Visit for Figures {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    // Text is not a metric, and may be personal data.
    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

#[cfg(test)]
mod tests {
    use posthaste_metrics::Metric;
    use posthaste_model::Millis;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::test_writer::TestWriter;

    fn written(log: impl FnOnce()) -> Vec<Value> {
        let page = TestWriter::default();
        let copy = page.clone();
        let layer = Embedded {
            stack: "mine".to_owned(),
            clock: Clock::new(|| Millis(1_700_000_000_123)),
            writer: move || copy.clone(),
        };
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, log);
        page.lines()
    }

    #[test]
    fn figures_become_one_line_that_cloudwatch_reads() {
        let lines = written(|| {
            posthaste_metrics::record(&[
                Metric::WebhookLagMs.of(1500),
                Metric::Delivered.of(3_usize),
            ]);
        });
        assert_eq!(
            lines,
            [json!({
                "_aws": {
                    "Timestamp": 1_700_000_000_123_i64,
                    "CloudWatchMetrics": [{
                        "Namespace": "Posthaste",
                        "Dimensions": [["Stack"]],
                        "Metrics": [
                            {"Name": "delivered", "Unit": "Count"},
                            {"Name": "webhook_lag_ms", "Unit": "Milliseconds"},
                        ],
                    }],
                },
                "Stack": "mine",
                "delivered": 3,
                "webhook_lag_ms": 1500,
            })]
        );
    }

    #[test]
    fn every_metric_keeps_its_line() {
        let line = |metric: &Metric, unit: &str| {
            let name = metric.name();
            format!(
                r#"{{"Stack":"mine","_aws":{{"CloudWatchMetrics":[{{"Dimensions":[["Stack"]],"Metrics":[{{"Name":"{name}","Unit":"{unit}"}}],"Namespace":"Posthaste"}}],"Timestamp":1700000000123}},"{name}":0}}"#
            )
        };
        let lines = written(|| {
            for metric in Metric::ALL {
                posthaste_metrics::record(&[metric.of(0)]);
            }
        });
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let times = [Metric::WebhookLagMs, Metric::OldestDueMs];
        let wanted = Metric::ALL.iter().map(|metric| {
            let is_time = times.contains(metric);
            line(metric, if is_time { "Milliseconds" } else { "Count" })
        });
        assert_eq!(lines, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn texts_and_other_events_are_no_figures() {
        let lines = written(|| {
            tracing::info!(delivered = 3_u64, "not for here");
            tracing::info!(target: TARGET, who = "ada@example.com");
        });
        assert_eq!(lines, Vec::<Value>::new());
    }
}
