//! Lambda entry point of `webhook-fanout`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::queue_worker(
        webhook_fanout::App::from_env,
        |app| vec![&app.events, &app.retries],
        webhook_fanout::handle,
    )
}
