//! What SES says of the account and its domains: the check before the first mail leaves.

use clap::Subcommand;
use posthaste_mailer::{SesAccount, SesDomain};
use serde_json::{Value, json};

use crate::{Failure, Report, Tools};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check sandbox, switches, quota, and the domains you will send from
    Preflight {
        /// Domains to check
        domains: Vec<String>,
    },
}

pub(crate) async fn run(command: &Command, tools: &Tools) -> Result<Report, Failure> {
    let Command::Preflight { domains } = command;
    let Some(ses) = &tools.ses else {
        let why = "a data folder sends through no SES: ask a deployed stack with --aws";
        return Err(Failure::Refused(why.to_owned()));
    };
    let account = ses.account().await?;
    let mut found = Vec::new();
    for domain in domains {
        found.push((domain.as_str(), ses.domain(domain).await?));
    }
    Ok(report(&account, &found))
}

/// The state of one domain, for a person.
fn state(domain: Option<&SesDomain>) -> String {
    let Some(domain) = domain else {
        return "SES does not know it".to_owned();
    };
    let from = domain.mail_from.as_ref();
    let from = from.map(|(name, state)| format!(", MAIL FROM {name} {state}"));
    let verified = match domain.verified {
        true => "verified",
        false => "not verified",
    };
    format!(
        "{verified}, DKIM {}{}",
        domain.dkim,
        from.unwrap_or_default()
    )
}

fn report(account: &SesAccount, domains: &[(&str, Option<SesDomain>)]) -> Report {
    let word = |ok: bool| if ok { "ok  " } else { "FAIL" };
    let mut ready = account.sending && !account.sandbox;
    let mut lines = vec![
        match account.sandbox {
            true => {
                "FAIL  sandbox: mail goes to verified addresses only; ask AWS for production access"
                    .to_owned()
            }
            false => "ok    out of the sandbox".to_owned(),
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
    for (name, domain) in domains {
        let ok = domain.as_ref().is_some_and(|domain| domain.verified);
        ready &= ok;
        lines.push(format!("{}  {name}: {}", word(ok), state(domain.as_ref())));
    }
    let json = |(name, domain): &(&str, Option<SesDomain>)| {
        let domain = domain.as_ref();
        json!({
            "domain": name,
            "known": domain.is_some(),
            "verified": domain.is_some_and(|domain| domain.verified),
            "dkim": domain.map(|domain| &domain.dkim),
            "mail_from": domain.and_then(|domain| domain.mail_from.as_ref()).map(|(name, _)| name),
            "mail_from_status": domain.and_then(|domain| domain.mail_from.as_ref()).map(|(_, state)| state),
        })
    };
    let json = json!({
        "ready": ready,
        "sandbox": account.sandbox,
        "sending": account.sending,
        "enforcement": account.enforcement,
        "max_per_day": account.max_per_day,
        "max_per_second": account.max_per_second,
        "sent_in_a_day": account.sent_in_a_day,
        "domains": domains.iter().map(json).collect::<Value>(),
    });
    Report::new(lines.join("\n"), json)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let said = report(&account(true), &[("a.example", None)]);
        assert_eq!(said.json["ready"], false);
        assert!(said.text.contains("FAIL  sandbox"), "{}", said.text);
        assert!(
            said.text.contains("FAIL  a.example: SES does not know it"),
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
        let said = report(&account(false), &[("a.example", Some(domain))]);
        assert_eq!(said.json["ready"], true);
        assert_eq!(said.json["domains"][0]["mail_from_status"], "PENDING");
        assert!(
            said.text.contains("MAIL FROM b.a.example PENDING"),
            "{}",
            said.text
        );
    }
}
