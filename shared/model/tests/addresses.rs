//! Addresses by the grammar of RFC 5321 (mailboxes on the wire), RFC 5322 (mailboxes in a header)
//! and RFC 6531 (both in any script): what is accepted, in which form it travels, and what is refused.

use posthaste_model::{
    EmailAddress, InvalidAddress, LONGEST_ADDRESS, LONGEST_LOCAL, LONGEST_ON_THE_WIRE,
};

/// Section, address as written, address on the wire.
const TAKEN: &[(&str, &str, &str)] = &[
    // RFC 5321, 4.1.2: Dot-string = Atom *("." Atom), atext of RFC 5322, 3.2.3.
    ("5321 4.1.2", "ann@example.com", "ann@example.com"),
    ("5321 4.1.2", "a@b.co", "a@b.co"),
    (
        "5321 4.1.2",
        "first.last@example.com",
        "first.last@example.com",
    ),
    ("5321 4.1.2", "1.2.3@example.com", "1.2.3@example.com"),
    (
        "5322 3.2.3",
        "!#$%&'*+-/=?^_`{|}~@example.com",
        "!#$%&'*+-/=?^_`{|}~@example.com",
    ),
    ("5322 3.2.3", "user+tag@example.com", "user+tag@example.com"),
    ("5322 3.2.3", "o'brien@example.com", "o'brien@example.com"),
    ("5322 3.2.3", "-ann-@example.com", "-ann-@example.com"),
    ("5322 3.2.3", "a/b=c@example.com", "a/b=c@example.com"),
    // 2.4: the local part keeps its case, the domain has none.
    ("5321 2.4", "Ann.Smith@EXAMPLE.Com", "Ann.Smith@example.com"),
    // 4.1.2: Quoted-string = DQUOTE *QcontentSMTP DQUOTE.
    ("5321 4.1.2", "\"ann\"@example.com", "\"ann\"@example.com"),
    ("5321 4.1.2", "\"\"@example.com", "\"\"@example.com"),
    ("5321 4.1.2", "\"a b\"@example.com", "\"a b\"@example.com"),
    ("5321 4.1.2", "\"a@b\"@example.com", "\"a@b\"@example.com"),
    ("5321 4.1.2", "\"a..b\"@example.com", "\"a..b\"@example.com"),
    (
        "5321 4.1.2",
        "\"(),:;<>[]\"@example.com",
        "\"(),:;<>[]\"@example.com",
    ),
    (
        "5321 4.1.2",
        "\"a\\\"b\\\\c\"@example.com",
        "\"a\\\"b\\\\c\"@example.com",
    ),
    // 2.3.5 and 4.1.2: Domain = sub-domain *("." sub-domain); one label is a name too.
    ("5321 2.3.5", "ann@localhost", "ann@localhost"),
    ("5321 4.1.2", "ann@a-b.c-d.example", "ann@a-b.c-d.example"),
    ("5321 4.1.2", "ann@1and1.example", "ann@1and1.example"),
    ("5321 4.1.2", "ann@123.456.example", "ann@123.456.example"),
    // Not in the grammar, but names like this receive mail.
    (
        "2181 11",
        "ann@my_host.example.com",
        "ann@my_host.example.com",
    ),
    // RFC 6531, 3.3: atext and qtext with any letter outside ASCII, U-labels in the domain.
    ("6531 3.3", "pepé@example.com", "pepé@example.com"),
    (
        "6531 3.3",
        "伊昭傑@郵件.example",
        "伊昭傑@xn--5nqv22n.example",
    ),
    (
        "6531 3.3",
        "θσερ@εχαμπλε.ψομ",
        "θσερ@xn--mxahbxey0c.xn--xxaf0a",
    ),
    (
        "6531 3.3",
        "संपर्क@डाटामेल.भारत",
        "संपर्क@xn--c2bd4bq1db8d.xn--h2brj9c",
    ),
    ("6531 3.3", "\"ä ö\"@example.com", "\"ä ö\"@example.com"),
    ("6531 3.3", "👍@example.com", "👍@example.com"),
    // RFC 5890 and 5891: the same name in both forms, letters folded.
    (
        "5891 5.3",
        "ann@MÜLLER.example",
        "ann@xn--mller-kva.example",
    ),
    (
        "5891 5.3",
        "ann@xn--mller-kva.example",
        "ann@xn--mller-kva.example",
    ),
    (
        "5891 5.3",
        "ann@bücher.café.example",
        "ann@xn--bcher-kva.xn--caf-dma.example",
    ),
    // White space around it is the caller's, not the address's.
    ("ours", " \t ann@example.com\r\n", "ann@example.com"),
];

