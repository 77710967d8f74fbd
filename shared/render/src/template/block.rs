//! Blocks: how they open, what may follow `else`, and their nodes once closed.

use super::expr::{Values, arity};
use super::path::path;
use super::tree::{Arm, Condition, Expr, Node, Scoped};
use super::words::{TemplateWord, block_names};

/// An open block.
pub(super) struct OpenBlock {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) head: BlockHead,
    /// The nodes before the block.
    pub(super) outer: Vec<Node>,
    pub(super) body: Option<Vec<Node>>,
    pub(super) chain: Vec<Arm>,
    pub(super) slot: Slot,
    /// Whether the first `else if` branch ended with a line of blanks.
    pub(super) ends_line: Option<bool>,
    /// Whether each `else if` has a `~` on its left.
    pub(super) tildes: Vec<bool>,
}

pub(super) enum BlockHead {
    If(Condition),
    Each(Expr, Vec<String>),
    With(Expr, Vec<String>),
    Section(Expr),
    /// `{{^name}}`.
    Inverted(Expr),
}

/// Which part of a block is being read.
pub(super) enum Slot {
    Body,
    Arm(Condition),
    Otherwise,
}

impl OpenBlock {
    /// Ends the part being read, because an `else` came.
    pub(super) fn shut(&mut self, nodes: Vec<Node>) -> Result<(), String> {
        match std::mem::replace(&mut self.slot, Slot::Otherwise) {
            Slot::Body => self.body = Some(nodes),
            Slot::Arm(condition) => self.chain.push(Arm {
                condition,
                body: nodes,
            }),
            Slot::Otherwise => {
                return Err(format!("a second {{{{else}}}} in {{{{#{}}}}}", self.name));
            }
        }
        Ok(())
    }

    /// Whether an `else if` belongs to it.
    pub(super) fn is_chain(&self) -> bool {
        !self.tildes.is_empty()
    }

    /// Removes the white space that `~` of a chain removes at the end of its branches, and says
    /// whether that of the last goes, which is not closed yet.
    ///
    /// To handlebars.js each `else if` is a block in the `else` of the one before. `{{~/if}}` closes
    /// the first two; a later one is closed by its own tag, whose `~` counts at both of its ends.
    pub(super) fn trim_branches(&mut self, close: bool) -> bool {
        let last = self.tildes.len() + usize::from(matches!(self.slot, Slot::Otherwise));
        let after = |branch: usize| last.min(branch + 1);
        let mut ends = Vec::new();
        if close {
            ends.extend([1, after(1)]);
        }
        let later = self.tildes.iter().zip(1_usize..).skip(1);
        ends.extend(later.filter(|(left, _)| **left).map(|(_, k)| after(k)));
        for branch in &ends {
            let arm = self.chain.get_mut(branch - 1);
            if let Some(Node::Text(text)) = arm.and_then(|arm| arm.body.last_mut()) {
                *text = text.trim_end().into();
            }
        }
        ends.contains(&last)
    }

    /// The block as a node, and the nodes it follows.
    pub(super) fn finish(mut self, last: Vec<Node>) -> (Node, Vec<Node>) {
        let mut otherwise = Vec::new();
        match self.slot {
            Slot::Body => self.body = Some(last),
            Slot::Arm(condition) => self.chain.push(Arm {
                condition,
                body: last,
            }),
            Slot::Otherwise => otherwise = last,
        }
        let body = self.body.unwrap_or_default();
        if let BlockHead::If(condition) = self.head {
            let mut arms = vec![Arm { condition, body }];
            arms.append(&mut self.chain);
            return (Node::If { arms, otherwise }, self.outer);
        }
        if !self.chain.is_empty() {
            otherwise = vec![Node::If {
                arms: self.chain,
                otherwise,
            }];
        }
        let scoped = |value, names, body, otherwise| Scoped {
            value,
            names,
            body,
            otherwise,
        };
        let node = match self.head {
            BlockHead::Each(value, names) => Node::Each(scoped(value, names, body, otherwise)),
            BlockHead::With(value, names) => Node::With(scoped(value, names, body, otherwise)),
            BlockHead::Inverted(value) => Node::Section(scoped(value, Vec::new(), otherwise, body)),
            BlockHead::Section(value) => Node::Section(scoped(value, Vec::new(), body, otherwise)),
            BlockHead::If(condition) => Node::If {
                arms: vec![Arm { condition, body }],
                otherwise,
            },
        };
        (node, self.outer)
    }
}

