//! What names mean inside nested blocks.

use super::data::Data;
use super::tree::{Path, Start};
use super::value::Value;

/// What `this` and the `@` names are inside one block.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    this: Value<'a>,
    turn: Option<Turn<'a>>,
    names: &'a [String],
}

/// One turn of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) index: usize,
    pub(crate) last: bool,
    /// The key, in a loop over an object.
    pub(crate) key: Option<&'a str>,
}

/// Names that the service gives, for data that does not have them. They are found in every block,
/// and no loop over the data meets them.
pub(crate) type Given = [(&'static str, String)];

#[derive(Debug)]
pub(crate) struct Scope<'a> {
    root: &'a Data,
    given: &'a Given,
    frames: Vec<Frame<'a>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(root: &'a Data, given: &'a Given) -> Self {
        Self {
            root,
            given,
            frames: Vec::new(),
        }
    }

    pub(crate) fn enter(&mut self, this: Value<'a>, turn: Option<Turn<'a>>, names: &'a [String]) {
        self.frames.push(Frame { this, turn, names });
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }

    pub(crate) fn find(&self, path: &'a Path) -> Value<'a> {
        let (start, segments) = match &path.start {
            Start::Root => (Value::Data(self.root), path.segments.as_slice()),
            Start::Local { name, up } => (self.local(name, *up), path.segments.as_slice()),
            Start::Here { up: 0 } => match self.named(&path.segments) {
                Some(named) => named,
                None => (self.this(0), path.segments.as_slice()),
            },
            Start::Here { up } => (self.this(*up), path.segments.as_slice()),
        };
        let found = segments
            .iter()
            .fold(start, |value, segment| member(&value, segment));
        match found {
            Value::Missing => self.given(path),
            found => found,
        }
    }

    fn given(&self, path: &Path) -> Value<'a> {
        let (Start::Root | Start::Here { up: 0 }, [name]) = (&path.start, &*path.segments) else {
            return Value::Missing;
        };
        let mut given = self.given.iter();
        given
            .find(|(own, _)| own == name)
            .map_or(Value::Missing, |(_, text)| Value::Text(text.into()))
    }

    /// `this` of the block `up` levels out. Beyond the outermost there is nothing.
    fn this(&self, up: usize) -> Value<'a> {
        match self.frames.len().checked_sub(up) {
            Some(0) => Value::Data(self.root),
            Some(depth) => self
                .frames
                .get(depth - 1)
                .map_or(Value::Missing, |frame| frame.this.clone()),
            None => Value::Missing,
        }
    }

    /// A name given by `as |item key|`, and what follows it.
    fn named<'p>(&self, segments: &'p [String]) -> Option<(Value<'a>, &'p [String])> {
        let (first, rest) = segments.split_first()?;
        for frame in self.frames.iter().rev() {
            match frame.names.iter().position(|name| name == first) {
                Some(0) => return Some((frame.this.clone(), rest)),
                Some(_) => return Some((frame.turn.map_or(Value::Missing, Turn::key), rest)),
                None => {}
            }
        }
        None
    }

    /// `@index` and its like belong to the nearest loop.
    fn local(&self, name: &str, up: usize) -> Value<'a> {
        let mut turns = self.frames.iter().rev().filter_map(|frame| frame.turn);
        let Some(turn) = turns.nth(up) else {
            return Value::Missing;
        };
        match name {
            "index" => turn.index(),
            "key" => turn.key(),
            "first" => Value::Bool(turn.index == 0),
            "last" => Value::Bool(turn.last),
            _ => Value::Missing,
        }
    }
}

impl<'a> Turn<'a> {
    fn index(self) -> Value<'a> {
        u32::try_from(self.index).map_or(Value::Missing, |index| Value::Number(index.into()))
    }

    fn key(self) -> Value<'a> {
        self.key
            .map_or_else(|| self.index(), |key| Value::Text(key.into()))
    }
}

/// `value.segment`. Only lists and texts have a `length` of their own.
fn member<'a>(value: &Value<'a>, segment: &str) -> Value<'a> {
    match value {
        Value::Data(Data::Map(map)) => map.get(segment).map_or(Value::Missing, Value::Data),
        Value::Data(Data::List(list)) => match segment.parse::<usize>() {
            Ok(index) => list.get(index).map_or(Value::Missing, Value::Data),
            Err(_) => own_length(value, segment),
        },
        Value::Data(Data::Text(_)) | Value::Text(_) => own_length(value, segment),
        Value::Missing | Value::Data(_) | Value::Number(_) | Value::Bool(_) => Value::Missing,
    }
}

fn own_length<'a>(value: &Value<'a>, segment: &str) -> Value<'a> {
    match (segment, u32::try_from(value.length())) {
        ("length", Ok(length)) => Value::Number(length.into()),
        _ => Value::Missing,
    }
}