use InvalidAddress::{Domain, Local, NoAt};

/// Section, address, what is wrong with it.
const REFUSED: &[(&str, &str, InvalidAddress)] = &[
    ("5321 4.1.2", "", NoAt),
    ("5321 4.1.2", "ann", NoAt),
    ("5321 4.1.2", "example.com", NoAt),
    ("5321 4.1.2", "@example.com", Local),
    ("5321 4.1.2", "ann@", Domain),
    ("5321 4.1.2", "@", Local),
    // An atom has a letter, and dots stand between atoms.
    ("5321 4.1.2", ".ann@example.com", Local),
    ("5321 4.1.2", "ann.@example.com", Local),
    ("5321 4.1.2", "a..b@example.com", Local),
    // Specials need quotes (RFC 5322, 3.2.3).
    ("5322 3.2.3", "a b@example.com", Local),
    ("5322 3.2.3", "a,b@example.com", Local),
    ("5322 3.2.3", "a;b@example.com", Local),
    ("5322 3.2.3", "a:b@example.com", Local),
    ("5322 3.2.3", "a(b)@example.com", Local),
    ("5322 3.2.3", "a<b>@example.com", Local),
    ("5322 3.2.3", "a[b]@example.com", Local),
    ("5322 3.2.3", "a\\b@example.com", Local),
    ("5322 3.2.3", "a@b@example.com", Local),
    ("5322 3.2.3", "a\"b\"@example.com", Local),
    ("5322 3.2.4", "\"ann@example.com", Local),
    ("5322 3.2.4", "ann\"@example.com", Local),
    ("5322 3.2.4", "\"a\"b\"@example.com", Local),
    ("5322 3.2.4", "\"a\\\"@example.com", Local),
    ("5322 3.2.4", "\"a\tb\"@example.com", Local),
    // Words of RFC 5322, 4.4 that RFC 5321 does not have.
    ("5322 4.4", "\"a\".b@example.com", Local),
    ("5322 3.2.2", "ann(comment)@example.com", Local),
    ("5322 3.2.2", "ann@(comment)example.com", Domain),
    ("5322 3.4", "Ann <ann@example.com>", Local),
    ("5322 3.4", "<ann@example.com>", Local),
    ("5322 3.4", "ann@example.com, bob@example.com", Local),
    // No line end passes.
    ("5321 4.1.2", "ann\r\n@example.com", Local),
    ("5321 4.1.2", "ann@example.com\r\nRCPT TO:<x@y.z>", Local),
    ("5321 4.1.2", "ann@example.com\nBcc", Domain),
    ("5321 4.1.2", "\"a\r\nb\"@example.com", Local),
    ("5321 4.1.2", "ann\0@example.com", Local),
    ("5321 4.1.2", "ann@exam\0ple.com", Domain),
    ("5321 4.1.2", "ann\u{7f}@example.com", Local),
    ("5321 4.1.2", "ann\u{85}@example.com", Local),
    // Names.
    ("1035 2.3.1", "ann@-example.com", Domain),
    ("1035 2.3.1", "ann@example-.com", Domain),
    ("1035 2.3.1", "ann@example..com", Domain),
    ("1035 2.3.1", "ann@.example.com", Domain),
    ("1035 2.3.1", "ann@example.com.", Domain),
    ("1035 2.3.1", "ann@exa mple.com", Domain),
    ("1035 2.3.1", "ann@example,com", Domain),
    ("1035 2.3.1", "ann@example.com/path", Domain),
    // Literals name a machine, not a domain; they are refused.
    ("5321 4.1.3", "ann@[192.0.2.1]", Domain),
    ("5321 4.1.3", "ann@[IPv6:2001:db8::1]", Domain),
    ("5321 4.1.3", "ann@192.0.2.1", Domain),
    ("5321 4.1.3", "ann@example.1", Domain),
    // Marks that make one address look like another.
    ("ours", "ann\u{200b}@example.com", Local),
    ("ours", "ann\u{202e}moc@example.com", Local),
    ("ours", "\u{feff}ann@example.com", Local),
    ("ours", "ann\u{2028}@example.com", Local),
    ("ours", "ann\u{a0}b@example.com", Local),
    ("5891 4.2", "ann@\u{301}a.example", Domain),
];

