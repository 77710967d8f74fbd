//! Lambda entry point of `first-account`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(first_account::App::from_env, |app, request| async move {
        first_account::handle(app, request).await
    })
}
