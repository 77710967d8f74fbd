//! Texts with a name that are the body of a mail after all.

use super::content::{NamedText, PartKind, PartLevel, Sorted};
use super::part::invented;
use crate::parse::{charset, decoded};

impl<'a> Sorted<'a> {
    /// Ends the innermost level. Outlook names its texts in `Content-Type`: where a level has no
    /// other, and nothing below it has, they are the body. An alternative has one of each kind.
    pub(super) fn close(&mut self, stack: &mut Vec<PartLevel<'a>>) {
        let Some(level) = stack.pop() else { return };
        let found = [level.has_text, level.has_html];
        let mut has_any = level.has_more || found.contains(&true);
        let is_free = |has_kind: bool| match level.kind {
            PartKind::Alternative => !has_kind,
            PartKind::Related | PartKind::Digest | PartKind::Other => !has_any,
        };
        let free = found.map(is_free);
        for ((named, is_html), is_free) in level.named.into_iter().zip([false, true]).zip(free) {
            if let Some(named) = named.filter(|_| is_free) {
                has_any |= self.promote(&named, is_html);
            }
        }
        if let Some(parent) = stack.last_mut() {
            parent.has_more |= has_any;
        }
    }

    /// Makes a text the body that is listed as a file; false when it cannot be joined to the others.
    fn promote(&mut self, named: &NamedText<'a>, is_html: bool) -> bool {
        let Some(file) = self.files.get_mut(named.place) else {
            return false;
        };
        let bytes = std::mem::take(&mut file.bytes);
        let (charset, text) = charset::posted(named.charset.as_deref(), bytes);
        if self.text(is_html, charset, text) {
            self.moved.push(named.place);
            return true;
        }
        if let Some(file) = self.files.get_mut(named.place) {
            file.bytes = decoded(named.encoding, named.body);
        }
        false
    }

    /// Removes the texts that are no files after all, and invents the missing names.
    pub(super) fn finish(&mut self) {
        self.moved.sort_unstable();
        let mut moved = self.moved.iter().copied().peekable();
        let mut place = 0;
        self.files.retain(|_| {
            let stays = moved.next_if_eq(&place).is_none();
            place += 1;
            stays
        });
        for (file, n) in self.files.iter_mut().zip(1..) {
            if file.filename.is_empty() {
                file.filename = invented(n, &file.media_type);
            }
        }
    }
}
