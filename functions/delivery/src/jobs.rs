//! Reads jobs of the send queue, and cuts large ones.

use std::time::Duration;

use posthaste_blob::BlobError;
use posthaste_model::{Mail, Span};
use posthaste_offload::UNKNOWN;
use posthaste_queue::{Disposition, Job, JobBody, JobError, unpack};
use posthaste_runtime::WorkError;

use crate::App;
use crate::cost::{Room, loaded_size};

/// A job with more recipients than this is split into ranges first, so that no invocation runs past
/// half its timeout.
pub(crate) const RANGE: usize = 50;

/// Why a job cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unloadable {
    #[error("a send job cannot be read: {0}")]
    Unreadable(#[from] JobError),
    #[error("a send job cannot be read: its blob {0} is gone")]
    Bodiless(String),
    #[error("a send job must wait: {0}")]
    Later(BlobError),
}

impl Unloadable {
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Later(_) => Disposition::Retry,
            Self::Unreadable(_) | Self::Bodiless(_) => Disposition::Fail,
        }
    }
}

/// The mail of a job, with the memory that it takes if it was large enough for the bucket.
pub(crate) async fn load(app: &App, job: &mut Job) -> Result<(Mail, Option<Room>), Unloadable> {
    let mut room = None;
    let mail = match &mut job.body {
        // A compressed body is larger than it looks.
        JobBody::Packed(packed) => posthaste_offload::run(UNKNOWN, || packed.unpack()).await?,
        JobBody::Blob(name) => {
            room = Some(app.memory.room_to_load().await);
            match app.blob.get(name).await {
                Ok(bytes) => posthaste_offload::run(UNKNOWN, || unpack(&bytes)).await?,
                Err(BlobError::Missing(name)) => {
                    return Err(Unloadable::Bodiless(name));
                }
                Err(error @ BlobError::Unreachable(_)) => {
                    return Err(Unloadable::Later(error));
                }
            }
        }
        JobBody::Mail(mail) => (**mail).clone(),
    };
    let size = crate::submitted::size(&mail);
    let opened = || crate::submitted::opened(mail);
    let mail = posthaste_offload::run(size, opened).await;
    if let Some(room) = &mut room {
        room.shrink(loaded_size(&mail));
    }
    Ok((mail, room))
}

/// Replaces a large job by jobs of at most [`RANGE`] recipients. Running twice creates each range
/// twice, which the claims absorb.
pub(crate) async fn split_job(app: &App, job: &Job, recipients: &[u32]) -> Result<(), WorkError> {
    // Each part repeats a body that travels in the job, up to 240 KB.
    const MADE_AT_ONCE: usize = 10;
    for several in recipients.chunks(RANGE * MADE_AT_ONCE) {
        let mut messages = Vec::new();
        for chunk in several.chunks(RANGE) {
            let part = Job {
                spans: spans(chunk),
                left: true,
                ..job.clone()
            };
            messages.push((part.to_text()?, Duration::ZERO));
        }
        app.send.send_all(messages).await?;
    }
    Ok(())
}

/// Groups the ascending numbers into ranges.
pub(crate) fn spans(recipients: &[u32]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for &recipient in recipients {
        match spans.last_mut() {
            Some(last) if last.to == recipient => last.to += 1,
            Some(_) | None => spans.push(Span {
                from: recipient,
                to: recipient + 1,
            }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        let span = |from, to| Span { from, to };
        assert_eq!(
            spans(&[0, 1, 2, 5, 7, 8]),
            [span(0, 3), span(5, 6), span(7, 9)]
        );
        assert!(spans(&[]).is_empty());
    }
}
