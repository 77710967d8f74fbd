//! Lambda entry point of `delivery`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(
        |boot| Ok(delivery::App::open(boot)?),
        |app, event| async move { Ok(delivery::handle(app, event).await) },
    )
}
