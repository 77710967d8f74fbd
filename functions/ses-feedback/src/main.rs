//! Lambda entry point of `ses-feedback`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(
        |boot| Ok(ses_feedback::App::open(boot)?),
        |app, event| async move { Ok(ses_feedback::handle(app, event).await) },
    )
}
