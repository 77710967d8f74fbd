//! Runs one case where it can do no harm, and says which one did.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// An eighth of what a thread has by default: what recurses with its input overflows it at once.
const STACK: usize = 256 * 1024;

/// A guard against hanging, and not a measure of speed.
const HANG: Duration = Duration::from_secs(60);

/// Runs the case on a small stack.
///
/// # Panics
/// When it panics, or is not done within a minute. An overflow ends the process, which then names
/// the thread: it has the name of the case.
#[expect(
    clippy::print_stderr,
    reason = "`--nocapture` shows what each case takes"
)]
#[track_caller]
pub(crate) fn survive(name: &str, case: impl FnOnce() + Send + 'static) {
    let (done, waiting) = mpsc::channel();
    let started = Instant::now();
    let thread = Builder::new().name(name.to_owned()).stack_size(STACK);
    let running = thread.spawn(move || {
        case();
        let _ = done.send(());
    });
    match waiting.recv_timeout(HANG) {
        Ok(()) => eprintln!("{name}: {:?}", started.elapsed()),
        Err(RecvTimeoutError::Timeout) => panic!("{name}: still running after {HANG:?}"),
        Err(RecvTimeoutError::Disconnected) => {
            let ended = running.unwrap().join();
            panic!("{name}: panicked: {:?}", ended.err().map(|why| text(&*why)));
        }
    }
}

fn text(why: &(dyn std::any::Any + Send)) -> String {
    let fixed = why.downcast_ref::<&str>().map(|text| (*text).to_owned());
    fixed
        .or_else(|| why.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
