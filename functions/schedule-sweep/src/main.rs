//! Lambda entry point of `schedule-sweep`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::worker(schedule_sweep::App::from_env, |app, event| async move {
        schedule_sweep::handle(app, event).await
    })
}
