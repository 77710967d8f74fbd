//! The variables of a template that are missing from the data.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::GIVEN_NAMES;
use super::data::Data;
use super::run::eval;
use super::scope::{LoopTurn, Scope};
use super::tree::{Condition, Expr, Node, Scoped};
use super::value::TemplateValue;
use crate::budget::{Budget, RenderError};

/// The names that are always available.
static GIVEN: LazyLock<[(&str, String); 2]> =
    LazyLock::new(|| GIVEN_NAMES.map(|name| (name, String::new())));

/// Walks every branch, taken or not. In a loop each item is checked; a missing list is reported
/// itself, because the fields of its items are unknown.
pub(crate) fn missing(nodes: &[Node], data: &Data, found: &mut BTreeSet<String>) {
    let mut walk = Walk {
        scope: Scope::new(data, &*GIVEN),
        found,
        budget: Budget::default(),
    };
    // Past the budget of a copy the template could not be sent anyway.
    let _ = walk.nodes(nodes);
}

struct Walk<'a, 'f> {
    scope: Scope<'a>,
    found: &'f mut BTreeSet<String>,
    budget: Budget,
}

impl<'a> Walk<'a, '_> {
    fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), RenderError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Result<(), RenderError> {
        self.budget.step(1)?;
        match node {
            Node::Text(_) => Ok(()),
            Node::Value { value, .. } => self.expr(value),
            Node::If { arms, otherwise } => {
                for arm in arms {
                    self.condition(&arm.condition)?;
                    self.nodes(&arm.body)?;
                }
                self.nodes(otherwise)
            }
            Node::Each(block) | Node::With(block) | Node::Section(block) => self.block(node, block),
        }
    }

    fn block(&mut self, node: &'a Node, block: &'a Scoped) -> Result<(), RenderError> {
        self.expr(&block.value)?;
        let value = eval(&self.scope, &block.value, &mut self.budget)?;
        match (node, value) {
            (Node::Each(_) | Node::Section(_), TemplateValue::Data(Data::List(items))) => {
                for (index, item) in items.iter().enumerate() {
                    let turn = LoopTurn {
                        index,
                        last: index + 1 == items.len(),
                        key: None,
                    };
                    self.within(block, TemplateValue::Data(item), Some(turn))?;
                }
            }
            (Node::Each(_), TemplateValue::Data(Data::Map(map))) => {
                for (index, (key, item)) in map.iter().enumerate() {
                    let turn = LoopTurn {
                        index,
                        last: index + 1 == map.len(),
                        key: Some(key),
                    };
                    self.within(block, TemplateValue::Data(item), Some(turn))?;
                }
            }
            (
                Node::Section(_),
                TemplateValue::Bool(true) | TemplateValue::Data(Data::Bool(true)),
            ) => {
                self.nodes(&block.body)?;
            }
            (Node::With(_), value) if value.is_filled() => self.within(block, value, None)?,
            (Node::Section(_), value) if value.opens() => self.within(block, value, None)?,
            _ => {}
        }
        self.nodes(&block.otherwise)
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

    fn condition(&mut self, condition: &'a Condition) -> Result<(), RenderError> {
        match condition {
            Condition::True(value) | Condition::False(value) => self.expr(value),
            Condition::Zero { value, zero, .. } => {
                self.expr(value)?;
                self.expr(zero)
            }
            Condition::Equals(a, b)
            | Condition::NotEquals(a, b)
            | Condition::Greater(a, b)
            | Condition::Less(a, b) => {
                self.expr(a)?;
                self.expr(b)
            }
            Condition::All(values) | Condition::Any(values) => {
                values.iter().try_for_each(|value| self.expr(value))
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr) -> Result<(), RenderError> {
        match expr {
            Expr::Path(path) => {
                let value = eval(&self.scope, expr, &mut self.budget)?;
                if matches!(value, TemplateValue::Missing) {
                    self.found.insert(path.text.clone());
                }
                Ok(())
            }
            Expr::Text(_) | Expr::Number { .. } | Expr::Bool(_) | Expr::Null => Ok(()),
            Expr::Length(of) => self.expr(of),
            Expr::Lookup { from, key } => {
                self.expr(from)?;
                self.expr(key)
            }
            // It has its own default.
            Expr::Insert { default, .. } => self.expr(default),
            Expr::FormatDate { at, form, offset } => {
                self.expr(at)?;
                [form, offset]
                    .into_iter()
                    .flatten()
                    .try_for_each(|part| self.expr(part))
            }
        }
    }
}
