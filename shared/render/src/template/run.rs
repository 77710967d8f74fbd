//! Runs a compiled text over data.

use std::borrow::Cow;

use super::data::Data;
use super::date;
use super::scope::{Given, LoopTurn, Scope, looked_up};
use super::tree::{Arm, Condition, Expr, Node, Scoped};
use super::value::TemplateValue;
use crate::budget::{Budget, RenderError};
use crate::entity;

/// Bytes of a text that cost as much to read as one step.
const BYTES_PER_STEP: usize = 1024;

/// Bytes of a path that cost as much to follow as one step: each name is compared and hashed.
const PATH_BYTES_PER_STEP: usize = 32;

/// Items of a list that cost as much to write out as one step.
const ITEMS_PER_STEP: usize = 16;

/// Bytes of a date's format that cost as much to follow as one step.
const FORM_BYTES_PER_STEP: usize = 16;

/// The text that `nodes` render from `data`.
///
/// # Errors
/// When the budget is used up; there is no other error: a missing variable is empty.
pub(crate) fn run(
    nodes: &[Node],
    data: &Data,
    given: &Given,
    budget: &mut Budget,
) -> Result<String, RenderError> {
    let mut run = Run {
        scope: Scope::new(data, given),
        out: String::new(),
        budget,
    };
    run.nodes(nodes)?;
    Ok(run.out)
}

struct Run<'a, 'b> {
    scope: Scope<'a>,
    out: String,
    budget: &'b mut Budget,
}

