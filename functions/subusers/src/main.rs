//! Lambda entry point of `subusers`.

fn main() -> Result<(), posthaste_runtime::Error> {
    posthaste_runtime::http(|platform| {
        let app = subusers::App::from_env(platform)?;
        Ok(subusers::routes(app, platform.gate()?))
    })
}
