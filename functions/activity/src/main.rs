//! Lambda entry point of `activity`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = activity::App::from_env(platform)?;
        Ok(activity::routes(app, platform.gate()?))
    })
}
