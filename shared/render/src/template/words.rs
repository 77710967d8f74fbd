//! The inside of a `{{tag}}`: its words, and what they mean.

use super::tree::{Expr, Path, Start};

/// How deep parentheses may nest.
const DEEPEST: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word<'s> {
    /// A name, a path, a number.
    Bare(&'s str),
    Text(String),
    Open,
    Close,
    Equals,
    Bar,
}

/// Splits the inside of a tag up to its closing braces. Answers the words, whether a `~` stood
/// before the braces, and what is left of the source.
pub(crate) fn split<'s>(
    mut rest: &'s str,
    closing: &str,
) -> Result<(Vec<Word<'s>>, bool, &'s str), String> {
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
            Some('(') => Word::Open,
            Some(')') => Word::Close,
            Some('=') => Word::Equals,
            Some('|') => Word::Bar,
            Some(quote @ ('"' | '\'')) => {
                let (text, after) = quoted(chars.as_str(), quote)?;
                words.push(Word::Text(text));
                rest = after;
                continue;
            }
            Some(_) => {
                let (bare, after) = bare(rest)?;
                words.push(Word::Bare(bare));
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

/// A word without quotes; `[anything]` in it stands for itself.
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

/// Reads values off a list of words.
pub(crate) struct Values<'w, 's> {
    words: &'w [Word<'s>],
    depth: usize,
}

impl<'w, 's> Values<'w, 's> {
    pub(crate) fn new(words: &'w [Word<'s>]) -> Self {
        Self { words, depth: 0 }
    }

    /// Every value up to the end.
    pub(crate) fn all(mut self) -> Result<Vec<Expr>, String> {
        let mut values = Vec::new();
        while let Some((word, rest)) = self.words.split_first() {
            self.words = rest;
            values.push(self.value(word)?);
        }
        Ok(values)
    }

    fn value(&mut self, word: &Word<'s>) -> Result<Expr, String> {
        match word {
            Word::Bare(text) => {
                if self.words.first() == Some(&Word::Equals) {
                    return Err(format!("`{text}=` is not supported: give values in order"));
                }
                literal(text)
            }
            Word::Text(text) => Ok(Expr::Text(text.clone())),
            Word::Open => self.call(),
            Word::Close => Err("`)` without `(`".to_owned()),
            Word::Equals => Err("`=` is out of place".to_owned()),
            Word::Bar => Err("`|` is out of place".to_owned()),
        }
    }

    /// A helper in parentheses.
    fn call(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!(
                "more than {DEEPEST} parentheses inside one another"
            ));
        }
        let Some((Word::Bare(name), mut rest)) = self.words.split_first() else {
            return Err("a helper's name is missing after `(`".to_owned());
        };
        let mut values = Vec::new();
        loop {
            let Some((word, after)) = rest.split_first() else {
                return Err("`(` is not closed".to_owned());
            };
            self.words = after;
            if *word == Word::Close {
                self.depth -= 1;
                return helper(name, values);
            }
            values.push(self.value(word)?);
            rest = self.words;
        }
    }
}

/// A helper that gives a value.
pub(crate) fn helper(name: &str, values: Vec<Expr>) -> Result<Expr, String> {
    match name {
        "length" => match <[Expr; 1]>::try_from(values) {
            Ok([value]) => Ok(Expr::Length(Box::new(value))),
            Err(values) => Err(arity("length", "1 value", values.len())),
        },
        "insert" => insert(values),
        "formatDate" => format_date(values),
        "if" | "unless" | "each" | "with" | "equals" | "notEquals" | "greaterThan" | "lessThan"
        | "and" | "or" => Err(format!("`{name}` is a block: write {{{{#{name} …}}}}")),
        "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "not" => Err(format!(
            "`{name}` is not supported: use the blocks equals, notEquals, greaterThan, lessThan, and, or, unless"
        )),
        _ => Err(format!(
            "`{name}` is not a helper (and the name of a variable holds no spaces)"
        )),
    }
}

pub(crate) fn arity(name: &str, wants: &str, has: usize) -> String {
    format!("`{name}` takes {wants}, not {has}")
}

/// `insert name "default=there"`; the default may come without its prefix.
fn insert(values: Vec<Expr>) -> Result<Expr, String> {
    let [value, default] = <[Expr; 2]>::try_from(values)
        .map_err(|values| arity("insert", "a variable and a default", values.len()))?;
    let default = match default {
        Expr::Text(text) => Expr::Text(match text.strip_prefix("default=") {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        other => other,
    };
    Ok(Expr::Insert {
        value: Box::new(value),
        default: Box::new(default),
    })
}

fn format_date(values: Vec<Expr>) -> Result<Expr, String> {
    let count = values.len();
    let mut values = values.into_iter().map(Box::new);
    match (values.next(), values.next(), values.next(), values.next()) {
        (Some(at), form, offset, None) => Ok(Expr::FormatDate { at, form, offset }),
        _ => Err(arity("formatDate", "a time, a format and an offset", count)),
    }
}

/// Words before `as |a b|`, and the names between the bars.
pub(crate) fn block_names<'w, 's>(
    words: &'w [Word<'s>],
) -> Result<(&'w [Word<'s>], Vec<String>), String> {
    let Some(at) = words.iter().position(|word| *word == Word::Bar) else {
        return Ok((words, Vec::new()));
    };
    let (before, bars) = words.split_at(at);
    let (Some((Word::Bare("as"), values)), [Word::Bar, names @ .., Word::Bar]) =
        (before.split_last(), bars)
    else {
        return Err("block names are written `as |item index|`".to_owned());
    };
    let names = names
        .iter()
        .map(|name| match name {
            Word::Bare(name) => Ok((*name).to_owned()),
            _ => Err("block names are written `as |item index|`".to_owned()),
        })
        .collect::<Result<Vec<_>, _>>()?;
    match names.len() {
        1 | 2 => Ok((values, names)),
        _ => Err("a block gives one or two names".to_owned()),
    }
}

/// A word that is no quoted text: a constant or a path.
pub(crate) fn literal(text: &str) -> Result<Expr, String> {
    Ok(match text {
        "true" => Expr::Bool(true),
        "false" => Expr::Bool(false),
        "null" | "undefined" => Expr::Null,
        _ => match number(text) {
            Some(value) => Expr::Number {
                value,
                text: text.to_owned(),
            },
            None => Expr::Path(path(text)?),
        },
    })
}

/// `-?[0-9]+(.[0-9]+)?`, with the `+` that an offset may have.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if all_digits(whole) && all_digits(fraction) {
        text.parse().ok()
    } else {
        None
    }
}

/// `user.name`, `../name`, `this.name`, `@root.name`, `@index`, `list.0`, `[odd name].x`.
pub(crate) fn path(text: &str) -> Result<Path, String> {
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
    Ok(Path {
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

/// What Handlebars keeps out of names.
fn forbidden(c: char) -> bool {
    c.is_whitespace() || "!\"#%&'()*+,;<=>@[\\]^`{|}~".contains(c)
}
