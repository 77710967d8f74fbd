//! Lambda entry point of `activity`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = activity::App::from_env(boot)?;
        Ok(activity::routes(app, boot.gate()?))
    })
}
