//! The names of variables.

use super::tree::{DataPath, Start};

/// `user.name`, `../name`, `this.name`, `@root.name`, `@index`, `list.0`, `[odd name].x`.
pub(crate) fn path(text: &str) -> Result<DataPath, String> {
    let wrong = || format!("`{text}` is not the name of a variable");
    let (local, mut rest) = match text.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut up = 0;
    while let Some(after) = rest.strip_prefix("..") {
        match after.strip_prefix(['/', '.']) {
            Some(after) => rest = after,
            None if after.is_empty() => rest = "",
            None => return Err(wrong()),
        }
        up += 1;
    }
    // `../@index` is the older spelling of `@../index`.
    let local = match rest.strip_prefix('@') {
        Some(after) if up > 0 && !local => {
            rest = after;
            true
        }
        Some(_) => return Err(wrong()),
        None => local,
    };
    let mut segments = segments(rest).ok_or_else(wrong)?;
    if segments
        .first()
        .is_some_and(|first| !local && (first == "this" || first == "."))
        && !rest.starts_with('[')
    {
        segments.remove(0);
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

fn segments(text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = text;
    if rest == "." {
        return Some(vec![".".to_owned()]);
    }
    if let Some(after) = rest.strip_prefix("./") {
        rest = after;
    }
    while !rest.is_empty() {
        let after = if let Some(inner) = rest.strip_prefix('[') {
            let (segment, after) = inner.split_once(']')?;
            segments.push(segment.to_owned());
            after
        } else {
            let end = rest.find(['.', '/']).unwrap_or(rest.len());
            let (segment, after) = rest.split_at(end);
            if segment.is_empty() || segment.contains(forbidden) {
                return None;
            }
            segments.push(segment.to_owned());
            after
        };
        rest = match after.strip_prefix(['.', '/']) {
            Some("") => return None,
            Some(next) => next,
            None if after.is_empty() => after,
            None => return None,
        };
    }
    Some(segments)
}

/// Characters that Handlebars does not allow in names.
fn forbidden(c: char) -> bool {
    c.is_whitespace() || "!\"#%&'()*+,;<=>@[\\]^`{|}~".contains(c)
}
