//! The value of an expression, and JavaScript's rules for comparing and printing it (API facts
//! 2.7).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::data::Data;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum TemplateValue<'a> {
    /// Missing from the data.
    Missing,
    Data(&'a Data),
    Text(Cow<'a, str>),
    Number(f64),
    Bool(bool),
}

/// A value without its wrapping.
enum Plain<'v> {
    Nothing,
    Bool(bool),
    Whole(i128),
    Number(f64),
    Text(&'v str),
    /// With whether it is empty: a list may be, an object never counts as.
    Compound {
        empty: bool,
        at: *const Data,
    },
}

impl<'a> TemplateValue<'a> {
    fn plain(&self) -> Plain<'_> {
        match self {
            Self::Missing | Self::Data(Data::Null) => Plain::Nothing,
            Self::Bool(value) | Self::Data(Data::Bool(value)) => Plain::Bool(*value),
            Self::Data(Data::Whole(value)) => Plain::Whole(*value),
            Self::Number(value) | Self::Data(Data::Number(value)) => Plain::Number(*value),
            Self::Data(Data::Text(text)) => Plain::Text(text),
            Self::Text(text) => Plain::Text(text),
            Self::Data(at @ Data::List(list)) => Plain::Compound {
                empty: list.is_empty(),
                at: std::ptr::from_ref(at),
            },
            Self::Data(at @ Data::Map(_)) => Plain::Compound {
                empty: false,
                at: std::ptr::from_ref(at),
            },
        }
    }

    /// False values: missing, null, false, 0, the empty text, the empty list.
    pub(crate) fn is_true(&self) -> bool {
        match self.plain() {
            Plain::Nothing => false,
            Plain::Bool(value) => value,
            Plain::Whole(value) => value != 0,
            Plain::Number(value) => value != 0.0 && !value.is_nan(),
            Plain::Text(text) => !text.is_empty(),
            Plain::Compound { empty, .. } => !empty,
        }
    }

    /// Whether it is the number 0.
    pub(crate) fn is_zero(&self) -> bool {
        match self.plain() {
            Plain::Whole(value) => value == 0,
            Plain::Number(value) => value == 0.0,
            Plain::Nothing | Plain::Bool(_) | Plain::Text(_) | Plain::Compound { .. } => false,
        }
    }

    /// Whether `{{#with value}}` shows its body: also for 0.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_true() || self.is_zero()
    }

    /// Whether `{{#value}}` shows its body: for all but missing, null, false and the empty list.
    pub(crate) fn opens(&self) -> bool {
        match self.plain() {
            Plain::Nothing => false,
            Plain::Bool(value) => value,
            Plain::Whole(_) | Plain::Number(_) | Plain::Text(_) => true,
            Plain::Compound { empty, .. } => !empty,
        }
    }

    /// Whether `insert` shows its default.
    pub(crate) fn is_blank(&self) -> bool {
        match self.plain() {
            Plain::Nothing => true,
            Plain::Text(text) => text.is_empty(),
            Plain::Bool(_) | Plain::Whole(_) | Plain::Number(_) | Plain::Compound { .. } => false,
        }
    }

    /// `==` of JavaScript: `3` equals `"3"`. Lists and objects equal only themselves.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self.plain(), other.plain()) {
            (Plain::Nothing, Plain::Nothing) => true,
            (Plain::Nothing, _) | (_, Plain::Nothing) => false,
            (Plain::Text(a), Plain::Text(b)) => a == b,
            (Plain::Whole(a), Plain::Whole(b)) => a == b,
            (Plain::Compound { at: a, .. }, Plain::Compound { at: b, .. }) => std::ptr::eq(a, b),
            (a, b) => matches!((a.number(), b.number()), (Some(a), Some(b)) if a == b),
        }
    }

    /// Compares as numbers; two texts that are no numbers compare as texts.
    pub(crate) fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let (a, b) = (self.plain(), other.plain());
        match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => match (a, b) {
                (Plain::Text(a), Plain::Text(b)) => Some(a.cmp(b)),
                _ => None,
            },
        }
    }

    /// The `length` of a text or list, 0 for all else. Texts count as JavaScript counts them.
    pub(crate) fn length(&self) -> usize {
        match (self.plain(), self) {
            (Plain::Text(text), _) => text.encode_utf16().count(),
            (_, Self::Data(Data::List(list))) => list.len(),
            _ => 0,
        }
    }

    /// Bytes that reading this value may cost.
    pub(crate) fn weight(&self) -> usize {
        match self.plain() {
            Plain::Text(text) => text.len(),
            _ => 0,
        }
    }

    /// Items of a list, those of the lists in it included: all of them are written out.
    pub(crate) fn items(&self) -> usize {
        match self {
            Self::Data(data) => items(data),
            Self::Missing | Self::Text(_) | Self::Number(_) | Self::Bool(_) => 0,
        }
    }

    /// The value as a template shows it.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Missing => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(value) => Cow::Owned(number_text(*value)),
            Self::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Self::Data(data) => data_text(data),
        }
    }

    /// A number as a time or an offset.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self.plain() {
            Plain::Whole(_) | Plain::Number(_) => self.plain().number(),
            Plain::Text(text) if !text.trim().is_empty() => self.plain().number(),
            _ => None,
        }
    }
}

impl Plain<'_> {
    /// `Number(value)` of JavaScript; `None` is its NaN.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Nothing | Self::Compound { .. } => None,
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            #[expect(
                clippy::cast_precision_loss,
                reason = "JavaScript has no other numbers"
            )]
            Self::Whole(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Text(text) => text_number(text),
        }
    }
}

fn text_number(text: &str) -> Option<f64> {
    // The longest number in practice; longer texts are not parsed.
    const LONGEST: usize = 64;
    let text = text.trim();
    if text.is_empty() {
        return Some(0.0);
    }
    let numeric = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    if text.len() > LONGEST || !text.bytes().all(numeric) {
        return None;
    }
    text.parse().ok()
}

/// As JavaScript prints it: `1` for 1.0, `1e+21` from there on.
fn number_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&value.abs()) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        Some(_) | None => text,
    }
}

fn data_text(data: &Data) -> Cow<'_, str> {
    match data {
        Data::Null => Cow::Borrowed(""),
        Data::Bool(true) => Cow::Borrowed("true"),
        Data::Bool(false) => Cow::Borrowed("false"),
        Data::Whole(value) => Cow::Owned(value.to_string()),
        Data::Number(value) => Cow::Owned(number_text(*value)),
        Data::Text(text) => Cow::Borrowed(text),
        Data::List(_) | Data::Map(_) => {
            let mut out = String::new();
            join(data, &mut out);
            Cow::Owned(out)
        }
    }
}

/// Lists nest no deeper than the JSON they come from.
fn items(data: &Data) -> usize {
    match data {
        Data::List(list) => list.iter().map(|item| 1 + items(item)).sum(),
        _ => 0,
    }
}

fn join(data: &Data, out: &mut String) {
    match data {
        Data::List(items) => {
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                join(item, out);
            }
        }
        Data::Map(_) => out.push_str("[object Object]"),
        other @ (Data::Null | Data::Bool(_) | Data::Whole(_) | Data::Number(_) | Data::Text(_)) => {
            let _ = write!(out, "{}", data_text(other));
        }
    }
}
