//! Checks the account and its domains with SES and the DNS before the first mail leaves.

use std::collections::BTreeSet;

use clap::Subcommand;
use posthaste_mailer::{Ses, SesAccount, SesDomain};
use posthaste_store::Store;
use serde_json::{Value, json};

use crate::dmarc::{Dmarc, dmarc};
use crate::{CommandError, Report, Tools};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check sandbox, switches, quota, and the domains you will send from
    Preflight {
        /// Domains to check, such as that of `BounceDomain` (default: all that the accounts of the stack have)
        domains: Vec<String>,
    },
}

/// A domain: its state at SES, which carries its mail, and its policy, which receivers apply.
#[derive(Debug)]
struct DomainReport {
    name: String,
    /// Its identity at SES: itself, or a domain above it, which covers those below.
    ses: Option<(String, SesDomain)>,
    dmarc: Dmarc,
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, CommandError> {
    let Command::Preflight { domains } = command;
    let Some(ses) = &tools.ses else {
        let why = "a data folder does not send by SES: name a deployed stack with --aws";
        return Err(CommandError::Refused(why.to_owned()));
    };
    let account = ses.account().await?;
    let names = match domains.as_slice() {
        [] => all(&tools.store).await?,
        named => named.iter().cloned().collect(),
    };
    let mut found = Vec::new();
    for name in names {
        found.push(DomainReport {
            ses: known(ses, &name).await?,
            dmarc: dmarc(tools.resolver.as_ref(), &name).await,
            name,
        });
    }
    Ok(report(&account, &found))
}

/// The identity of a domain at SES, which also accepts mail from subdomains of a verified one.
async fn known(ses: &Ses, name: &str) -> Result<Option<(String, SesDomain)>, CommandError> {
    let mut asked = name;
    loop {
        if let Some(domain) = ses.domain(asked).await? {
            return Ok(Some((asked.to_owned(), domain)));
        }
        match asked.split_once('.') {
            Some((_, above)) if above.contains('.') => asked = above,
            _ => return Ok(None),
        }
    }
}

/// The domains of every account; two may have the same.
async fn all(store: &Store) -> Result<BTreeSet<String>, CommandError> {
    let mut names = BTreeSet::new();
    for account in store.accounts().await? {
        let domains = store.domains(&account.id).await?;
        names.extend(domains.into_iter().map(|domain| domain.domain));
    }
    Ok(names)
}

impl DomainReport {
    fn is_verified(&self) -> bool {
        self.ses.as_ref().is_some_and(|(_, domain)| domain.verified)
    }

    /// For a person.
    fn state(&self) -> String {
        let dmarc = self.dmarc.state();
        let Some((by, domain)) = &self.ses else {
            return format!("SES does not know it, {dmarc}");
        };
        let from = domain.mail_from.as_ref();
        let from = from.map(|(name, state)| format!("MAIL FROM {name} {state}, "));
        let verified = if domain.verified {
            "verified"
        } else {
            "not verified"
        };
        let (dkim, from) = (&domain.dkim, from.unwrap_or_default());
        let by = if *by == self.name {
            String::new()
        } else {
            format!("by {by} ")
        };
        format!("{by}{verified}, DKIM {dkim}, {from}{dmarc}")
    }

