//! Log lines for CloudWatch: one flat JSON object each, so that `filter account.id = "…"` finds them.
//!
//! A line holds `level`, `message`, the fields of its event and those of the spans around it; of
//! two with the same name, the innermost counts. The time is left out, because CloudWatch adds it.
//! The names are shared by the whole workspace: `account.id`, `message.id`, `batch.id`,
//! `webhook.id`, `job.id`, `event.kind`, `attempt.no`, `attempt.duration_ms`, `http.status`,
//! `http.route`, `http.request_id`, `queue.name`, `aws.request_id`, `aws.trace_id`, `error`.

use std::fmt::Debug;
use std::io::Write;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Writes lines.
pub(crate) struct JsonLogLayer<W> {
    pub writer: W,
}

impl<S, W> Layer<S> for JsonLogLayer<W>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> MakeWriter<'w> + 'static,
{
    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = LogFields::default();
        span.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        if let Some(fields) = span.extensions_mut().get_mut::<LogFields>() {
            record.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = event.metadata().level();
        let mut line = LogFields(Map::from_iter([(
            "level".to_owned(),
            json!(level.as_str()),
        )]));
        let spans = context.event_scope(event).into_iter();
        for span in spans.flat_map(|spans| spans.from_root()) {
            if let Some(LogFields(fields)) = span.extensions().get() {
                line.0.extend(fields.clone());
            }
        }
        event.record(&mut line);
        // A failure to log must not stop the work that the line is about.
        let _ = writeln!(self.writer.make_writer(), "{}", Value::Object(line.0));
    }
}

/// The fields of an event or a span.
#[derive(Default)]
struct LogFields(Map<String, Value>);

impl LogFields {
    fn set(&mut self, field: &Field, value: Value) {
        // Fields that Lambda's runtime names differently.
        let name = match field.name() {
            "requestId" => "aws.request_id",
            "xrayTraceId" => "aws.trace_id",
            name => name,
        };
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for LogFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use tracing::field::Empty;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;
    use crate::test_writer::TestWriter;

    fn written(log: impl FnOnce()) -> Vec<Value> {
        let page = TestWriter::default();
        let copy = page.clone();
        let lines = JsonLogLayer {
            writer: move || copy.clone(),
        };
        let subscriber = tracing_subscriber::registry().with(lines);
        tracing::subscriber::with_default(subscriber, log);
        page.lines()
    }

    #[test]
    fn a_line_holds_what_the_spans_around_it_know() {
        let lines = written(|| {
            let outer = tracing::info_span!("invoke", requestId = "8476a536", account.id = "outer");
            let _outer = outer.enter();
            let inner = tracing::info_span!("job", account.id = Empty, message.id = Empty);
            let _inner = inner.enter();
            inner.record("account.id", tracing::field::display("a1"));
            tracing::warn!(attempt.no = 2, error = %"no \"answer\"\n", "message {} must wait", "m1");
        });
        assert_eq!(
            lines,
            [json!({
                "level": "WARN",
                "message": "message m1 must wait",
                "aws.request_id": "8476a536",
                "account.id": "a1",
                "attempt.no": 2,
                "error": "no \"answer\"\n",
            })]
        );
    }

    #[test]
    fn a_line_outside_every_span_stands_alone() {
        let lines = written(|| tracing::info!(done = true, share = 0.5, "ready"));
        let want = json!({"level": "INFO", "message": "ready", "done": true, "share": 0.5});
        assert_eq!(lines, [want]);
    }
}