#[test]
fn what_the_grammar_allows_is_accepted_and_travels_in_one_form() {
    for (section, text, wire) in TAKEN {
        let address = EmailAddress::parse(text);
        let address = address.unwrap_or_else(|why| panic!("{section}: {text:?}: {why}"));
        assert_eq!(address.wire(), *wire, "{section}");
        assert_eq!(address.as_str(), text.trim(), "{section}");
        assert_eq!(
            address.needs_smtputf8(),
            !wire.is_ascii(),
            "{section}: {text}"
        );
        // What travels is an address again, of the same mailbox.
        let again = EmailAddress::parse(wire).expect("the wire form is one");
        assert_eq!(again.folded(), address.folded(), "{section}: {text}");
    }
}

#[test]
fn everything_else_is_refused_with_the_part_that_is_wrong() {
    let wrong = REFUSED.iter().filter_map(|(section, text, why)| {
        let got = EmailAddress::parse(text).map(String::from);
        (got != Err(*why)).then(|| format!("{section}: {text:?}: {got:?}, not {why:?}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lengths_are_those_of_the_api_and_of_the_dns() {
    let local = |letters: usize| format!("{}@example.com", "a".repeat(letters));
    // RFC 5321, 4.5.3.1.1: 64 octets, which are fewer letters outside ASCII.
    assert!(EmailAddress::parse(&local(LONGEST_LOCAL)).is_ok());
    assert_eq!(EmailAddress::parse(&local(LONGEST_LOCAL + 1)), Err(Local));
    let wide = |letters: usize| format!("{}@example.com", "é".repeat(letters));
    assert!(EmailAddress::parse(&wide(LONGEST_LOCAL / 2)).is_ok());
    assert_eq!(
        EmailAddress::parse(&wide(LONGEST_LOCAL / 2 + 1)),
        Err(Local)
    );
    // The limit of the v3 API is reported before.
    let most = LONGEST_ADDRESS - "@example.com".len();
    assert_eq!(EmailAddress::parse(&local(most)), Err(Local));
    let too_long = Err(InvalidAddress::TooLong);
    assert_eq!(EmailAddress::parse(&local(most + 1)), too_long);
    // What releases before took is read from where it is stored: its line of a header ends (RFC
    // 5322, 2.1.1), and an address can't be folded.
    let octets = |more: &str| {
        let most = LONGEST_ON_THE_WIRE - "@example.com".len();
        let wide = "\u{1d54f}".repeat(most / 4);
        assert_eq!(most % 4, 0);
        EmailAddress::try_from(format!("{wide}{more}@example.com"))
    };
    assert_eq!(octets("").unwrap().wire().len(), LONGEST_ON_THE_WIRE);
    assert_eq!(octets("a"), too_long);
    // RFC 1035, 2.3.4: a label has 63 octets, a name 253 with its dots.
    let label = |letters: usize| format!("ann@{}.example", "a".repeat(letters));
    assert!(EmailAddress::parse(&label(63)).is_ok());
    assert_eq!(EmailAddress::parse(&label(64)), Err(Domain));
    let name = |letters: usize| {
        let labels = format!("{0}.{0}.{0}.", "a".repeat(63));
        format!("ann@{labels}{}", "b".repeat(letters))
    };
    assert!(EmailAddress::parse(&name(61)).is_ok());
    assert_eq!(EmailAddress::parse(&name(62)), Err(Domain));
}