    fn json(&self) -> Value {
        let domain = self.ses.as_ref().map(|(_, domain)| domain);
        let from = domain.and_then(|domain| domain.mail_from.as_ref());
        json!({
            "domain": self.name,
            "known": domain.is_some(),
            "known_by": self.ses.as_ref().map(|(name, _)| name),
            "verified": self.is_verified(),
            "dkim": domain.map(|domain| &domain.dkim),
            "mail_from": from.map(|(name, _)| name),
            "mail_from_status": from.map(|(_, state)| state),
            "dmarc": self.dmarc.policy(),
        })
    }
}

fn report(account: &SesAccount, domains: &[DomainReport]) -> Report {
    let word = |ok: bool| if ok { "ok  " } else { "FAIL" };
    let mut ready = account.sending && !account.sandbox;
    let mut lines = vec![
        if account.sandbox {
            "FAIL  sandbox: mail goes to verified addresses only; ask AWS for production access"
                .to_owned()
        } else {
            "ok    out of the sandbox".to_owned()
        },
        format!(
            "{}  sending ({})",
            word(account.sending),
            account.enforcement
        ),
        format!(
            "      {} of {} mails sent in 24 hours, {} a second",
            account.sent_in_a_day, account.max_per_day, account.max_per_second
        ),
    ];
    for domain in domains {
        let ok = domain.is_verified();
        ready &= ok;
        lines.push(format!("{}  {}: {}", word(ok), domain.name, domain.state()));
    }
    if domains.is_empty() {
        lines.push("      no account has a domain yet".to_owned());
    }
    let json = json!({
        "ready": ready,
        "sandbox": account.sandbox,
        "sending": account.sending,
        "enforcement": account.enforcement,
        "max_per_day": account.max_per_day,
        "max_per_second": account.max_per_second,
        "sent_in_a_day": account.sent_in_a_day,
        "domains": domains.iter().map(DomainReport::json).collect::<Value>(),
    });
    Report::new(lines.join("\n"), json)
}

#[cfg(test)]
mod tests {
    use posthaste_testkit::{Tenant, TestClock, table};

    use super::*;

    #[tokio::test]
    async fn the_domains_of_every_account_are_looked_at() {
        let (store, now) = (table().await, TestClock::default().now());
        assert_eq!(all(&store).await.unwrap(), BTreeSet::new());
        let parent = Tenant::new(&store, "parent", now).await;
        let branch = parent.subuser(&store, "branch").await;
        let other = Tenant::new(&store, "other", now).await;
        parent.domain(&store, "b.example").await;
        branch.domain(&store, "c.example").await;
        other.domain(&store, "a.example").await;
        other.domain(&store, "b.example").await;
        let names: Vec<_> = all(&store).await.unwrap().into_iter().collect();
        assert_eq!(names, ["a.example", "b.example", "c.example"]);
    }

    #[test]
    fn a_stack_without_domains_says_so() {
        let said = report(&account(false), &[]);
        assert!(
            said.text.ends_with("no account has a domain yet"),
            "{}",
            said.text
        );
    }

    fn account(sandbox: bool) -> SesAccount {
        SesAccount {
            sandbox,
            sending: true,
            enforcement: "HEALTHY".to_owned(),
            max_per_day: 200.0,
            max_per_second: 14.0,
            sent_in_a_day: 3.0,
        }
    }

    #[test]
    fn the_sandbox_and_an_unknown_domain_are_said() {
        let seen = DomainReport {
            name: "a.example".to_owned(),
            ses: None,
            dmarc: Dmarc::None,
        };
        let said = report(&account(true), &[seen]);
        assert_eq!(said.json["ready"], false);
        assert!(said.text.contains("FAIL  sandbox"), "{}", said.text);
        assert!(
            said.text
                .contains("FAIL  a.example: SES does not know it, no DMARC record"),
            "{}",
            said.text
        );
    }

    #[test]
    fn a_verified_domain_out_of_the_sandbox_is_ready() {
        let domain = SesDomain {
            verified: true,
            dkim: "SUCCESS".to_owned(),
            mail_from: Some(("b.a.example".to_owned(), "PENDING".to_owned())),
        };
        let dmarc = || Dmarc::Policy("reject".to_owned(), "a.example".to_owned());
        let seen = ["a.example", "bounce.a.example"].map(|name| DomainReport {
            name: name.to_owned(),
            ses: Some(("a.example".to_owned(), domain.clone())),
            dmarc: dmarc(),
        });
        let said = report(&account(false), &seen);
        assert_eq!(said.json["ready"], true);
        assert_eq!(said.json["domains"][0]["mail_from_status"], "PENDING");
        assert_eq!(said.json["domains"][0]["dmarc"], "reject");
        assert!(
            said.text
                .contains("MAIL FROM b.a.example PENDING, DMARC reject (a.example)"),
            "{}",
            said.text
        );
        let below = "ok    bounce.a.example: by a.example verified, DKIM SUCCESS";
        assert!(said.text.contains(below), "{}", said.text);
    }
}
