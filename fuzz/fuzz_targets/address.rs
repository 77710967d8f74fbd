//! Any text as an address: no panic, and what passes is one line that reads the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use posthaste_model::{EmailAddress, InvalidAddress};

fuzz_target!(|text: &str| {
    let Ok(address) = EmailAddress::parse(text) else {
        return;
    };
    assert!(!address.wire().contains(['\r', '\n', '\0']));
    assert!(address.ascii_domain().is_ascii());
    assert_eq!(EmailAddress::parse(address.as_str()).as_ref(), Ok(&address));
    // A-labels are longer than the letters they stand for: the wire form may pass the limit.
    match EmailAddress::parse(&address.wire()) {
        Ok(wire) => assert_eq!(wire.folded(), address.folded()),
        Err(why) => assert_eq!(why, InvalidAddress::TooLong),
    }
});
