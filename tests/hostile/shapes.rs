//! What the inputs look like. Each is made when it is needed, for all of them together do not fit
//! into the memory of a small machine.

mod html;
mod json;
mod mails;
mod reports;
mod template;

pub(crate) use html::{html, text};
pub(crate) use json::json;
pub(crate) use mails::{bodies, mails, structures};
pub(crate) use reports::{bounces, reports};
pub(crate) use template::{data, templates};

/// A mail, and a request as received (SPEC, "Limits").
pub(crate) const MAIL: usize = 30 << 20;

/// A name, and the input.
pub(crate) type Shape = (&'static str, Box<dyn Fn(usize) -> String + Send>);

/// `unit` as often as it fits into `size` bytes.
pub(crate) fn fill(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len().max(1))
}

/// `unit(n)` for each n as long as it fits.
pub(crate) fn count(size: usize, unit: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(size);
    for n in 0.. {
        let next = unit(n);
        if out.len() + next.len() > size {
            break;
        }
        out.push_str(&next);
    }
    out
}

/// One text, a unit over and over, and another text.
pub(crate) fn run(
    name: &'static str,
    before: &'static str,
    unit: &'static str,
    after: &'static str,
) -> Shape {
    let make = move |size: usize| {
        let rest = size.saturating_sub(before.len() + after.len());
        format!("{before}{}{after}", fill(unit, rest))
    };
    (name, Box::new(make))
}

/// A shape that needs more than a unit.
pub(crate) fn made(name: &'static str, make: impl Fn(usize) -> String + Send + 'static) -> Shape {
    (name, Box::new(make))
}
