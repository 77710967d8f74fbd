//! The client and its tokens against receivers over TCP.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod client;
mod names;
mod oauth;

use std::time::Duration;

use http::HeaderMap;
use posthaste_webhook::{ClientConfig, Guard, Post, PostOutcome, check_url};

pub(crate) const SOON: Duration = Duration::from_secs(5);

pub(crate) fn loopback() -> ClientConfig {
    ClientConfig {
        guard: Guard::with_loopback(),
        ..ClientConfig::default()
    }
}

pub(crate) fn impatient() -> ClientConfig {
    ClientConfig {
        total: Duration::from_millis(200),
        body: Duration::from_millis(100),
        ..loopback()
    }
}

pub(crate) fn post(url: &str) -> Post {
    Post {
        url: check_url(url, &Guard::with_loopback()).unwrap(),
        headers: HeaderMap::new(),
        body: "[{}]\r\n".into(),
    }
}

pub(crate) fn status(outcome: &PostOutcome) -> u16 {
    outcome.status().map_or(0, |status| status.as_u16())
}
