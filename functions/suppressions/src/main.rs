//! Lambda entry point of `suppressions`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = suppressions::App::from_env(boot)?;
        Ok(suppressions::routes(app, boot.gate()?))
    })
}
