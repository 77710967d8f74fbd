//! Reads the items of a JSON array while it arrives: a list of a million addresses is in memory one item at a time.

use serde_json::Value;

use crate::json_text;

/// Bytes of one item.
const LONGEST_ITEM: usize = 16 << 20;

/// Why bytes are not a JSON array of readable items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArrayFault {
    #[error("the answer is not a JSON array")]
    NotArray,
    #[error("the answer is an object where a list belongs")]
    Object,
    #[error("the answer ends in the middle")]
    Truncated,
    #[error("an item of the answer is not JSON")]
    Item,
    #[error("an item of the answer exceeds {LONGEST_ITEM} bytes")]
    TooLong,
}

/// Where in the array the bytes have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Before the bracket.
    Before,
    /// Between items.
    Between,
    /// In an item.
    Item,
    /// Behind the closing bracket.
    Behind,
}

/// The items of one array, chunk by chunk.
#[derive(Debug)]
pub(crate) struct ArrayItems {
    position: Position,
    item: Vec<u8>,
    /// Brackets that are open within the item.
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Whether an item had something that is no text.
    is_mended: bool,
}

impl ArrayItems {
    pub(crate) fn new() -> Self {
        Self {
            position: Position::Before,
            item: Vec::new(),
            depth: 0,
            in_text: false,
            escaped: false,
            is_mended: false,
        }
    }

    /// Whether an item had something that is no text.
    pub(crate) fn is_mended(&self) -> bool {
        self.is_mended
    }

    /// Adds bytes, and appends the items that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], found: &mut Vec<Value>) -> Result<(), ArrayFault> {
        for &byte in bytes {
            self.step(byte, found)?;
        }
        Ok(())
    }

    fn step(&mut self, byte: u8, found: &mut Vec<Value>) -> Result<(), ArrayFault> {
        let is_blank = byte.is_ascii_whitespace();
        match self.position {
            Position::Before | Position::Behind if is_blank => {}
            Position::Before if byte == b'[' => self.position = Position::Between,
            Position::Before if byte == b'{' => return Err(ArrayFault::Object),
            Position::Before | Position::Behind => return Err(ArrayFault::NotArray),
            Position::Between if is_blank || byte == b',' => {}
            Position::Between if byte == b']' => self.position = Position::Behind,
            Position::Between => {
                self.position = Position::Item;
                self.in_item(byte);
            }
            Position::Item if self.ends(byte) => {
                let item = json_text::parse(&self.item).ok_or(ArrayFault::Item)?;
                self.is_mended |= item.is_mended;
                found.push(item.value);
                self.item.clear();
                self.position = if byte == b']' {
                    Position::Behind
                } else {
                    Position::Between
                };
            }
            Position::Item if self.item.len() == LONGEST_ITEM => return Err(ArrayFault::TooLong),
            Position::Item => self.in_item(byte),
        }
        Ok(())
    }

    /// Whether the byte follows the item.
    fn ends(&self, byte: u8) -> bool {
        !self.in_text && self.depth == 0 && matches!(byte, b',' | b']')
    }

    fn in_item(&mut self, byte: u8) {
        self.item.push(byte);
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_text = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether the array has ended.
    pub(crate) fn finish(&self) -> Result<(), ArrayFault> {
        match self.position {
            Position::Behind => Ok(()),
            Position::Before => Err(ArrayFault::NotArray),
            Position::Between | Position::Item => Err(ArrayFault::Truncated),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The items, when the bytes arrive in pieces of this size.
    fn read(text: &str, piece: usize) -> Result<Vec<Value>, ArrayFault> {
        let (mut items, mut found) = (ArrayItems::new(), Vec::new());
        for bytes in text.as_bytes().chunks(piece) {
            items.push(bytes, &mut found)?;
        }
        items.finish().map(|()| found)
    }

    #[test]
    fn items_are_read_whatever_pieces_they_arrive_in() {
        let text = r#" [{"a":"}]\"\\","b":[1,{"c":[]}]}, "x,]", 7 ,null,[],"ü" ] "#;
        let want = [
            json!({"a": "}]\"\\", "b": [1, {"c": []}]}),
            json!("x,]"),
            json!(7),
            json!(null),
            json!([]),
            json!("ü"),
        ];
        for piece in 1..text.len() {
            assert_eq!(read(text, piece).unwrap(), want, "{piece}");
        }
        assert_eq!(read("[]", 1).unwrap(), Vec::<Value>::new());
    }

    #[test]
    fn what_is_no_whole_array_is_refused() {
        for (text, want) in [
            ("", ArrayFault::NotArray),
            ("<html>", ArrayFault::NotArray),
            ("{}", ArrayFault::Object),
            ("[", ArrayFault::Truncated),
            (r#"[{"a":1}"#, ArrayFault::Truncated),
            (r#"[{"a":1},{"b"#, ArrayFault::Truncated),
            ("[1]]", ArrayFault::NotArray),
            ("[1 2]", ArrayFault::Item),
            ("[nul]", ArrayFault::Item),
        ] {
            assert_eq!(read(text, 3), Err(want), "{text}");
        }
    }
}
