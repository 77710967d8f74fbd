//! Digests by which the journal knows items and files again.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The digest of bytes, as the journal stores it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The digest of bytes that come piece by piece.
#[derive(Clone, Default)]
pub(crate) struct RunningDigest(Sha256);

impl RunningDigest {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Of what came so far.
    pub(crate) fn text(&self) -> String {
        HEXLOWER.encode(&self.0.clone().finalize())
    }
}
