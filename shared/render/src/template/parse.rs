//! Parses a Handlebars template to its tree, in one pass over the text.
//!
//! The parser of the `handlebars` crate is not used: it finds the line of every word by counting
//! from the top, so a template of 73 KB with 2,000 tags takes it 1.5 s and one of 732 KB takes
//! minutes; and it supports neither `{{#greaterThan length items 0}}` as a call nor `-0800` as an
//! offset. Templates that both accept, both render alike (`tests/handlebars.rs`).

use std::ops::Range;

use super::block::{BlockHead, OpenBlock, Slot, condition, head, with_length};
use super::expr::{self, Values};
use super::path::path;
use super::tree::{Expr, Node};
use super::words::{self, TemplateWord};

/// How deep blocks may nest.
const DEEPEST: usize = 64;

/// An error and its line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// Reads a whole template.
pub(crate) fn parse(source: &str) -> Result<Vec<Node>, Fault> {
    let mut parser = Parser {
        source,
        at: 0,
        line: 1,
        text: String::new(),
        trim: Trim::Nothing,
        nodes: Vec::new(),
        open: Vec::new(),
    };
    match parser.run() {
        Ok(()) => Ok(parser.nodes),
        Err(reason) => Err(Fault {
            line: parser.line,
            reason,
        }),
    }
}

/// The white space that the preceding tag removes from the text after it.
#[derive(Clone, Copy, PartialEq)]
enum Trim {
    Nothing,
    /// The rest of the line a block tag stood alone on.
    Line,
    /// All white space, for `~`.
    All,
}

struct Parser<'s> {
    source: &'s str,
    /// Up to here the source is read.
    at: usize,
    /// The line of `at`, then of the current tag.
    line: usize,
    /// Text since the last tag.
    text: String,
    trim: Trim,
    nodes: Vec<Node>,
    open: Vec<OpenBlock>,
}

/// The kind of a tag, from its first characters.
enum TagKind {
    Comment,
    Raw,
    Value,
    Open,
    Inverse,
    Close,
}

