//! Names of servers that the service connects to: relays and spam filters.

use std::net::Ipv4Addr;

/// Whether a name may be that of a server in a DNS or in a network of containers.
///
/// Labels have 1 to 63 ASCII letters, digits, `-` and `_`, none with a hyphen at an end; a name has at most 253
/// characters. One that ends in a number is an IPv4 address or nothing.
pub fn is_server_name(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|b| b.is_ascii_digit());
    name.len() <= 253
        && name.split('.').all(is_label)
        && (!is_number || name.parse::<Ipv4Addr>().is_ok())
}

fn is_label(label: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(legal)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_from_a_slip() {
        let long = format!("{}.example", "a".repeat(64));
        for (name, want) in [
            ("mail.example.com", true),
            ("MAIL", true),
            ("spam_d", true),
            ("127.0.0.1", true),
            ("1and1.example", true),
            ("-", false),
            ("-mail.example", false),
            ("mail-.example", false),
            ("", false),
            ("mail..example", false),
            (".example", false),
            ("mail.example.", false),
            ("1.2.3", false),
            ("1.2.3.999", false),
            ("m\u{e4}il", false),
            ("m%C3%A4il", false),
            (&long, false),
        ] {
            assert_eq!(is_server_name(name), want, "{name:?}");
        }
    }
}
