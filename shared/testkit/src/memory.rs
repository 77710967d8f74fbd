//! What a process has held in memory, on Linux.

use std::fs;

/// The most memory that this process has held so far, in bytes: for a test that is the only one of its program.
///
/// # Panics
/// When the system does not say.
pub fn most_memory() -> u64 {
    most_memory_of("self")
}

/// The same of another process, by its number (`VmHWM` of `proc_pid_status(5)`).
pub(crate) fn most_memory_of(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("a process that runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes = kilobytes.and_then(|figure| figure.parse::<u64>().ok());
    kilobytes.expect("a figure") << 10
}