impl<'s> Parser<'s> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(found) = self.rest().find("{{") {
            let before = self.rest().get(..found).unwrap_or_default();
            self.line += count_lines(before);
            self.at += found;
            // `\{{` is text; `\\{{` is a backslash before a tag.
            match before.strip_suffix('\\') {
                Some(before) if !before.ends_with('\\') => {
                    self.text.push_str(before);
                    self.text.push_str("{{");
                    self.at += 2;
                }
                Some(before) => {
                    self.text.push_str(before);
                    self.tag()?;
                }
                None => {
                    self.text.push_str(before);
                    self.tag()?;
                }
            }
        }
        let rest = self.rest();
        self.text.push_str(rest);
        self.flush(false, false);
        match self.open.pop() {
            None => Ok(()),
            Some(block) => {
                self.line = block.line;
                Err(format!("{{{{#{}}}}} is not closed", block.name))
            }
        }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Reads the tag at `at`.
    fn tag(&mut self) -> Result<(), String> {
        let start = self.at;
        let inner = self.rest().get(2..).unwrap_or_default();
        if inner.starts_with("{{") {
            return Err("raw blocks are not supported".to_owned());
        }
        let (left, inner) = match inner.strip_prefix('~') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let (kind, inner) = kind(inner)?;
        let (words, right, after) = match kind {
            TagKind::Comment => {
                let (right, after) = comment(inner)?;
                (Vec::new(), right, after)
            }
            TagKind::Raw if inner.starts_with('{') => {
                words::split(inner.get(1..).unwrap_or_default(), "}}}")?
            }
            TagKind::Raw => words::split(inner.get(1..).unwrap_or_default(), "}}")?,
            TagKind::Value | TagKind::Open | TagKind::Inverse | TagKind::Close => {
                words::split(inner, "}}")?
            }
        };
        let end = self.source.len() - after.len();
        let is_else = matches!(kind, TagKind::Value)
            && words.first() == Some(&TemplateWord::Bare("else"))
            || matches!(kind, TagKind::Inverse) && words.is_empty();
        let standing = !matches!(kind, TagKind::Value | TagKind::Raw) || is_else;
        let alone = standing && self.begins_line(start) && self.ends_line(end);
        let is_close = matches!(kind, TagKind::Close);
        let alone = match self.open.last_mut().filter(|block| block.is_chain()) {
            Some(_) if is_close || is_else => self.in_chain(start..end, is_close, left, alone),
            Some(_) | None => {
                self.flush(left, alone);
                alone
            }
        };
        self.trim = match (right, alone) {
            (true, _) => Trim::All,
            (false, true) => Trim::Line,
            (false, false) => Trim::Nothing,
        };
        match kind {
            TagKind::Comment => {}
            _ if is_else => {
                let condition = words.get(1..).unwrap_or_default();
                self.otherwise(condition)?;
                let block = self.open.last_mut().filter(|_| !condition.is_empty());
                block.into_iter().for_each(|block| block.tildes.push(left));
            }
            TagKind::Value => self.value(&words, false)?,
            TagKind::Raw => self.value(&words, true)?,
            TagKind::Open => self.begin(&words, false)?,
            TagKind::Inverse => self.begin(&words, true)?,
            TagKind::Close => self.close(&words)?,
        }
        self.line += count_lines(self.source.get(start..end).unwrap_or_default());
        self.at = end;
        Ok(())
    }

    /// Ends a branch of an `else if` chain; returns whether the rest of the line goes.
    ///
    /// handlebars.js, which renders the rest of a chain as a block in its `else`, judges the closing
    /// tag by the end of the first `else if` branch, and leaves the blanks before it.
    fn in_chain(&mut self, tag: Range<usize>, is_close: bool, left: bool, alone: bool) -> bool {
        let (before, after) = (self.begins_line(tag.start), self.ends_line(tag.end));
        let Some(block) = self.open.last_mut() else {
            return alone;
        };
        let first = *block.ends_line.get_or_insert(before);
        let (trim, blanks, alone) = if is_close {
            (block.trim_branches(left), false, first && after)
        } else {
            (left, alone, alone)
        };
        self.flush(trim, blanks);
        alone
    }

    /// Whether nothing but blanks shares the line before a tag.
    fn begins_line(&self, start: usize) -> bool {
        let before = self.source.get(..start).unwrap_or_default();
        let before = before.trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// Whether nothing but blanks shares the line after a tag.
    fn ends_line(&self, end: usize) -> bool {
        let after = self.source.get(end..).unwrap_or_default();
        let after = after.trim_start_matches([' ', '\t']);
        after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n")
    }

    /// Ends the text before a tag; `all` and `line` say what the tag removes from its end.
    fn flush(&mut self, all: bool, line: bool) {
        let blank = |c: char| c == ' ' || c == '\t';
        let text = std::mem::take(&mut self.text);
        let mut text = match self.trim {
            Trim::Nothing => text.as_str(),
            Trim::All => text.trim_start(),
            Trim::Line => {
                let rest = text.trim_start_matches(blank);
                rest.strip_prefix("\r\n")
                    .or_else(|| rest.strip_prefix('\n'))
                    .unwrap_or(rest)
            }
        };
        if all {
            text = text.trim_end();
        } else if line {
            text = text.trim_end_matches(blank);
        }
        self.trim = Trim::Nothing;
        if !text.is_empty() {
            self.nodes.push(Node::Text(text.into()));
        }
    }

    fn value(&mut self, words: &[TemplateWord<'s>], raw: bool) -> Result<(), String> {
        let value = match words {
            [] => return Err("the tag is empty".to_owned()),
            // Even `{{12}}` and `{{true}}` name variables.
            [TemplateWord::Bare(name)] => Expr::Path(path(name)?),
            [TemplateWord::Bare(name), values @ ..] => {
                expr::helper(name, with_length(Values::new(values).all()?, 1))?
            }
            [TemplateWord::Open, ..] => match <[Expr; 1]>::try_from(Values::new(words).all()?) {
                Ok([value]) => value,
                Err(_) => return Err("one value is expected".to_owned()),
            },
            _ => return Err("the name of a variable is expected".to_owned()),
        };
        self.nodes.push(Node::Value { value, raw });
        Ok(())
    }

    fn begin(&mut self, words: &[TemplateWord<'s>], inverted: bool) -> Result<(), String> {
        let Some((TemplateWord::Bare(name), values)) = words.split_first() else {
            return Err("the name of a block is expected".to_owned());
        };
        if self.open.len() >= DEEPEST {
            return Err(format!("more than {DEEPEST} blocks inside one another"));
        }
        let head = if inverted {
            match values {
                [] => BlockHead::Inverted(Expr::Path(path(name)?)),
                _ => return Err("`^` takes one variable".to_owned()),
            }
        } else {
            head(name, values)?
        };
        self.open.push(OpenBlock {
            name: (*name).to_owned(),
            line: self.line,
            head,
            outer: std::mem::take(&mut self.nodes),
            body: None,
            chain: Vec::new(),
            slot: Slot::Body,
            ends_line: None,
            tildes: Vec::new(),
        });
        Ok(())
    }

    /// `{{else}}` and `{{else if …}}`.
    fn otherwise(&mut self, words: &[TemplateWord<'s>]) -> Result<(), String> {
        let Some(block) = self.open.last_mut() else {
            return Err("{{else}} without a block".to_owned());
        };
        let nodes = std::mem::take(&mut self.nodes);
        block.shut(nodes)?;
        block.slot = match words.split_first() {
            None => Slot::Otherwise,
            Some((TemplateWord::Bare(name), values)) => match condition(name, values)? {
                Some(condition) => Slot::Arm(condition),
                None => return Err(format!("`{name}` cannot follow `else`")),
            },
            Some(_) => return Err("a condition is expected after `else`".to_owned()),
        };
        Ok(())
    }

    fn close(&mut self, words: &[TemplateWord<'s>]) -> Result<(), String> {
        let [TemplateWord::Bare(name)] = words else {
            return Err("the name of a block is expected after `/`".to_owned());
        };
        let Some(block) = self.open.pop() else {
            return Err(format!("{{{{/{name}}}}} closes nothing"));
        };
        if block.name != *name {
            return Err(format!(
                "{{{{/{name}}}}} closes {{{{#{}}}}} of line {}",
                block.name, block.line
            ));
        }
        let last = std::mem::take(&mut self.nodes);
        let (node, outer) = block.finish(last);
        self.nodes = outer;
        self.nodes.push(node);
        Ok(())
    }
}

fn kind(inner: &str) -> Result<(TagKind, &str), String> {
    let after = inner.get(1..).unwrap_or_default();
    Ok(match inner.bytes().next() {
        Some(b'!') => (TagKind::Comment, after),
        Some(b'{' | b'&') => (TagKind::Raw, inner),
        Some(b'#') if after.starts_with('>') => return Err("partials are not supported".to_owned()),
        Some(b'#') if after.starts_with('*') => {
            return Err("decorators are not supported".to_owned());
        }
        Some(b'#') => (TagKind::Open, after),
        Some(b'^') => (TagKind::Inverse, after),
        Some(b'/') => (TagKind::Close, after),
        Some(b'>') => return Err("partials are not supported".to_owned()),
        Some(b'*') => return Err("decorators are not supported".to_owned()),
        Some(_) | None => (TagKind::Value, inner),
    })
}

/// What follows a comment, and whether it ends with `~`.
fn comment(inner: &str) -> Result<(bool, &str), String> {
    let (close, what) = if inner.starts_with("--") {
        ("--", "--}}")
    } else {
        ("", "}}")
    };
    let from = close.len();
    let mut at = from;
    while let Some(found) = inner.get(at..).and_then(|rest| rest.find("}}")) {
        let body = inner.get(from..at + found).unwrap_or_default();
        let after = inner.get(at + found + 2..).unwrap_or_default();
        if let Some(body) = body.strip_suffix('~')
            && body.ends_with(close)
        {
            return Ok((true, after));
        }
        if body.ends_with(close) {
            return Ok((false, after));
        }
        at += found + 1;
    }
    Err(format!("the comment is not closed with `{what}`"))
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}
