//! Compressed request bodies, with a cap on their decompressed size.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;

/// The result of decompression.
#[derive(Debug, PartialEq, Eq)]
pub enum Inflated {
    Whole(Bytes),
    /// It exceeds the cap when decompressed; decompression stopped there.
    TooLarge,
    /// Not gzip, or truncated.
    Broken,
}

/// Decompresses a gzip body. Stops at `cap` bytes, so a bomb costs no more memory than that.
pub fn inflate(body: &[u8], cap: usize) -> Inflated {
    let mut whole = Vec::with_capacity(body.len().saturating_mul(4).min(cap));
    let limit = u64::try_from(cap).unwrap_or(u64::MAX).saturating_add(1);
    match MultiGzDecoder::new(body)
        .take(limit)
        .read_to_end(&mut whole)
    {
        Err(_) => Inflated::Broken,
        Ok(_) if whole.len() > cap => Inflated::TooLarge,
        Ok(_) => Inflated::Whole(whole.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_unpacks_up_to_the_cap_and_not_beyond() {
        let plain = vec![b'a'; 1000];
        assert_eq!(
            inflate(&gzip(&plain), 1000),
            Inflated::Whole(plain.clone().into())
        );
        assert_eq!(inflate(&gzip(&plain), 999), Inflated::TooLarge);
        assert_eq!(
            inflate(&gzip(&vec![0; 50_000_000]), 1000),
            Inflated::TooLarge
        );
    }

    #[test]
    fn what_is_not_gzip_is_broken() {
        let whole = gzip(b"hello");
        assert_eq!(inflate(b"{}", 10), Inflated::Broken);
        assert_eq!(
            inflate(whole.get(..whole.len() - 3).unwrap(), 10),
            Inflated::Broken
        );
    }
}
