//! What a copy costs: the work of making it, which decides where that runs, and the memory that it takes until it is
//! handed over.

use std::sync::Arc;

use posthaste_model::{Mail, RecipientCopy};
use posthaste_offload::INLINE;
use posthaste_render::{Compiled, Rendered};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::JobContext;

/// Bytes of all copies of this process that are made or handed over. A function has 512 MB.
const MOST_BYTES: usize = 192 << 20;

/// The bytes of one permit.
const PERMIT: usize = 1 << 10;

/// A copy is composed out of its texts and files.
const TIMES: usize = 2;

/// Bytes that a link takes which an unsubscribe tag becomes, at least.
const LINK: usize = 1_024;

/// The maximum size in octets of the mail's texts once rendered, with the values inserted, and the work of preparing
/// the tags.
pub(crate) fn rendered_size(
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
) -> usize {
    let JobContext {
        mail, effective, ..
    } = context;
    // A template is compiled, and its loops over the data can produce any size.
    if template.is_some() {
        return posthaste_offload::UNKNOWN;
    }
    let (own, sections) = (&copy.personalization.substitutions, &mail.sections);
    let around = [&effective.footer.html, &effective.footer.text];
    let around = around.into_iter().flatten().map(String::len).sum::<usize>();
    let tag = effective.subscription.substitution_tag.as_ref();
    let leaving = tag.map_or(1, |tag| LINK.div_ceil(tag.len().max(1)));
    let tags = bytes(own) + bytes(sections);
    let texts: usize = mail.content.iter().map(|text| text.value.len()).sum();
    (texts + header_size(mail) + around)
        .saturating_mul(growth(own))
        .saturating_mul(growth(sections))
        .saturating_mul(leaving)
        // Preparing to search for a byte of a tag takes some ten times as long as reading a byte.
        .saturating_add(tags.saturating_mul(10))
}

fn bytes<'a>(tags: impl IntoIterator<Item = (&'a String, &'a String)>) -> usize {
    tags.into_iter()
        .map(|(tag, value)| tag.len() + value.len())
        .sum()
}

/// The factor by which a text may grow when each tag is replaced by its value.
fn growth<'a>(tags: impl IntoIterator<Item = (&'a String, &'a String)>) -> usize {
    let of_tag = |(tag, value): (&String, &String)| value.len().div_ceil(tag.len().max(1));
    tags.into_iter().map(of_tag).fold(1, usize::max)
}

/// The size of the rendered texts in octets.
pub(crate) fn texts_size(rendered: &Rendered) -> usize {
    let texts = rendered.parts.iter().map(|part| part.value.len());
    texts.sum::<usize>() + rendered.subject.len()
}

/// What every copy carries beside its texts: files with their names, headers, a submitted message.
pub(crate) fn carried_size(mail: &Mail) -> usize {
    let files = mail.attachments.iter().map(|file| {
        let id = file.content_id.as_ref().map_or(0, String::len);
        file.content.len() + file.filename.len() + id
    });
    files.sum::<usize>() + header_size(mail) + crate::submitted::size(mail)
}

fn header_size(mail: &Mail) -> usize {
    let people = std::iter::once(&mail.from).chain(&mail.reply_to);
    let names = people.map(|one| one.name.as_ref().map_or(0, String::len));
    let subject = mail.subject.as_ref().map_or(0, String::len);
    names.sum::<usize>() + subject + bytes(&mail.headers)
}

/// The memory of the copies that are under way. Clones share it.
#[derive(Clone, Debug)]
pub struct CopyMemory(Arc<Semaphore>);

impl Default for CopyMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_BYTES / PERMIT)))
    }
}

/// The memory of one copy, until it is dropped.
pub(crate) struct Room(Option<OwnedSemaphorePermit>);

impl CopyMemory {
    /// Waits until there is room for a copy of so many bytes. Small ones do not wait.
    pub(crate) async fn room(&self, bytes: usize) -> Room {
        if bytes <= INLINE {
            return Room(None);
        }
        // Never closed.
        Room(self.0.clone().acquire_many_owned(permits(bytes)).await.ok())
    }
}

impl Room {
    /// Gives back what is more than so many bytes take.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(held) = &mut self.0 {
            let excess = held.num_permits().saturating_sub(permits(bytes) as usize);
            drop(held.split(excess));
        }
    }
}

/// At most all of them: a single copy always finds room in the end.
fn permits(bytes: usize) -> u32 {
    let wanted = bytes.saturating_mul(TIMES).min(MOST_BYTES) / PERMIT;
    u32::try_from(wanted).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_claim_outlasts_the_longest_hand_over() {
        let longest = posthaste_mailer::Timeouts::default().total().as_secs();
        // Composing and the spam filter come before it.
        assert!(
            longest + 45 <= crate::context::LEASE.unsigned_abs(),
            "{longest}"
        );
    }

    #[tokio::test]
    async fn large_copies_wait_for_their_room_and_small_ones_for_nothing() {
        let memory = CopyMemory::default();
        let mut first = memory.room(MOST_BYTES).await;
        assert!(memory.room(INLINE + 1).now_or_never().is_none());
        assert!(memory.room(INLINE).now_or_never().is_some());
        first.shrink(MOST_BYTES / 4);
        let second = memory.room(MOST_BYTES / 4).now_or_never();
        assert!(second.is_some());
        assert!(memory.room(INLINE + 1).now_or_never().is_none());
        drop(first);
        assert!(memory.room(INLINE + 1).now_or_never().is_some());
    }
}
