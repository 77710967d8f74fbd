//! The mailboxes of an address field (RFC 5322, section 3.4), parsed so that every reader of the
//! mail sees the same ones: ambiguous fields are refused.

use posthaste_model::{EmailAddress, Mailbox};

use crate::outgoing::breaks_line;
use crate::parse::{LONGEST, WordContext, encoded, text, unfolded};

/// Why the mailboxes of a field are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A control character or a line separator, as it is or in an encoded word.
    Control,
    /// An address before or after the one in angle brackets. Some readers show it instead.
    TwoAddresses,
    /// Anything else.
    Syntax,
}

/// Whether the field holds a character that ends a line for some reader, as it is or in an encoded
/// word. Folds and tabs do not count.
pub(super) fn breaks(value: &[u8]) -> bool {
    let line = unfolded(value);
    let plain = String::from_utf8_lossy(&line);
    plain.contains(|c| breaks_line(c) && c != '\t')
        || encoded(&line).any(|words| words.contains(breaks_line))
}

/// Every mailbox of a field, including those of a group. Empty items are ignored.
///
/// # Errors
/// When one of them cannot be read, or is ambiguous.
pub(super) fn mailboxes(value: &[u8]) -> Result<Vec<Mailbox>, Unreadable> {
    if value.len() > LONGEST {
        return Err(Unreadable::Syntax);
    }
    if breaks(value) {
        return Err(Unreadable::Control);
    }
    let line = unfolded(value);
    let line = String::from_utf8_lossy(&line);
    let (mut all, mut item, mut in_group) = (Vec::new(), MailboxItem::default(), false);
    let mut rest: &str = &line;
    while let Some((token, next)) = token(rest)? {
        rest = next;
        match token {
            MailboxToken::Mark(',') => all.extend(std::mem::take(&mut item).mailbox()?),
            MailboxToken::Mark(';') if in_group => {
                all.extend(std::mem::take(&mut item).mailbox()?);
                in_group = false;
            }
            MailboxToken::Mark(':') if !in_group => {
                std::mem::take(&mut item).group()?;
                in_group = true;
            }
            other => item.take(other)?,
        }
    }
    all.extend(item.mailbox()?);
    if in_group {
        Err(Unreadable::Syntax)
    } else {
        Ok(all)
    }
}

