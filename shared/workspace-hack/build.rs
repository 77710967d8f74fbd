//! Does nothing: Cargo looks at the build dependencies of those only that have a build script.

fn main() {}
