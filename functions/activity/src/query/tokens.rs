//! The words of a query.

use super::InvalidQuery;

/// The longest query that is read, in bytes.
const LONGEST: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QueryToken {
    /// A bare word: a field, `AND`, a number.
    Word(String),
    /// A quoted text.
    Text(String),
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`.
    Sign(&'static str),
    Open,
    Close,
    /// `[`, before the name of a custom argument.
    OpenName,
    /// `]`.
    CloseName,
    Comma,
}

impl QueryToken {
    /// As an error shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Text(text) => format!("\"{text}\""),
            Self::Sign(sign) => (*sign).to_owned(),
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::OpenName => "[".to_owned(),
            Self::CloseName => "]".to_owned(),
            Self::Comma => ",".to_owned(),
        }
    }
}

/// Cuts a text into words.
pub(super) fn tokens(text: &str) -> Result<Vec<QueryToken>, InvalidQuery> {
    // `<>` is another way to write `!=`; longer signs come first.
    const SIGNS: [(&str, &str); 8] = [
        ("!=", "!="),
        ("<>", "!="),
        ("<=", "<="),
        (">=", ">="),
        ("==", "="),
        ("=", "="),
        ("<", "<"),
        (">", ">"),
    ];
    if text.len() > LONGEST {
        let why = format!("a query has at most {LONGEST} bytes");
        return Err(InvalidQuery(why));
    }
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        let length = if let Some((sign, meaning)) = sign {
            found.push(QueryToken::Sign(meaning));
            sign.len()
        } else if c == '"' || c == '\'' {
            let (text, length) = quoted(rest, c)?;
            found.push(QueryToken::Text(text));
            length
        } else if let Some(token) = single(c) {
            found.push(token);
            c.len_utf8()
        } else if is_word(c) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = rest.get(..end).unwrap_or_default();
            found.push(QueryToken::Word(word.to_owned()));
            end
        } else {
            return Err(InvalidQuery(format!("unexpected '{}'", c.escape_debug())));
        };
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(found)
}

fn single(c: char) -> Option<QueryToken> {
    match c {
        '(' => Some(QueryToken::Open),
        ')' => Some(QueryToken::Close),
        '[' => Some(QueryToken::OpenName),
        ']' => Some(QueryToken::CloseName),
        ',' => Some(QueryToken::Comma),
        _ => None,
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ':')
}

/// The text between quotes, and its length with them. A backslash escapes the next character.
fn quoted(rest: &str, quote: char) -> Result<(String, usize), InvalidQuery> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Ok((text, at + c.len_utf8()));
        }
        match c {
            '\\' => text.extend(chars.next().map(|(_, kept)| kept)),
            other => text.push(other),
        }
    }
    Err(InvalidQuery("a quote is not closed".to_owned()))
}
