//! Tokens round-trip unchanged, or are refused.

use super::*;
use proptest::prelude::*;

const OLD: [u8; 32] = [7; 32];
const NEW: [u8; 32] = [8; 32];

fn ring(keys: &[(u8, &[u8])]) -> KeyRing {
    KeyRing::new(keys).unwrap()
}

fn any_action() -> impl Strategy<Value = LinkAction> {
    let part = prop_oneof![
        Just(LinkPart::Html),
        Just(LinkPart::Text),
        Just(LinkPart::Amp),
        Just(LinkPart::Header)
    ];
    prop_oneof![
        part.clone().prop_map(|part| LinkAction::Open { part }),
        (part, any::<u32>(), ".*").prop_map(|(part, index, url)| LinkAction::Click {
            part,
            index,
            url
        }),
        Just(LinkAction::Unsubscribe),
        any::<i64>().prop_map(|group| LinkAction::GroupUnsubscribe { group }),
        (any::<i64>(), prop::collection::vec(any::<i64>(), 0..25))
            .prop_map(|(group, display)| LinkAction::Preferences { group, display }),
    ]
}

fn any_token() -> impl Strategy<Value = LinkToken> {
    let message = prop_oneof![
        any::<[u8; 16]>().prop_map(MessageId::from_bytes),
        "[A-Za-z0-9_-]{22}".prop_map(|text| MessageId::parse(&text).unwrap()),
    ];
    (
        any::<[u8; 10]>(),
        message,
        any::<u32>(),
        ".*",
        any::<i64>(),
        prop::option::of("[a-z0-9.-]{1,60}"),
        any_action(),
    )
        .prop_map(
            |(account, message, recipient, email, issued, host, action)| LinkToken {
                account: AccountId::from_bytes(account),
                message,
                recipient,
                email,
                issued: Timestamp(issued),
                host,
                action,
            },
        )
}

proptest! {
    #[test]
    fn a_token_decodes_to_what_was_signed(token in any_token()) {
        let keys = ring(&[(1, &NEW)]);
        let text = keys.sign(&token);
        prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        prop_assert_eq!(keys.verify(&text), Ok(token));
    }

    #[test]
    fn a_changed_bit_is_refused(token in any_token(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let keys = ring(&[(1, &NEW), (2, &OLD)]);
        let mut bytes = URL_SAFE_NO_PAD.decode(keys.sign(&token)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(keys.verify(&URL_SAFE_NO_PAD.encode(bytes)).is_err());
    }

    #[test]
    fn a_changed_character_is_refused(token in any_token(), at in any::<prop::sample::Index>(), new in "[A-Za-z0-9_-]") {
        let keys = ring(&[(1, &NEW)]);
        let text = keys.sign(&token);
        let at = at.index(text.len());
        let changed = format!("{}{new}{}", &text[..at], &text[at + 1..]);
        prop_assert_eq!(keys.verify(&changed).is_ok(), changed == text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".*|[A-Za-z0-9_-]{0,200}") {
        prop_assert!(ring(&[(1, &NEW)]).verify(&text).is_err());
    }

    #[test]
    fn a_signed_body_of_any_form_reads_or_is_refused(mut body in prop::collection::vec(any::<u8>(), 2..200)) {
        let keys = ring(&[(1, &NEW)]);
        let version = if body[0] & 0x10 == 0 { VERSION } else { VERSION_WITH_HOST };
        body[0] = version << 4 | body[0] & 0xf;
        body[1] = 1;
        let tag = keys.current.1.clone().chain_update(&body).finalize().into_bytes();
        body.extend(&tag[..TAG]);
        if let Ok(token) = keys.verify(&URL_SAFE_NO_PAD.encode(&body)) {
            prop_assert_eq!(keys.verify(&keys.sign(&token)), Ok(token));
        }
    }
}

fn token(action: LinkAction) -> LinkToken {
    LinkToken {
        account: AccountId::from_bytes([3; 10]),
        message: MessageId::from_bytes([4; 16]),
        recipient: 2,
        email: "ann@example.com".to_owned(),
        issued: Timestamp(1_795_820_482),
        host: None,
        action,
    }
}

#[test]
fn a_rotated_secret_keeps_old_links_alive() {
    let old = ring(&[(1, &OLD)]);
    let text = old.sign(&token(LinkAction::Unsubscribe));

    let rotated = ring(&[(2, &NEW), (1, &OLD)]);
    assert!(rotated.verify(&text).is_ok());
    assert!(
        rotated
            .verify(&rotated.sign(&token(LinkAction::Unsubscribe)))
            .is_ok()
    );
    assert_eq!(
        ring(&[(2, &NEW)]).verify(&text),
        Err(InvalidToken::Signature)
    );
    assert_eq!(
        ring(&[(1, &NEW)]).verify(&text),
        Err(InvalidToken::Signature)
    );
    assert_eq!(
        old.verify(&rotated.sign(&token(LinkAction::Unsubscribe))),
        Err(InvalidToken::Signature)
    );
}

#[test]
fn a_key_ring_refuses_weak_and_doubled_keys() {
    assert_eq!(KeyRing::new(&[]).err(), Some(InvalidKey::Empty));
    assert_eq!(
        KeyRing::new(&[(1, &NEW[..31])]).err(),
        Some(InvalidKey::Short { id: 1 })
    );
    assert_eq!(
        KeyRing::new(&[(1, &NEW), (1, &OLD)]).err(),
        Some(InvalidKey::Twice { id: 1 })
    );
}

#[test]
fn a_key_ring_does_not_print_its_secrets() {
    assert_eq!(
        format!("{:?}", ring(&[(9, &NEW)])),
        "KeyRing(key 9 signs, …)"
    );
}

#[test]
fn a_link_made_by_the_first_release_still_works() {
    let text = ring(&[(1, &OLD)]).sign(&token(LinkAction::Click {
        part: LinkPart::Html,
        index: 3,
        url: "https://example.com/?a=1&b=2".to_owned(),
    }));
    assert_eq!(text, FIRST_RELEASE);
}

const FIRST_RELEASE: &str = "EgEKMzMzMzMzMzMzMxAEBAQEBAQEBAQEBAQEBAQEAg9hbm5AZXhhbXBsZS5jb22Er9CwDQADHGh0dHBzOi8vZXhhbXBsZS5jb20vP2E9MSZiPTKBPgw8J3X9FAYuEe1cJBLJ";
