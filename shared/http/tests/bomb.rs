//! A gzip bomb costs no more memory than the cap, however large it is. The only test of its binary:
//! it measures the process it runs in.

#![cfg(target_os = "linux")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use posthaste_http::{Inflated, inflate};

const MIB: usize = 1 << 20;

/// What mail/send lets a body unpack to.
const CAP: usize = 48 * MIB;

/// So many times 16 MiB of zeros, as members of one stream (RFC 1952, section 2.2).
fn bomb(members: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&vec![0; 16 * MIB]).expect("memory takes it");
    gzip.finish().expect("memory takes it").repeat(members)
}

/// The most memory this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    let kibibytes: usize = number.and_then(|n| n.parse().ok()).expect("a number");
    kibibytes * 1024
}

#[test]
fn a_bomb_stops_at_the_cap_with_constant_memory() {
    let (gigabyte, ten) = (bomb(64), bomb(640));
    let before = peak();
    assert_eq!(inflate(&gigabyte, CAP), Inflated::TooLarge);
    let once = peak();
    // What is unpacked grows by doubling.
    assert!(once - before < 2 * CAP, "{} bytes", once - before);
    assert_eq!(inflate(&ten, CAP), Inflated::TooLarge);
    assert!(peak() - once < MIB, "{} bytes more", peak() - once);
}
