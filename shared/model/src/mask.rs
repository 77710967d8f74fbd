//! Addresses in log lines.

use std::fmt;

/// `ann@mail.example.com` prints as `a***@***.com`.
pub struct Masked<'a>(pub &'a str);

impl fmt::Display for Masked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((self.0, ""));
        let first = local.chars().next().unwrap_or('*');
        let tld = domain.rsplit('.').next().unwrap_or_default();
        write!(f, "{first}***@***.{tld}")
    }
}

#[cfg(test)]
mod tests {
    use super::Masked;

    #[test]
    fn a_masked_address_keeps_one_letter_and_the_last_label() {
        assert_eq!(Masked("ann@mail.example.com").to_string(), "a***@***.com");
        assert_eq!(Masked("nobody").to_string(), "n***@***.");
        assert_eq!(Masked("").to_string(), "****@***.");
    }
}
