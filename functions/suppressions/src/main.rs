//! Lambda entry point of `suppressions`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = suppressions::App::from_env(platform)?;
        Ok(suppressions::routes(app, platform.gate()?))
    })
}
