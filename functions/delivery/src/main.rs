//! Lambda entry point of `delivery`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::queue_worker(
        delivery::App::from_env,
        |app| vec![&app.send],
        delivery::handle,
    )
}
