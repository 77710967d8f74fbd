//! What the relay offers, from its answer to EHLO (RFC 5321 section 4.1.1.1).

use crate::reply::RelayReply;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    pub(super) pipelining: bool,
    pub(super) eight_bit: bool,
    pub(super) smtputf8: bool,
    pub(super) starttls: bool,
    pub(super) plain: bool,
    pub(super) login: bool,
    pub(super) size: bool,
    /// The longest mail, in octets, when the relay names one (RFC 1870 section 4).
    pub(super) longest: Option<u64>,
}

impl Capabilities {
    pub(super) fn read(reply: &RelayReply) -> Self {
        let mut offers = Self::default();
        for line in reply.lines.iter().skip(1) {
            offers.add(line);
        }
        offers
    }

    fn add(&mut self, line: &str) {
        let upper = line.to_ascii_uppercase();
        // Servers from before RFC 4954 write `AUTH=PLAIN`.
        let mut words = upper.split([' ', '=']).filter(|word| !word.is_empty());
        match words.next() {
            Some("PIPELINING") => self.pipelining = true,
            Some("8BITMIME") => self.eight_bit = true,
            Some("SMTPUTF8") => self.smtputf8 = true,
            Some("STARTTLS") => self.starttls = true,
            Some("SIZE") => {
                self.size = true;
                let octets = words.next().and_then(|n| n.parse().ok());
                self.longest = octets.filter(|n| *n > 0);
            }
            Some("AUTH") => {
                for mechanism in words {
                    self.plain |= mechanism == "PLAIN";
                    self.login |= mechanism == "LOGIN";
                }
            }
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Capabilities {
        Capabilities::read(&RelayReply {
            code: 250,
            lines: lines.iter().map(|l| (*l).to_owned()).collect(),
        })
    }

    #[test]
    fn offers_are_read_in_any_case_and_the_greeting_is_not_one() {
        let all = read(&[
            "mx PIPELINING",
            "pipelining",
            "8bitmime",
            "SMTPUTF8",
            "StartTLS",
            "AUTH LOGIN PLAIN XOAUTH2",
            "SIZE 1000",
            "DSN",
            "",
        ]);
        assert_eq!(
            all,
            Capabilities {
                pipelining: true,
                eight_bit: true,
                smtputf8: true,
                starttls: true,
                plain: true,
                login: true,
                size: true,
                longest: Some(1000)
            }
        );
        assert_eq!(read(&["PIPELINING"]), Capabilities::default());
        assert_eq!(read(&[]), Capabilities::default());
    }

    #[test]
    fn a_size_without_a_number_or_zero_is_no_limit() {
        for line in ["SIZE", "SIZE 0", "SIZE many", "SIZE -1"] {
            let offers = read(&["mx", line]);
            assert_eq!((offers.size, offers.longest), (true, None), "{line}");
        }
    }

    #[test]
    fn the_old_way_to_offer_a_login_counts() {
        let offers = read(&["mx", "AUTH=LOGIN"]);
        assert_eq!((offers.login, offers.plain), (true, false));
    }
}
