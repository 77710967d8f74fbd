//! The words of a tag: constants, variables, and helpers that return a value.

use super::path::path;
use super::tree::Expr;
use super::words::TemplateWord;

/// How deep parentheses may nest.
const DEEPEST: usize = 8;

/// Reads values from a list of words.
pub(crate) struct Values<'w, 's> {
    words: &'w [TemplateWord<'s>],
    depth: usize,
}

impl<'w, 's> Values<'w, 's> {
    pub(crate) fn new(words: &'w [TemplateWord<'s>]) -> Self {
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

    fn value(&mut self, word: &TemplateWord<'s>) -> Result<Expr, String> {
        match word {
            TemplateWord::Bare(text) => {
                if self.words.first() == Some(&TemplateWord::Equals) {
                    return Err(format!("`{text}=` is not supported: give values in order"));
                }
                literal(text)
            }
            TemplateWord::Text(text) => Ok(Expr::Text(text.clone())),
            TemplateWord::Open => self.call(),
            TemplateWord::Close => Err("`)` without `(`".to_owned()),
            TemplateWord::Equals => Err("`=` is out of place".to_owned()),
            TemplateWord::Bar => Err("`|` is out of place".to_owned()),
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
        let Some((TemplateWord::Bare(name), mut rest)) = self.words.split_first() else {
            return Err("a helper's name is missing after `(`".to_owned());
        };
        let mut values = Vec::new();
        loop {
            let Some((word, after)) = rest.split_first() else {
                return Err("`(` is not closed".to_owned());
            };
            self.words = after;
            if *word == TemplateWord::Close {
                self.depth -= 1;
                return helper(name, values);
            }
            values.push(self.value(word)?);
            rest = self.words;
        }
    }
}

/// A helper that returns a value.
pub(crate) fn helper(name: &str, values: Vec<Expr>) -> Result<Expr, String> {
    match name {
        "length" => match <[Expr; 1]>::try_from(values) {
            Ok([value]) => Ok(Expr::Length(Box::new(value))),
            Err(values) => Err(arity("length", "1 value", values.len())),
        },
        "lookup" => match <[Expr; 2]>::try_from(values) {
            Ok([from, key]) => Ok(Expr::Lookup {
                from: Box::new(from),
                key: Box::new(key),
            }),
            Err(values) => Err(arity("lookup", "a variable and a key", values.len())),
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

/// An unquoted word: a constant or a path.
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
