//! Writes down every path that the template routes: this function answers for all of them when the
//! method is wrong.

use std::error::Error;
use std::fmt::Write as _;
use std::{env, fs};

const TEMPLATE: &str = "../../template.yaml";

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where to write by a variable"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let template = fs::read_to_string(TEMPLATE)?;
    let lines = template.lines().map(str::trim);
    let mut paths: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("Path: "))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() {
        return Err("the template routes nothing".into());
    }

    let mut code = String::from("/// Every path of the service.\nconst PATHS: &[&str] = &[\n");
    for path in paths {
        writeln!(code, "    {path:?},")?;
    }
    code.push_str("];\n");
    fs::write(format!("{}/paths.rs", env::var("OUT_DIR")?), code)?;
    emit(&format!("cargo::rerun-if-changed={TEMPLATE}"));
    emit("cargo::rerun-if-changed=build.rs");
    Ok(())
}

/// How a build script speaks to cargo.
fn emit(line: &str) {
    println!("{line}");
}
