//! Lambda entry point of `inbound-parse`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::queue_worker(
        inbound_parse::App::from_env,
        |app| vec![&app.inbound],
        inbound_parse::handle,
    )
}
