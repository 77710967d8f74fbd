//! Creates an API key, shows it once, and how it is used.

use askama::Template;
use serde::Deserialize;

use crate::content::{PageContent, PageResult};
use crate::texts::{self, keys::PresetText};
use crate::visit::PageVisit;

/// What a key may do, by purpose.
const PRESETS: [(PresetText, &[&str]); 3] = [
    (texts::keys::SENDING, &["mail.send"]),
    (
        texts::keys::SEEING,
        &[
            "mail.send",
            "email_activity.read",
            "messages.read",
            "stats.read",
            "stats.global.read",
            "categories.read",
            "categories.stats.read",
        ],
    ),
    (
        texts::keys::SUPPRESSING,
        &[
            "suppression.read",
            "suppression.create",
            "suppression.update",
            "suppression.delete",
            "asm.groups.read",
            "asm.groups.suppressions.read",
            "asm.groups.suppressions.create",
            "asm.groups.suppressions.delete",
        ],
    ),
];

#[derive(Template)]
#[template(path = "first_key.html")]
struct FirstKey {
    presets: Vec<Preset>,
    groups: Vec<ScopeGroup>,
    /// Why no key can be made.
    problem: Option<&'static str>,
    /// What the address suggests as its name.
    name: String,
    base: String,
    snippets: Vec<Snippet>,
}

struct Preset {
    text: PresetText,
    /// Separated by spaces.
    scopes: String,
}

/// The scopes that begin alike.
pub(super) struct ScopeGroup {
    pub(super) name: String,
    pub(super) scopes: Vec<String>,
}

/// The first mail in one language.
struct Snippet {
    language: &'static str,
    install: &'static str,
    code: String,
}

#[derive(Deserialize)]
pub(super) struct ScopesAnswer {
    pub(super) scopes: Vec<String>,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let held = visit.api.get::<ScopesAnswer>("/v3/scopes").await?.scopes;
    let can_create = visit.caller.key.holds("api_keys.create");
    let page = FirstKey {
        presets: presets(&held),
        groups: groups(held),
        problem: (!can_create).then_some(texts::NO_KEYS),
        name: visit.params.text("name").to_owned(),
        snippets: snippets(&visit.base),
        base: visit.base,
    };
    PageContent::of(texts::NEW_KEY, &page)
}

/// Those that the reader's own key can grant.
fn presets(held: &[String]) -> Vec<Preset> {
    let holds = |name: &&&str| held.iter().any(|scope| scope == **name);
    let granted = |names: &[&str]| {
        let granted: Vec<&str> = names.iter().filter(holds).copied().collect();
        granted.join(" ")
    };
    let all = PRESETS.iter().map(|(text, names)| Preset {
        text: *text,
        scopes: granted(names),
    });
    all.filter(|preset| !preset.scopes.is_empty()).collect()
}

/// Scopes by what they begin with, sorted.
pub(super) fn groups(mut held: Vec<String>) -> Vec<ScopeGroup> {
    held.sort_unstable();
    let mut groups: Vec<ScopeGroup> = Vec::new();
    for scope in held {
        let name = scope.split('.').next().unwrap_or_default().to_owned();
        match groups.last_mut().filter(|group| group.name == name) {
            Some(group) => group.scopes.push(scope),
            None => groups.push(ScopeGroup {
                name,
                scopes: vec![scope],
            }),
        }
    }
    groups
}

/// The published client libraries, each with the first mail to an address of this service.
const CLIENTS: [(&str, &str, &str); 7] = [
    (
        "Node",
        "npm install @sendgrid/mail",
        include_str!("../../snippets/node.txt"),
    ),
    (
        "Python",
        "pip install sendgrid",
        include_str!("../../snippets/python.txt"),
    ),
    (
        "PHP",
        "composer require sendgrid/sendgrid",
        include_str!("../../snippets/php.txt"),
    ),
    (
        "Ruby",
        "gem install sendgrid-ruby",
        include_str!("../../snippets/ruby.txt"),
    ),
    (
        "Go",
        "go get github.com/sendgrid/sendgrid-go",
        include_str!("../../snippets/go.txt"),
    ),
    (
        "Java",
        "com.sendgrid:sendgrid-java",
        include_str!("../../snippets/java.txt"),
    ),
    (
        "C#",
        "dotnet add package SendGrid",
        include_str!("../../snippets/csharp.txt"),
    ),
];

fn snippets(base: &str) -> Vec<Snippet> {
    let (scheme, host) = base.split_once("://").unwrap_or_default();
    // The client for Java takes a host, and speaks HTTP only as a test.
    let test = if scheme == "http" { ", true" } else { "" };
    let of = |(language, install, code): (&'static str, &'static str, &'static str)| Snippet {
        language,
        install,
        code: code
            .replace("{base}", base)
            .replace("{host}", host)
            .replace("{test}", test),
    };
    CLIENTS.map(of).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_has_what_the_reader_can_grant_and_a_group_what_begins_alike() {
        let held = ["stats.read", "mail.send", "mail.batch.create"].map(str::to_owned);
        let shown: Vec<_> = presets(&held)
            .into_iter()
            .map(|preset| preset.scopes)
            .collect();
        assert_eq!(shown, ["mail.send", "mail.send stats.read"]);
        let groups = groups(held.into());
        let shown: Vec<_> = groups
            .iter()
            .map(|group| (group.name.as_str(), group.scopes.len()))
            .collect();
        assert_eq!(shown, [("mail", 2), ("stats", 1)]);
    }

    #[test]
    fn scopes_of_presets_exist() {
        for name in PRESETS.iter().flat_map(|(_, names)| *names) {
            assert!(posthaste_model::scope::is_known(name), "{name}");
        }
    }

    #[test]
    fn every_snippet_names_the_address_of_the_service() {
        for snippet in snippets("http://127.0.0.1:3000") {
            assert!(
                snippet.code.contains("127.0.0.1:3000"),
                "{}",
                snippet.language
            );
            assert!(!snippet.code.contains("{base}"), "{}", snippet.language);
        }
        let java = |base| snippets(base).swap_remove(5).code;
        assert!(java("http://127.0.0.1:3000").contains("(key, true)"));
        assert!(java("https://post.example").contains("(key)"));
    }
}