impl<'a> Run<'a, '_> {
    fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), RenderError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Result<(), RenderError> {
        self.budget.step(1)?;
        match node {
            Node::Text(text) => self.budget.push(&mut self.out, text),
            Node::Value { value, raw } => {
                let value = self.eval(value)?;
                let text = shown(&value, self.budget)?;
                if *raw {
                    self.budget.push(&mut self.out, &text)
                } else {
                    escape(&text, &mut self.out, self.budget)
                }
            }
            Node::If { arms, otherwise } => self.arms(arms, otherwise),
            Node::Each(block) => match self.eval(&block.value)? {
                TemplateValue::Data(Data::List(items)) if !items.is_empty() => {
                    self.list(block, items)
                }
                TemplateValue::Data(Data::Map(map)) if !map.is_empty() => self.map(block, map),
                _ => self.nodes(&block.otherwise),
            },
            Node::With(block) => match self.eval(&block.value)? {
                value if value.is_filled() => self.within(block, value, None),
                _ => self.nodes(&block.otherwise),
            },
            Node::Section(block) => match self.eval(&block.value)? {
                TemplateValue::Data(Data::List(items)) if !items.is_empty() => {
                    self.list(block, items)
                }
                // `true` leaves `this` unchanged.
                TemplateValue::Data(Data::Bool(true)) | TemplateValue::Bool(true) => {
                    self.nodes(&block.body)
                }
                value if value.opens() => self.within(block, value, None),
                _ => self.nodes(&block.otherwise),
            },
        }
    }

    fn arms(&mut self, arms: &'a [Arm], otherwise: &'a [Node]) -> Result<(), RenderError> {
        for arm in arms {
            self.budget.step(1)?;
            if self.holds(&arm.condition)? {
                return self.nodes(&arm.body);
            }
        }
        self.nodes(otherwise)
    }

    fn list(&mut self, block: &'a Scoped, items: &'a [Data]) -> Result<(), RenderError> {
        for (index, item) in items.iter().enumerate() {
            let turn = LoopTurn {
                index,
                last: index + 1 == items.len(),
                key: None,
            };
            self.within(block, TemplateValue::Data(item), Some(turn))?;
        }
        Ok(())
    }

    fn map(
        &mut self,
        block: &'a Scoped,
        map: &'a indexmap::IndexMap<String, Data>,
    ) -> Result<(), RenderError> {
        for (index, (key, item)) in map.iter().enumerate() {
            let turn = LoopTurn {
                index,
                last: index + 1 == map.len(),
                key: Some(key),
            };
            self.within(block, TemplateValue::Data(item), Some(turn))?;
        }
        Ok(())
    }

    fn within(
        &mut self,
        block: &'a Scoped,
        this: TemplateValue<'a>,
        turn: Option<LoopTurn<'a>>,
    ) -> Result<(), RenderError> {
        self.budget.step(1)?;
        self.scope.enter(this, turn, &block.names);
        self.nodes(&block.body)?;
        self.scope.leave();
        Ok(())
    }

    fn holds(&mut self, condition: &'a Condition) -> Result<bool, RenderError> {
        Ok(match condition {
            Condition::True(value) => self.eval(value)?.is_true(),
            Condition::False(value) => !self.eval(value)?.is_true(),
            Condition::Zero {
                value,
                zero,
                negated,
            } => {
                let value = self.eval(value)?;
                let holds = value.is_true() || value.is_zero() && self.eval(zero)?.is_true();
                holds != *negated
            }
            Condition::Equals(a, b) => self.eval(a)?.equals(&self.eval(b)?),
            Condition::NotEquals(a, b) => !self.eval(a)?.equals(&self.eval(b)?),
            Condition::Greater(a, b) => self
                .eval(a)?
                .compare(&self.eval(b)?)
                .is_some_and(|o| o.is_gt()),
            Condition::Less(a, b) => self
                .eval(a)?
                .compare(&self.eval(b)?)
                .is_some_and(|o| o.is_lt()),
            Condition::All(values) => {
                for value in values {
                    if !self.eval(value)?.is_true() {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Any(values) => {
                for value in values {
                    if self.eval(value)?.is_true() {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    fn eval(&mut self, expr: &'a Expr) -> Result<TemplateValue<'a>, RenderError> {
        eval(&self.scope, expr, self.budget)
    }
}

/// The value of an expression. Parentheses nest no deeper than the parser lets them.
pub(crate) fn eval<'a>(
    scope: &Scope<'a>,
    expr: &'a Expr,
    budget: &mut Budget,
) -> Result<TemplateValue<'a>, RenderError> {
    let value = match expr {
        Expr::Path(path) => {
            budget.step(path.text.len() / PATH_BYTES_PER_STEP)?;
            let (value, read) = scope.find(path);
            budget.step(read / BYTES_PER_STEP)?;
            value
        }
        Expr::Text(text) => TemplateValue::Text(Cow::Borrowed(text)),
        Expr::Number { value, .. } => TemplateValue::Number(*value),
        Expr::Bool(value) => TemplateValue::Bool(*value),
        Expr::Null => TemplateValue::Missing,
        Expr::Length(of) => u32::try_from(eval(scope, of, budget)?.length())
            .map_or(TemplateValue::Missing, |length| {
                TemplateValue::Number(length.into())
            }),
        Expr::Lookup { from, key } => {
            let from = eval(scope, from, budget)?;
            let key = eval(scope, key, budget)?;
            // What is false is given back, as SendGrid does: `{{lookup 0 "x"}}` is 0.
            if !from.is_true() {
                from
            } else {
                budget.step(from.weight() / BYTES_PER_STEP)?;
                let key = shown(&key, budget)?;
                looked_up(&from, &key)
            }
        }
        Expr::Insert { value, default } => match eval(scope, value, budget)? {
            value if value.is_blank() => eval(scope, default, budget)?,
            value => value,
        },
        Expr::FormatDate { at, form, offset } => {
            let at = eval(scope, at, budget)?;
            let form = match form {
                Some(form) => Some(eval(scope, form, budget)?),
                None => None,
            };
            let offset = match offset.as_deref() {
                Some(Expr::Number { text, .. }) => {
                    Some(TemplateValue::Text(Cow::Borrowed(text.as_str())))
                }
                Some(other) => Some(eval(scope, other, budget)?),
                None => None,
            };
            for part in [Some(&at), form.as_ref(), offset.as_ref()] {
                budget.step(part.map_or(0, TemplateValue::items) / ITEMS_PER_STEP)?;
            }
            let length = form.as_ref().map_or(0, TemplateValue::weight);
            budget.step(length / FORM_BYTES_PER_STEP)?;
            TemplateValue::Text(date::format(&at, form.as_ref(), offset.as_ref()).into())
        }
    };
    budget.step(1 + value.weight() / BYTES_PER_STEP)?;
    Ok(value)
}

/// The value as a template shows it.
fn shown<'v>(
    value: &'v TemplateValue<'_>,
    budget: &mut Budget,
) -> Result<Cow<'v, str>, RenderError> {
    budget.step(value.items() / ITEMS_PER_STEP)?;
    Ok(value.text())
}

/// Appends `text` with `& < > " '` as character references.
fn escape(text: &str, out: &mut String, budget: &mut Budget) -> Result<(), RenderError> {
    const MARKUP: [char; 5] = ['&', '<', '>', '"', '\''];
    let mut pieces = entity::escaped(text, &MARKUP);
    pieces.try_for_each(|piece| budget.push(out, piece))
}
