//! Resolves names inside nested blocks.

use super::data::Data;
use super::tree::{DataPath, Start};
use super::value::TemplateValue;

/// The meaning of `this` and the `@` names inside one block.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    this: TemplateValue<'a>,
    turn: Option<LoopTurn<'a>>,
    names: &'a [String],
}

/// One iteration of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopTurn<'a> {
    pub(crate) index: usize,
    pub(crate) last: bool,
    /// The key, in a loop over an object.
    pub(crate) key: Option<&'a str>,
}

/// Names that the service provides where the data does not have them. They are visible in every
/// block, and excluded from loops over the data.
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

    pub(crate) fn enter(
        &mut self,
        this: TemplateValue<'a>,
        turn: Option<LoopTurn<'a>>,
        names: &'a [String],
    ) {
        self.frames.push(Frame { this, turn, names });
    }

    pub(crate) fn leave(&mut self) {
        self.frames.pop();
    }

    /// The value of a path, and the bytes that were read or copied for it.
    pub(crate) fn find(&self, path: &'a DataPath) -> (TemplateValue<'a>, usize) {
        let (start, segments) = match &path.start {
            Start::Root => (TemplateValue::Data(self.root), path.segments.as_slice()),
            Start::Local { name, up } => (self.local(name, *up), path.segments.as_slice()),
            Start::Here { up: 0 } => match self.named(&path.segments) {
                Some(named) => named,
                None => (self.this(0), path.segments.as_slice()),
            },
            Start::Here { up } => (self.this(*up), path.segments.as_slice()),
        };
        let mut read = match &start {
            TemplateValue::Text(text) => text.len(),
            _ => 0,
        };
        let found = segments.iter().fold(start, |value, segment| {
            if segment == LENGTH {
                read += value.weight();
            }
            member(&value, segment)
        });
        let found = match found {
            TemplateValue::Missing => self.given(path),
            found => found,
        };
        (found, read)
    }

    fn given(&self, path: &DataPath) -> TemplateValue<'a> {
        let (Start::Root | Start::Here { up: 0 }, [name]) = (&path.start, &*path.segments) else {
            return TemplateValue::Missing;
        };
        let mut given = self.given.iter();
        given
            .find(|(own, _)| own == name)
            .map_or(TemplateValue::Missing, |(_, text)| {
                TemplateValue::Text(text.into())
            })
    }

    /// `this` of the block `up` levels out. Beyond the outermost there is nothing.
    fn this(&self, up: usize) -> TemplateValue<'a> {
        match self.frames.len().checked_sub(up) {
            Some(0) => TemplateValue::Data(self.root),
            Some(depth) => self
                .frames
                .get(depth - 1)
                .map_or(TemplateValue::Missing, |frame| frame.this.clone()),
            None => TemplateValue::Missing,
        }
    }

    /// A name given by `as |item key|`, and what follows it.
    fn named<'p>(&self, segments: &'p [String]) -> Option<(TemplateValue<'a>, &'p [String])> {
        let (first, rest) = segments.split_first()?;
        for frame in self.frames.iter().rev() {
            match frame.names.iter().position(|name| name == first) {
                Some(0) => return Some((frame.this.clone(), rest)),
                Some(_) => {
                    return Some((
                        frame.turn.map_or(TemplateValue::Missing, LoopTurn::key),
                        rest,
                    ));
                }
                None => {}
            }
        }
        None
    }

    /// `@index` and its like belong to the nearest loop.
    fn local(&self, name: &str, up: usize) -> TemplateValue<'a> {
        let mut turns = self.frames.iter().rev().filter_map(|frame| frame.turn);
        let Some(turn) = turns.nth(up) else {
            return TemplateValue::Missing;
        };
        match name {
            "index" => turn.index(),
            "key" => turn.key(),
            "first" => TemplateValue::Bool(turn.index == 0),
            "last" => TemplateValue::Bool(turn.last),
            _ => TemplateValue::Missing,
        }
    }
}

impl<'a> LoopTurn<'a> {
    fn index(self) -> TemplateValue<'a> {
        u32::try_from(self.index).map_or(TemplateValue::Missing, |index| {
            TemplateValue::Number(index.into())
        })
    }

    fn key(self) -> TemplateValue<'a> {
        self.key
            .map_or_else(|| self.index(), |key| TemplateValue::Text(key.into()))
    }
}

/// The one member of a text, and of a list beside its items.
const LENGTH: &str = "length";
/// `lookup value key`: also the characters of a text, by their place as JavaScript counts them.
pub(crate) fn looked_up<'a>(value: &TemplateValue<'a>, key: &str) -> TemplateValue<'a> {
    let text = match value {
        TemplateValue::Data(Data::Text(text)) => text.as_str(),
        TemplateValue::Text(text) => text,
        _ => return member(value, key),
    };
    let Some(place) = place(key) else {
        return own_length(value, key);
    };
    let Some(unit) = text.encode_utf16().nth(place) else {
        return TemplateValue::Missing;
    };
    let half = char::REPLACEMENT_CHARACTER;
    let one = char::from_u32(unit.into()).unwrap_or(half);
    TemplateValue::Text(one.to_string().into())
}

/// The place that a key names: a number as JavaScript writes it.
fn place(key: &str) -> Option<usize> {
    let plain =
        key == "0" || key.bytes().next()? != b'0' && key.bytes().all(|b| b.is_ascii_digit());
    key.parse().ok().filter(|_| plain)
}

/// `value.segment`. Only lists and texts have a `length` of their own.
fn member<'a>(value: &TemplateValue<'a>, segment: &str) -> TemplateValue<'a> {
    match value {
        TemplateValue::Data(Data::Map(map)) => map
            .get(segment)
            .map_or(TemplateValue::Missing, TemplateValue::Data),
        TemplateValue::Data(Data::List(list)) => match place(segment) {
            Some(index) => list
                .get(index)
                .map_or(TemplateValue::Missing, TemplateValue::Data),
            None => own_length(value, segment),
        },
        TemplateValue::Data(Data::Text(_)) | TemplateValue::Text(_) => own_length(value, segment),
        TemplateValue::Missing
        | TemplateValue::Data(_)
        | TemplateValue::Number(_)
        | TemplateValue::Bool(_) => TemplateValue::Missing,
    }
}

fn own_length<'a>(value: &TemplateValue<'a>, segment: &str) -> TemplateValue<'a> {
    if segment != LENGTH {
        return TemplateValue::Missing;
    }
    u32::try_from(value.length()).map_or(TemplateValue::Missing, |length| {
        TemplateValue::Number(length.into())
    })
}
