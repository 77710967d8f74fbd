use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{DerSignature, VerifyingKey};
use p256::pkcs8::DecodePublicKey as _;

use super::*;

/// The verification of a receiver, from the public key's text, the two headers and the body.
fn verifies(public: &str, timestamp: &str, body: &[u8], signature: &str) -> bool {
    let spki = STANDARD.decode(public).unwrap();
    let key = VerifyingKey::from_public_key_der(&spki).unwrap();
    let der = STANDARD.decode(signature).unwrap();
    let signature = DerSignature::try_from(der.as_slice()).unwrap();
    key.verify(&[timestamp.as_bytes(), body].concat(), &signature)
        .is_ok()
}

fn private(hex: &str) -> [u8; 32] {
    let digits: Vec<_> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let bytes = digits
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = bytes
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

/// Made with the command line of OpenSSL 3: a key pair, and its signature of a post of two events.
const OPENSSL_PRIVATE: &str = "61d4814b8f9ac8d391cb78139a699ee3443d00a0e26ac1297229a60e26241888";
const OPENSSL_PUBLIC: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEoFyIVJRbRtcI6kscxzxg9QoYOWRcC7VUJtoHim2odcExo38U19wyQm81MWzHf3L1l8gG+dXlAOiAZMF1dIAOMA==";
const OPENSSL_SIGNATURE: &str = "MEYCIQDwXnkj0zEN1DjncSI66eCDYJWnDDojr+f+nCRC+3JziQIhAJRRnCLQDlt0zigMpuoprGFYNf8iOYfzDLGg2HmGQk0w";
const OPENSSL_BODY: &str = "[{\"email\":\"hello@world.com\",\"event\":\"dropped\",\"reason\":\"Größe\",\"sg_event_id\":\"ZHJvcC0x\",\"timestamp\":1600112492},\r\n{\"email\":\"a@b.co\"}]\r\n";

#[test]
fn a_private_key_has_the_public_key_that_openssl_gives_it() {
    let pair = WebhookKeyPair::from_bytes(&private(OPENSSL_PRIVATE)).unwrap();
    assert_eq!(pair.public_key(), OPENSSL_PUBLIC);
    assert_eq!(pair.public_key().len(), 124);
    assert_eq!(pair.to_bytes(), private(OPENSSL_PRIVATE));
}

#[test]
fn our_reading_of_a_signature_is_the_one_of_openssl() {
    let body = OPENSSL_BODY.as_bytes();
    let check = |time, body| verifies(OPENSSL_PUBLIC, time, body, OPENSSL_SIGNATURE);
    assert!(check("1600112502", body));
    assert!(!check("1600112503", body));
    assert!(!check("1600112502", body.strip_suffix(b"\r\n").unwrap()));
}

#[test]
fn signatures_are_those_of_rfc_6979() {
    // Appendix A.2.5, SHA-256, message "sample". The DER frame is put around r and s by hand.
    let x = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
    let r = "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716";
    let s = "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8";
    let der = [
        &[0x30, 70, 2, 33, 0][..],
        &private(r),
        &[2, 33, 0],
        &private(s),
    ];
    let want = STANDARD.encode(der.concat());

    let pair = WebhookKeyPair::from_bytes(&private(x)).unwrap();
    for (timestamp, body) in [("", "sample"), ("sam", "ple"), ("sample", "")] {
        assert_eq!(pair.sign(timestamp, body.as_bytes()), want);
    }
}

#[test]
fn every_signature_verifies_and_holds_only_for_its_bytes() {
    let pair = WebhookKeyPair::generate(&Entropy::counting()).unwrap();
    let other = WebhookKeyPair::generate(&Entropy::new(|slice| slice.fill(7))).unwrap();
    for n in 0..64_u8 {
        let body = vec![n; usize::from(n)];
        let time = format!("{}", 1_600_000_000 + i64::from(n));
        let signature = pair.sign(&time, &body);
        assert!(verifies(pair.public_key(), &time, &body, &signature), "{n}");
        assert!(
            !verifies(other.public_key(), &time, &body, &signature),
            "{n}"
        );
        assert!(!verifies(pair.public_key(), "0", &body, &signature), "{n}");
    }
}

#[test]
fn bytes_outside_the_group_are_no_key() {
    let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551";
    for bytes in [[0; 32], [0xff; 32], private(order)] {
        assert_eq!(WebhookKeyPair::from_bytes(&bytes).err(), Some(UnusableKey));
    }
    let broken = Entropy::new(|slice| slice.fill(0xff));
    assert_eq!(WebhookKeyPair::generate(&broken).err(), Some(UnusableKey));
}

#[test]
fn a_private_key_does_not_print() {
    let pair = WebhookKeyPair::from_bytes(&private(OPENSSL_PRIVATE)).unwrap();
    assert_eq!(
        format!("{pair:?}"),
        format!("WebhookKeyPair({OPENSSL_PUBLIC})")
    );
}
