//! Lambda entry point of `tracking`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = tracking::App::from_env(boot)?;
        Ok(tracking::routes(app, boot.gate()?))
    })
}
