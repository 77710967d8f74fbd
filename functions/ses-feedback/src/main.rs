//! Lambda entry point of `ses-feedback`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::queue_worker(
        ses_feedback::App::from_env,
        |app| vec![&app.feedback],
        ses_feedback::handle,
    )
}