/// A piece of a field.
enum MailboxToken<'a> {
    /// Letters up to a special or white space, or the white space itself.
    Text(&'a str),
    /// A quoted string with its quotes.
    Quoted(&'a str),
    /// The text between angle brackets.
    Angle(&'a str),
    /// The inside of a comment.
    Comment(&'a str),
    Mark(char),
}

/// The next piece and what follows it.
fn token(text: &str) -> Result<Option<(MailboxToken<'_>, &str)>, Unreadable> {
    let Some(first) = text.chars().next() else {
        return Ok(None);
    };
    let inner = text.get(first.len_utf8()..).unwrap_or_default();
    let cut = |end: Option<usize>| {
        let end = end.ok_or(Unreadable::Syntax)?;
        let (inside, rest) = inner.split_at_checked(end).ok_or(Unreadable::Syntax)?;
        Ok((inside, rest.get(1..).unwrap_or_default()))
    };
    let token = match first {
        '"' => {
            let (_, rest) = cut(closing(inner, '"', None))?;
            let length = text.len() - rest.len();
            (
                MailboxToken::Quoted(text.get(..length).unwrap_or_default()),
                rest,
            )
        }
        '<' => {
            let (inside, rest) = cut(closing(inner, '>', None))?;
            (MailboxToken::Angle(inside), rest)
        }
        '(' => {
            let (inside, rest) = cut(closing(inner, ')', Some('(')))?;
            (MailboxToken::Comment(inside), rest)
        }
        ',' | ';' | ':' | '>' | ')' | '\\' => (MailboxToken::Mark(first), inner),
        _ => {
            let end = text.find(['"', '<', '(', ',', ';', ':', '>', ')', '\\']);
            let (run, rest) = text.split_at(end.unwrap_or(text.len()));
            (MailboxToken::Text(run), rest)
        }
    };
    Ok(Some(token))
}

/// The position of the closing character: quoted characters do not count, nor do quoted strings
/// inside angle brackets, and comments may nest.
fn closing(text: &str, close: char, open: Option<char>) -> Option<usize> {
    let (mut depth, mut quoted) = (0_usize, false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '"' if close == '>' => quoted = !quoted,
            _ if quoted => {}
            c if c == close && depth == 0 => return Some(at),
            c if c == close => depth -= 1,
            c if Some(c) == open => depth += 1,
            _ => {}
        }
    }
    None
}

/// One item of the list, as far as it has been read.
#[derive(Default)]
struct MailboxItem<'a> {
    /// Texts and quoted strings outside angle brackets, in order, with whether they were quoted.
    outside: Vec<(&'a str, bool)>,
    comment: Option<&'a str>,
    angle: Option<&'a str>,
}

impl<'a> MailboxItem<'a> {
    fn take(&mut self, token: MailboxToken<'a>) -> Result<(), Unreadable> {
        match token {
            MailboxToken::Text(text) if self.angle.is_some() && !text.trim().is_empty() => {
                return Err(after_angle(text));
            }
            MailboxToken::Quoted(text) if self.angle.is_some() => return Err(after_angle(text)),
            MailboxToken::Text(text) => self.outside.push((text, false)),
            MailboxToken::Quoted(text) => self.outside.push((text, true)),
            MailboxToken::Angle(_) if self.angle.is_some() => return Err(Unreadable::TwoAddresses),
            MailboxToken::Angle(inside) => self.angle = Some(inside),
            MailboxToken::Comment(inside) => self.comment = self.comment.or(Some(inside)),
            MailboxToken::Mark(_) => return Err(Unreadable::Syntax),
        }
        Ok(())
    }

    /// The name of a group contains no address either.
    fn group(self) -> Result<(), Unreadable> {
        if self.angle.is_some() || self.unquoted().any(|text| text.contains('@')) {
            return Err(Unreadable::TwoAddresses);
        }
        Ok(())
    }

    fn unquoted(&self) -> impl Iterator<Item = &'a str> {
        let texts = self.outside.iter().filter(|(_, quoted)| !quoted);
        texts.map(|(text, _)| *text)
    }

    fn mailbox(self) -> Result<Option<Mailbox>, Unreadable> {
        let parse = |text: &str| EmailAddress::parse(text).map_err(|_| Unreadable::Syntax);
        let (email, name) = match self.angle {
            Some(inside) => {
                if self.unquoted().any(|text| text.contains('@')) {
                    return Err(Unreadable::TwoAddresses);
                }
                (parse(inside)?, self.name())
            }
            None => {
                let whole: String = self.outside.iter().map(|(text, _)| *text).collect();
                if whole.trim().is_empty() {
                    return Ok(None);
                }
                let comment = self
                    .comment
                    .map(|inside| text(inside.as_bytes(), WordContext::Text, ""));
                (parse(&whole)?, comment.unwrap_or_default())
            }
        };
        let names = self.outside.iter().map(|(text, _)| *text);
        for words in names
            .chain(self.comment)
            .flat_map(|text| encoded(text.as_bytes()))
        {
            if names_another(&words, &email) {
                return Err(Unreadable::TwoAddresses);
            }
        }
        let name = Some(name.trim()).filter(|name| !name.is_empty());
        Ok(Some(Mailbox {
            email,
            name: name.map(str::to_owned),
        }))
    }

    /// The name before the angle brackets, decoded.
    fn name(&self) -> String {
        let mut name = String::new();
        for (piece, quoted) in &self.outside {
            let decoded = if *quoted {
                unquoted(piece)
            } else {
                (*piece).to_owned()
            };
            let decoded = text(decoded.as_bytes(), WordContext::Text, "");
            if !name.is_empty() && !decoded.is_empty() {
                name.push(' ');
            }
            name.push_str(&decoded);
        }
        name
    }
}

fn after_angle(text: &str) -> Unreadable {
    if text.contains('@') {
        Unreadable::TwoAddresses
    } else {
        Unreadable::Syntax
    }
}

/// A quoted string without its quotes and backslashes (RFC 5322, section 3.2.4).
fn unquoted(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// Whether encoded words decode to an address other than the mailbox's own: a reader that decodes
/// them before it looks for the address finds that one.
fn names_another(words: &str, email: &EmailAddress) -> bool {
    let looks = |word: &str| {
        let address = word.trim_matches(|c| "<>()[],;:\"'".contains(c));
        let (left, right) = address.split_once('@').unwrap_or_default();
        !left.is_empty() && !right.is_empty() && !address.eq_ignore_ascii_case(email.as_str())
    };
    words.contains(['<', '>']) || words.split_whitespace().any(looks)
}

#[cfg(test)]
#[path = "mailboxes_tests.rs"]
mod tests;
