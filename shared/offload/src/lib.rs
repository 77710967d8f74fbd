//! Runs work whose time grows with the size of a mail, away from the threads that serve.
//!
//! A mail of 30 MiB takes most of a second to parse, and longer to render. On a thread of the
//! runtime everything else that thread serves would wait that long: requests, SMTP commands, health
//! checks. [`run`] moves those tasks to another thread first, and runs at most one such work per
//! core at a time, so that their memory is bounded.

use std::sync::LazyLock;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// Input of at most this many bytes is processed in place: parsing it takes about as long as
/// handing it over, and it must not queue behind large input.
pub const INLINE: usize = 64 * 1024;

/// The size to pass for input whose processed size is not known beforehand, such as compressed
/// input.
pub const UNKNOWN: usize = usize::MAX;

static SLOTS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(concurrency()));

/// How many works larger than [`INLINE`] run at a time in this process: one for each core.
pub fn concurrency() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work`, whose time and memory grow with `size` bytes, without holding up other tasks.
///
/// Larger works wait for their turn. While one runs, other branches of the same task (of a `join!`,
/// say) wait for it. A runtime of one thread has no other thread to move tasks to, and the work
/// runs in place.
///
/// # Panics
/// When `work` does.
pub async fn run<T>(size: usize, work: impl FnOnce() -> T) -> T {
    if size <= INLINE {
        return work();
    }
    // Never closed.
    let _slot = SLOTS.acquire().await.ok();
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => tokio::task::block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::*;

    /// All slots taken by works that wait for the returned sender to be dropped.
    async fn occupy() -> (mpsc::Sender<()>, Vec<tokio::task::JoinHandle<()>>) {
        let (gate, closed) = mpsc::channel::<()>();
        let closed = Arc::new(std::sync::Mutex::new(closed));
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        let running = (0..concurrency()).map(|_| {
            let (closed, begun) = (closed.clone(), begun.clone());
            tokio::spawn(run(UNKNOWN, move || {
                begun.send(()).unwrap();
                let _ = closed.lock().unwrap().recv();
            }))
        });
        let running = running.collect();
        for _ in 0..concurrency() {
            begins.recv().await.unwrap();
        }
        (gate, running)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_slow_work_holds_up_no_task_and_no_small_work() {
        let (gate, running) = occupy().await;
        // The runtime has one thread, and every slot is taken.
        let small = tokio::spawn(run(INLINE, || 7));
        assert_eq!(small.await.unwrap(), 7);

        let done = Arc::new(AtomicUsize::new(0));
        let counted = done.clone();
        let large = tokio::spawn(run(INLINE + 1, move || {
            counted.fetch_add(1, Ordering::SeqCst)
        }));
        tokio::task::yield_now().await;
        assert_eq!(done.load(Ordering::SeqCst), 0, "it waits for a slot");
        drop(gate);
        large.await.unwrap();
        for one in running {
            one.await.unwrap();
        }
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_runs_it_all_the_same() {
        let text = "borrowed".to_owned();
        assert_eq!(run(UNKNOWN, || text.len()).await, 8);
    }
}
