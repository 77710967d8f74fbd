//! Lambda entry point of `subusers`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|boot| {
        let app = subusers::App::from_env(boot)?;
        Ok(subusers::routes(app, boot.gate()?))
    })
}
