//! The names of variables.

use super::tree::{DataPath, Start};

/// `user.name`, `../name`, `this.name`, `@root.name`, `@index`, `list.0`, `[odd name].x`.
///
/// `.`, `this` and `..` come before all names, in any order and number: `./.`, `.././name`.
pub(crate) fn path(text: &str) -> Result<DataPath, String> {
    let wrong = || format!("`{text}` is not the name of a variable");
    let (mut local, mut rest) = match text.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut up = 0;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        // `../@index` is the older spelling of `@../index`.
        if let Some(after) = rest.strip_prefix('@') {
            if up == 0 || local || !segments.is_empty() {
                return Err(wrong());
            }
            (local, rest) = (true, after);
        }
        let (part, after) = part(rest).ok_or_else(wrong)?;
        let is_mark = matches!(part, PathPart::Up | PathPart::Here);
        if is_mark && !segments.is_empty() {
            return Err(wrong());
        }
        match part {
            PathPart::Up => up += 1,
            PathPart::Here => {}
            PathPart::Name("this") if !local => {
                if !segments.is_empty() {
                    return Err(wrong());
                }
            }
            PathPart::Name(name) | PathPart::Literal(name) => segments.push(name.to_owned()),
        }
        rest = match after.strip_prefix(['.', '/']) {
            Some("") if !is_mark => return Err(wrong()),
            Some(next) => next,
            None if after.is_empty() => after,
            None => return Err(wrong()),
        };
    }
    let start = if local {
        if segments.is_empty() {
            return Err(wrong());
        }
        match segments.remove(0) {
            name if name == "root" && up == 0 => Start::Root,
            name => Start::Local { name, up },
        }
    } else {
        Start::Here { up }
    };
    Ok(DataPath {
        start,
        segments,
        text: text.to_owned(),
    })
}

/// A segment between two separators.
#[derive(Clone, Copy)]
enum PathPart<'a> {
    Up,
    Here,
    Name(&'a str),
    /// `[anything]`.
    Literal(&'a str),
}

/// The part at the start and what follows it.
fn part(text: &str) -> Option<(PathPart<'_>, &str)> {
    if let Some(inner) = text.strip_prefix('[') {
        let (name, after) = inner.split_once(']')?;
        return Some((PathPart::Literal(name), after));
    }
    if let Some(after) = text.strip_prefix("..") {
        return Some((PathPart::Up, after));
    }
    if let Some(after) = text.strip_prefix('.') {
        // A dot is a part only where no name follows: `.name` is none.
        let ends = after.is_empty() || after.starts_with(['.', '/']);
        return ends.then_some((PathPart::Here, after));
    }
    let end = text.find(['.', '/']).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let legal = !name.is_empty() && !name.contains(forbidden);
    legal.then_some((PathPart::Name(name), after))
}

/// Characters that Handlebars does not allow in names.
fn forbidden(c: char) -> bool {
    c.is_whitespace() || "!\"#%&'()*+,;<=>@[\\]^`{|}~".contains(c)
}
