//! The inside of a `{{tag}}`, word by word.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplateWord<'s> {
    /// A name, a path, a number.
    Bare(&'s str),
    Text(String),
    Open,
    Close,
    Equals,
    Bar,
}

/// Splits the inside of a tag up to its closing braces. Returns the words, whether a `~` precedes
/// the braces, and the rest of the source.
pub(crate) fn split<'s>(
    mut rest: &'s str,
    closing: &str,
) -> Result<(Vec<TemplateWord<'s>>, bool, &'s str), String> {
    let mut words = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(closing) {
            return Ok((words, false, after));
        }
        if let Some(after) = tilde(rest, closing) {
            return Ok((words, true, after));
        }
        let mut chars = rest.chars();
        let word = match chars.next() {
            None => return Err(format!("the tag is not closed with `{closing}`")),
            Some('(') => TemplateWord::Open,
            Some(')') => TemplateWord::Close,
            Some('=') => TemplateWord::Equals,
            Some('|') => TemplateWord::Bar,
            Some(quote @ ('"' | '\'')) => {
                let (text, after) = quoted(chars.as_str(), quote)?;
                words.push(TemplateWord::Text(text));
                rest = after;
                continue;
            }
            Some(_) => {
                let (bare, after) = bare(rest)?;
                words.push(TemplateWord::Bare(bare));
                rest = after;
                continue;
            }
        };
        words.push(word);
        rest = chars.as_str();
    }
}

/// `~}}`; a raw tag closes with `}~}}`.
fn tilde<'s>(rest: &'s str, closing: &str) -> Option<&'s str> {
    match closing {
        "}}}" => rest.strip_prefix("}~}}"),
        _ => rest.strip_prefix("~}}"),
    }
}

fn quoted(text: &str, quote: char) -> Result<(String, &str), String> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let Some(end) = rest.find(quote) else {
            return Err(format!("a text is not closed with {quote}"));
        };
        let (before, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        match before.strip_suffix('\\') {
            Some(before) => {
                out.push_str(before);
                out.push(quote);
            }
            None => {
                out.push_str(before);
                return Ok((out, rest));
            }
        }
    }
}

/// An unquoted word; `[anything]` in it is literal.
fn bare(text: &str) -> Result<(&str, &str), String> {
    let mut literal = false;
    for (at, c) in text.char_indices() {
        match c {
            ']' => literal = false,
            _ if literal => {}
            '[' => literal = true,
            '"' | '\'' | '{' => return Err(format!("`{c}` is out of place")),
            '(' | ')' | '=' | '|' | '~' | '}' => return cut(text, at),
            c if c.is_whitespace() => return cut(text, at),
            _ => {}
        }
    }
    if literal {
        Err("`[` is not closed".to_owned())
    } else {
        Ok((text, ""))
    }
}

fn cut(text: &str, at: usize) -> Result<(&str, &str), String> {
    match text.split_at(at) {
        ("", rest) => Err(format!(
            "`{}` is out of place",
            rest.chars().next().unwrap_or_default()
        )),
        both => Ok(both),
    }
}

/// Words before `as |a b|`, and the names between the bars.
pub(crate) fn block_names<'w, 's>(
    words: &'w [TemplateWord<'s>],
) -> Result<(&'w [TemplateWord<'s>], Vec<String>), String> {
    let Some(at) = words.iter().position(|word| *word == TemplateWord::Bar) else {
        return Ok((words, Vec::new()));
    };
    let (before, bars) = words.split_at(at);
    let (
        Some((TemplateWord::Bare("as"), values)),
        [TemplateWord::Bar, names @ .., TemplateWord::Bar],
    ) = (before.split_last(), bars)
    else {
        return Err("block names are written `as |item index|`".to_owned());
    };
    let names = names
        .iter()
        .map(|name| match name {
            TemplateWord::Bare(name) => Ok((*name).to_owned()),
            _ => Err("block names are written `as |item index|`".to_owned()),
        })
        .collect::<Result<Vec<_>, _>>()?;
    match names.len() {
        1 | 2 => Ok((values, names)),
        _ => Err("a block gives one or two names".to_owned()),
    }
}
