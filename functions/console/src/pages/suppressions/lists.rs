//! The lists of addresses that get no mail, by their calls and scopes.

use posthaste_store::ApiKey;

use crate::texts::lists::{self as texts, ListText};

/// A list that an address gets onto by what becomes of mail, or by a call.
pub(crate) struct ListInfo {
    /// Its name in the address of its page, and the end of its path.
    pub(crate) name: &'static str,
    pub(crate) text: ListText,
    /// Its path in the API.
    pub(crate) path: &'static str,
    /// The scope that reads it; `suppression.read` does too.
    pub(crate) read: &'static str,
    /// The scope that removes addresses; `suppression.delete` does too.
    delete: &'static str,
    /// The call that adds addresses, and its scope.
    add: Option<(&'static str, &'static str)>,
    /// The columns that its entries have besides address and time.
    pub(crate) has_reason: bool,
}

/// In the order of the page.
pub(crate) const LISTS: [ListInfo; 5] = [
    ListInfo {
        name: "bounces",
        text: texts::BOUNCES,
        path: "/v3/suppression/bounces",
        read: "suppression.bounces.read",
        delete: "suppression.bounces.delete",
        add: None,
        has_reason: true,
    },
    ListInfo {
        name: "blocks",
        text: texts::BLOCKS,
        path: "/v3/suppression/blocks",
        read: "suppression.blocks.read",
        delete: "suppression.blocks.delete",
        add: None,
        has_reason: true,
    },
    ListInfo {
        name: "invalid_emails",
        text: texts::INVALID_EMAILS,
        path: "/v3/suppression/invalid_emails",
        read: "suppression.invalid_emails.read",
        delete: "suppression.invalid_emails.delete",
        add: None,
        has_reason: true,
    },
    ListInfo {
        name: "spam_reports",
        text: texts::SPAM_REPORTS,
        path: "/v3/suppression/spam_reports",
        read: "suppression.spam_reports.read",
        delete: "suppression.spam_reports.delete",
        add: None,
        has_reason: false,
    },
    ListInfo {
        name: "unsubscribes",
        text: texts::UNSUBSCRIBES,
        path: "/v3/suppression/unsubscribes",
        read: "suppression.unsubscribes.read",
        delete: "suppression.unsubscribes.delete",
        add: Some((
            "/v3/asm/suppressions/global",
            "asm.suppressions.global.create",
        )),
        has_reason: false,
    },
];

impl ListInfo {
    /// The list of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        LISTS.iter().find(|list| list.name == name)
    }

    /// Whether this key may remove addresses.
    pub(crate) fn can_remove(&self, key: &ApiKey) -> bool {
        key.holds(self.delete) || key.holds("suppression.delete")
    }

    /// The call that adds addresses, where there is one and this key may.
    pub(crate) fn add_path(&self, key: &ApiKey) -> Option<String> {
        let (path, scope) = self.add?;
        key.holds(scope).then(|| path.to_owned())
    }

    /// The columns of its file, as members of an entry.
    pub(crate) fn columns(&self) -> &'static str {
        match self.name {
            "bounces" | "blocks" => "email created reason status",
            "invalid_emails" => "email created reason",
            "spam_reports" => "email created ip",
            _ => "email created",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_lists_exist() {
        for list in &LISTS {
            let add = list.add.map(|(_, scope)| scope);
            for scope in add.into_iter().chain([list.read, list.delete]) {
                assert!(posthaste_model::scope::is_known(scope), "{scope}");
            }
        }
    }
}
