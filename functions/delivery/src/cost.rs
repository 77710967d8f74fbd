//! What a mail and its copies cost: the work of making a copy, which decides where that runs, and the memory that both
//! take until they are handed over.

use std::sync::Arc;

use posthaste_mailer::Mailer;
use posthaste_model::{Mail, RecipientCopy};
use posthaste_offload::INLINE;
use posthaste_render::{Compiled, Rendered};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::JobContext;

/// Bytes of all copies of this process that are made or handed over. A function has 512 MB.
const MOST_BYTES: usize = 192 << 20;

/// Bytes of all mails of this process that were read from the bucket, and of one that is being read.
const MOST_LOADED: usize = 176 << 20;

/// What reading a mail from the bucket takes: compressed, as JSON, and as a mail.
const LOADING: usize = 128 << 20;

/// The bytes of one permit.
const PERMIT: usize = 1 << 10;

/// A copy is composed out of its texts and files.
const TIMES: usize = 2;

/// SES gets it in base64, within JSON.
const TIMES_BY_SES: usize = 4;

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

/// What a mail takes that was read: its texts and what its copies carry.
pub(crate) fn loaded_size(mail: &Mail) -> usize {
    let texts: usize = mail.content.iter().map(|text| text.value.len()).sum();
    let tags = mail
        .personalizations
        .iter()
        .map(|one| bytes(&one.substitutions));
    texts + carried_size(mail) + bytes(&mail.sections) + tags.sum::<usize>()
}

fn header_size(mail: &Mail) -> usize {
    let people = std::iter::once(&mail.from).chain(&mail.reply_to);
    let names = people.map(|one| one.name.as_ref().map_or(0, String::len));
    let subject = mail.subject.as_ref().map_or(0, String::len);
    names.sum::<usize>() + subject + bytes(&mail.headers)
}

/// The memory of the mails and copies that are under way. Clones share it.
///
/// A job that holds room for its mail waits for room for its copies, never the reverse: they are counted apart, so that
/// no two jobs wait for each other.
#[derive(Clone, Debug)]
pub struct CopyMemory {
    copies: Arc<Semaphore>,
    mails: Arc<Semaphore>,
    times: usize,
}

/// The memory of one mail or copy, until it is dropped.
pub(crate) struct Room {
    permits: Option<OwnedSemaphorePermit>,
    times: usize,
}

impl CopyMemory {
    /// The memory of a function, whose copies leave by this relay.
    pub fn new(mailer: &Mailer) -> Self {
        Self::of(match mailer {
            Mailer::Smtp(_) => TIMES,
            Mailer::Ses(_) => TIMES_BY_SES,
        })
    }

    fn of(times: usize) -> Self {
        Self {
            copies: Arc::new(Semaphore::new(MOST_BYTES / PERMIT)),
            mails: Arc::new(Semaphore::new(MOST_LOADED / PERMIT)),
            times,
        }
    }

    /// Waits until there is room to read a mail from the bucket. It is shrunk to the mail.
    pub(crate) async fn room_to_load(&self) -> Room {
        let permits = self.mails.clone().acquire_many_owned(permits(LOADING, 1));
        Room {
            permits: permits.await.ok(),
            times: 1,
        }
    }

    /// Waits until there is room for a copy of so many bytes. Small ones do not wait.
    pub(crate) async fn room(&self, bytes: usize) -> Room {
        let times = self.times;
        if bytes <= INLINE {
            return Room {
                permits: None,
                times,
            };
        }
        // Never closed.
        let permits = permits(bytes, times);
        Room {
            permits: self.copies.clone().acquire_many_owned(permits).await.ok(),
            times,
        }
    }
}

impl Room {
    /// Gives back what is more than so many bytes take.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Some(held) = &mut self.permits {
            let excess = held
                .num_permits()
                .saturating_sub(permits(bytes, self.times) as usize);
            drop(held.split(excess));
        }
    }
}

/// At most all of them: a single copy always finds room in the end.
fn permits(bytes: usize, times: usize) -> u32 {
    let wanted = bytes.saturating_mul(times).min(MOST_BYTES) / PERMIT;
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
        let memory = CopyMemory::of(TIMES);
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

    #[tokio::test]
    async fn mails_are_read_while_there_is_memory_for_the_largest() {
        const LARGE: usize = 40 << 20;
        let memory = CopyMemory::of(TIMES_BY_SES);
        let mut first = memory.room_to_load().await;
        assert!(memory.room_to_load().now_or_never().is_none());
        first.shrink(LARGE);
        let mut second = memory.room_to_load().now_or_never().expect("room");
        second.shrink(LARGE);
        // 80 MB are held, and what reading takes does not fit beside them.
        assert!(memory.room_to_load().now_or_never().is_none());
        // Jobs that hold a mail find room for copies, whatever waits to be read.
        assert!(memory.room(LARGE).now_or_never().is_some());
        drop(first);
        assert!(memory.room_to_load().now_or_never().is_some());
    }
}
