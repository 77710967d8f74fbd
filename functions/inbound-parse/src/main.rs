//! Lambda entry point of `inbound-parse`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(inbound_parse::App::open, |app, event| async move {
        Ok(inbound_parse::handle(app, event).await)
    })
}