pub(super) fn head(name: &str, words: &[TemplateWord<'_>]) -> Result<BlockHead, String> {
    if let Some(condition) = condition(name, words)? {
        return Ok(BlockHead::If(condition));
    }
    let (words, names) = block_names(words)?;
    let values = with_length(Values::new(words).all()?, 1);
    match name {
        "each" => Ok(BlockHead::Each(one(name, values)?, names)),
        "with" => Ok(BlockHead::With(one(name, values)?, names)),
        _ if values.is_empty() => Ok(BlockHead::Section(Expr::Path(path(name)?))),
        _ => Err(format!("`{name}` is not a block helper")),
    }
}

/// The condition of `if`, `unless` and the comparing blocks; `None` for another name.
pub(super) fn condition(
    name: &str,
    words: &[TemplateWord<'_>],
) -> Result<Option<Condition>, String> {
    let two = || -> Result<(Expr, Expr), String> {
        let values = with_length(Values::new(words).all()?, 2);
        let [a, b] = <[Expr; 2]>::try_from(values)
            .map_err(|values| arity(name, "2 values", values.len()))?;
        Ok((a, b))
    };
    let many = || -> Result<Vec<Expr>, String> {
        let values = with_length(Values::new(words).all()?, 2);
        match values.len() {
            0 | 1 => Err(arity(name, "2 values or more", values.len())),
            _ => Ok(values),
        }
    };
    let truth = |negated: bool| -> Result<Condition, String> {
        let (words, zero) = include_zero(words)?;
        let value = one(name, with_length(Values::new(words).all()?, 1))?;
        Ok(match (zero, negated) {
            (Some(zero), _) => Condition::Zero {
                value,
                zero,
                negated,
            },
            (None, true) => Condition::False(value),
            (None, false) => Condition::True(value),
        })
    };
    Ok(Some(match name {
        "if" => truth(false)?,
        "unless" => truth(true)?,
        "equals" => two().map(|(a, b)| Condition::Equals(a, b))?,
        "notEquals" => two().map(|(a, b)| Condition::NotEquals(a, b))?,
        "greaterThan" => two().map(|(a, b)| Condition::Greater(a, b))?,
        "lessThan" => two().map(|(a, b)| Condition::Less(a, b))?,
        "and" => Condition::All(many()?),
        "or" => Condition::Any(many()?),
        _ => return Ok(None),
    }))
}

/// The words before `includeZero=`, and its value.
fn include_zero<'w, 's>(
    words: &'w [TemplateWord<'s>],
) -> Result<(&'w [TemplateWord<'s>], Option<Expr>), String> {
    let mark = [TemplateWord::Bare("includeZero"), TemplateWord::Equals];
    let Some(at) = words.windows(2).position(|pair| *pair == mark) else {
        return Ok((words, None));
    };
    let (before, after) = words.split_at(at);
    let values = Values::new(after.get(2..).unwrap_or_default()).all()?;
    one("includeZero=", values).map(|zero| (before, Some(zero)))
}

fn one(name: &str, values: Vec<Expr>) -> Result<Expr, String> {
    <[Expr; 1]>::try_from(values)
        .map(|[value]| value)
        .map_err(|values| arity(name, "1 value", values.len()))
}

/// `length items` among more values than the block takes is a call, though it has no parentheses
/// (API facts 2.7).
pub(super) fn with_length(values: Vec<Expr>, takes: usize) -> Vec<Expr> {
    let mut extra = values.len().saturating_sub(takes);
    let mut out = Vec::with_capacity(values.len());
    let mut values = values.into_iter().peekable();
    while let Some(value) = values.next() {
        let is_length = matches!(&value, Expr::Path(path) if path.text == "length");
        match values.peek() {
            Some(_) if is_length && extra > 0 => {
                extra -= 1;
                out.extend(values.next().map(|of| Expr::Length(Box::new(of))));
            }
            Some(_) | None => out.push(value),
        }
    }
    out
}
