//! What an API key may do: the names, and the three kinds of keys.

mod names;

pub use names::{ALL, EXTRA};

/// Other names that open what a scope opens.
///
/// Endpoints were given other scopes in the list of 2024 (API facts, appendix C), and keys hold the
/// names of their time. It is no chain: a key may not give on a scope because it holds another name.
pub fn other_names(name: &str) -> &'static [&'static str] {
    match name {
        "email_activity.read" => &["messages.read"],
        "messages.read" => &["email_activity.read"],
        "stats.read" => &["stats.global.read"],
        "stats.global.read" => &["stats.read"],
        "asm.suppressions.global.create" => &["asm.suppressions.create"],
        "asm.suppressions.global.delete" => &["asm.suppressions.delete"],
        "asm.suppressions.global.read" => &["asm.suppressions.read"],
        // The list of 2024 has no other name for the members of all groups.
        "asm.suppressions.read" => &["asm.groups.suppressions.read"],
        _ => &[],
    }
}

/// Whether this is the name of a scope.
pub fn is_known(name: &str) -> bool {
    ALL.binary_search(&name).is_ok() || EXTRA.binary_search(&name).is_ok()
}

/// Whether the scope belongs to billing.
pub fn is_billing(name: &str) -> bool {
    name.starts_with("billing.")
}

/// Whether the scope belongs to email address validation, which a Full Access key does not hold but
/// may give to a restricted one.
pub fn is_validation(name: &str) -> bool {
    name.starts_with("validations.")
}

/// Whether the scope is a mark that the service puts on keys rather than a permission: any key may
/// pass it on, because it grants nothing.
pub fn is_mark(name: &str) -> bool {
    name.starts_with("2fa_") || name.starts_with("sender_verification_")
}

/// Whether a Full Access key holds this scope (SPEC, "Authentication": all parts of the account
/// except billing and email address validation).
pub fn in_full_access(name: &str) -> bool {
    is_known(name) && !is_billing(name) && !is_validation(name) && !is_mark(name)
}

/// Everything a Full Access key holds, sorted.
pub fn full_access() -> Vec<&'static str> {
    let mut all: Vec<_> = ALL
        .iter()
        .chain(&EXTRA)
        .copied()
        .filter(|name| in_full_access(name))
        .collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_have_no_twins() {
        assert!(ALL.is_sorted() && EXTRA.is_sorted());
        assert!(EXTRA.iter().all(|name| ALL.binary_search(name).is_err()));
    }

    /// API facts, appendix B, verbatim: a prefix and what may follow it.
    const APPENDIX_B: &str = include_str!("scope/appendix_b.txt");

    /// API facts, appendix C, verbatim.
    const APPENDIX_C: &str = include_str!("scope/appendix_c.txt");

    fn names(appendix: &str) -> Vec<String> {
        let mut names = Vec::new();
        for line in appendix.lines() {
            let Some((prefix, actions)) = line.split_once(' ') else {
                names.push(line.to_owned());
                continue;
            };
            let actions = actions.trim_matches(['{', '}']).split(", ");
            names.extend(actions.map(|action| format!("{prefix}{action}")));
        }
        names.sort_unstable();
        names
    }

    #[test]
    fn the_256_names_of_appendix_c_are_known_too() {
        let names = names(APPENDIX_C);
        assert_eq!(names.len(), 256);
        let unknown: Vec<_> = names.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn other_names_are_scopes_and_lead_no_further_than_they_say() {
        for name in ALL.iter().chain(&EXTRA) {
            for other in other_names(name) {
                assert!(is_known(other), "{other}");
                assert_eq!(in_full_access(name), in_full_access(other), "{name}");
            }
        }
        assert!(other_names("mail.send").is_empty() && other_names("api_keys.create").is_empty());
    }

    #[test]
    fn the_list_is_that_of_appendix_b() {
        assert_eq!(names(APPENDIX_B), ALL);
        for newer in [
            "2fa_required",
            "2fa_exempt",
            "sender_verification_eligible",
            "sender_verification_exempt",
            "sender_verification_legacy",
        ] {
            assert!(is_known(newer) && is_mark(newer), "{newer}");
        }
    }

    #[test]
    fn full_access_leaves_out_billing_and_address_validation() {
        let full = full_access();
        assert!(full.contains(&"mail.send") && full.contains(&"api_keys.create"));
        assert!(
            !full
                .iter()
                .any(|s| is_billing(s) || is_validation(s) || is_mark(s))
        );
        assert_eq!(full.len(), ALL.len() - 4 + EXTRA.len() - 7);
        assert!(!in_full_access("mail.read") && !in_full_access(""));
    }
}
