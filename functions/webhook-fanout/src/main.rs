//! Lambda entry point of `webhook-fanout`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(webhook_fanout::App::open, |app, event| async move {
        Ok(webhook_fanout::handle(app, event).await)
    })
}
