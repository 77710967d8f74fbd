//! Captures the log lines of a test's thread.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

thread_local! {
    static KEPT: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// The log lines of this thread as text, at the loudest level, the AWS SDK's own included.
///
/// One subscriber serves the whole process: with one for each thread, a line is lost for good to
/// all of them when a thread that has none comes to it first (`tracing` caches which subscribers
/// want a line).
pub struct CapturedLog(());

impl CapturedLog {
    /// Captures the log lines of this thread from here on, for as long as the value lives.
    ///
    /// # Panics
    /// When the process has another log subscriber.
    pub fn kept() -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            tracing_subscriber::fmt()
                .with_max_level(tracing::Level::TRACE)
                .with_ansi(false)
                .with_writer(|| Thread)
                .init();
        });
        KEPT.set(Some(Vec::new()));
        Self(())
    }

    /// The log lines so far.
    pub fn text(&self) -> String {
        KEPT.with_borrow(|kept| {
            String::from_utf8_lossy(kept.as_deref().unwrap_or_default()).into_owned()
        })
    }
}

impl Drop for CapturedLog {
    fn drop(&mut self) {
        KEPT.set(None);
    }
}

/// Writes to this thread's capture, if it has one.
struct Thread;

impl Write for Thread {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        KEPT.with_borrow_mut(|kept| {
            if let Some(kept) = kept {
                kept.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
