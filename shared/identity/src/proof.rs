//! The DNS records that verify a domain, and the check that they are published.

use posthaste_model::{Record, RecordKind};

use posthaste_dns::{DnsError, DnsRecords, Resolver};

/// The targets of a domain's records: names of this installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The domain of envelope senders, which receives their bounces.
    pub bounce_domain: String,
    /// The host that receives mail for a subdomain that the owner manages.
    pub mail_host: String,
    /// The SPF mechanism of the relay: `include:spf.example.net`.
    pub spf: String,
}

/// The records a domain needs.
#[derive(Clone, Copy, Debug)]
pub struct RecordPlan<'a> {
    pub domain: &'a str,
    pub subdomain: &'a str,
    /// Whether this installation manages the subdomain: one CNAME, instead of mail and SPF records.
    pub automatic: bool,
    /// Selectors and public keys; the first signs, the second is for rotation.
    pub keys: &'a [(&'a str, &'a str)],
}

/// The records to publish, in the order in which the API lists them.
///
/// The public keys are in the owner's own zone: this installation has no zone that a CNAME could
/// point to, and so the keys are the same whichever relay signs with them.
pub fn records(plan: &RecordPlan<'_>, target: &Target) -> Vec<Record> {
    let record = |name: &str, kind, host: String, data: String| Record {
        name: name.to_owned(),
        kind,
        host,
        data,
        valid: false,
    };
    let RecordPlan {
        domain, subdomain, ..
    } = plan;
    let host = format!("{subdomain}.{domain}");
    let spf = format!("v=spf1 {} ~all", target.spf);
    let mut all = if plan.automatic {
        let data = target.bounce_domain.clone();
        vec![record("mail_cname", RecordKind::Cname, host, data)]
    } else {
        let mail = target.mail_host.clone();
        vec![
            record("mail_server", RecordKind::Mx, host.clone(), mail),
            record("subdomain_spf", RecordKind::Txt, host, spf.clone()),
            record("domain_spf", RecordKind::Txt, (*domain).to_owned(), spf),
        ]
    };
    let keys = if plan.automatic { plan.keys.len() } else { 1 };
    for (i, (selector, public)) in plan.keys.iter().take(keys).enumerate() {
        let name = if plan.automatic {
            format!("dkim{}", i + 1)
        } else {
            "dkim".to_owned()
        };
        let host = format!("{selector}._domainkey.{domain}");
        let data = format!("v=DKIM1; k=rsa; p={public}");
        all.push(record(&name, RecordKind::Txt, host, data));
    }
    all
}

/// Whether a record is valid, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordCheck {
    pub name: String,
    pub reason: Option<String>,
}

/// Looks all records up concurrently.
///
/// # Errors
/// When the DNS lookup fails; that says nothing about the records.
pub async fn check(resolver: &Resolver, records: &[Record]) -> Result<Vec<RecordCheck>, DnsError> {
    let mut asked = Vec::new();
    for record in records {
        let (resolver, kind, host) = (resolver.clone(), record.kind, record.host.clone());
        asked.push(tokio::spawn(
            async move { resolver.lookup(kind, &host).await },
        ));
    }
    let mut verdicts = Vec::new();
    for (record, answer) in records.iter().zip(asked) {
        let answer = answer.await.map_err(|e| DnsError::new(record.kind, e))??;
        verdicts.push(RecordCheck {
            name: record.name.clone(),
            reason: judge(record, &answer).err(),
        });
    }
    Ok(verdicts)
}

/// Whether the answer matches the record.
///
/// # Errors
/// The expected and the actual value, in a sentence for the owner.
pub fn judge(record: &Record, answer: &DnsRecords) -> Result<(), String> {
    let spf = |text: &str| text.to_ascii_lowercase().starts_with("v=spf1");
    let wanted = |found: &&String| match record.kind {
        RecordKind::A => found.contains(&record.data),
        RecordKind::Cname | RecordKind::Mx => same_name(found, &record.data),
        RecordKind::Txt if spf(&record.data) => includes(found, &record.data),
        RecordKind::Txt => tag(found, "p").is_some_and(|p| Some(p) == tag(&record.data, "p")),
    };
    let kind = record.kind;
    if spf(&record.data) && answer.iter().filter(|text| spf(text)).count() > 1 {
        // RFC 7208, section 4.5: then none of them counts.
        return Err("Expected one SPF record, but found several.".to_owned());
    }
    if answer.iter().any(|found| wanted(&found)) {
        return Ok(());
    }
    let data = &record.data;
    Err(match answer.first() {
        None => format!("Expected your {kind} record to be \"{data}\", but found none."),
        Some(found) => {
            let found: String = found.chars().take(512).collect();
            format!("Expected your {kind} record to be \"{data}\", but found \"{found}\".")
        }
    })
}

fn same_name(one: &str, other: &str) -> bool {
    let bare = |name: &str| name.trim_end_matches('.').to_ascii_lowercase();
    bare(one) == bare(other)
}

/// Whether an SPF record permits what the expected one permits: it has the same mechanisms,
/// whatever else and whatever end it has.
fn includes(found: &str, ours: &str) -> bool {
    let terms = |text: &str| -> Vec<String> {
        let terms = text.split_ascii_whitespace();
        terms.map(str::to_ascii_lowercase).collect()
    };
    let found = terms(found);
    let mut needed = terms(ours)
        .into_iter()
        .filter(|term| !term.ends_with("all"));
    needed.all(|term| found.contains(&term))
}

/// The value of a tag of a DKIM key record, without white space (RFC 6376, section 3.2).
fn tag(text: &str, name: &str) -> Option<String> {
    let mut tags = text.split(';').filter_map(|tag| tag.split_once('='));
    let (_, value) = tags.find(|(key, _)| key.trim() == name)?;
    Some(value.split_ascii_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target {
            bounce_domain: "bounce.post.example".into(),
            mail_host: "mx.post.example".into(),
            spf: "include:spf.post.example".into(),
        }
    }

    fn plan(automatic: bool) -> Vec<Record> {
        let plan = RecordPlan {
            domain: "example.com",
            subdomain: "em1",
            automatic,
            keys: &[("s1", "AAAA"), ("s2", "BBBB")],
        };
        records(&plan, &target())
    }

    #[test]
    fn a_managed_domain_publishes_one_alias_and_two_keys() {
        let shown = plan(true);
        let shown: Vec<_> = shown
            .iter()
            .map(|r| format!("{} {} {} {}", r.name, r.kind, r.host, r.data))
            .collect();
        assert_eq!(
            shown,
            [
                "mail_cname CNAME em1.example.com bounce.post.example",
                "dkim1 TXT s1._domainkey.example.com v=DKIM1; k=rsa; p=AAAA",
                "dkim2 TXT s2._domainkey.example.com v=DKIM1; k=rsa; p=BBBB",
            ]
        );
    }

    #[test]
    fn a_domain_managed_by_hand_publishes_mail_spf_and_one_key() {
        let names: Vec<_> = plan(false).into_iter().map(|r| (r.name, r.kind)).collect();
        let want = [
            ("mail_server", RecordKind::Mx),
            ("subdomain_spf", RecordKind::Txt),
            ("domain_spf", RecordKind::Txt),
            ("dkim", RecordKind::Txt),
        ];
        assert_eq!(names, want.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[track_caller]
    fn verdict(record: &Record, found: &[&str]) -> Option<String> {
        let answer: Vec<String> = found.iter().map(|&text| text.to_owned()).collect();
        judge(record, &answer).err()
    }

    #[test]
    fn names_compare_without_case_and_final_dot() {
        let alias = &plan(true)[0];
        assert_eq!(verdict(alias, &["Bounce.Post.Example."]), None);
        assert_eq!(
            verdict(alias, &["example.org"]).as_deref(),
            Some(
                r#"Expected your CNAME record to be "bounce.post.example", but found "example.org"."#
            )
        );
        assert_eq!(
            verdict(alias, &[]).as_deref(),
            Some(r#"Expected your CNAME record to be "bounce.post.example", but found none."#)
        );
    }

    #[test]
    fn a_key_record_counts_by_its_key() {
        let key = &plan(true)[1];
        for good in [
            "v=DKIM1; k=rsa; p=AAAA",
            "p=AAAA",
            "k=rsa;t=s;p=AA AA;",
            "v=DKIM1 ; p = AA\tAA",
        ] {
            assert_eq!(verdict(key, &["something else", good]), None, "{good}");
        }
        for bad in [
            "v=DKIM1; p=",
            "v=DKIM1; p=BBBB",
            "v=DKIM1",
            "pp=AAAA",
            "AAAA",
        ] {
            assert!(verdict(key, &[bad]).is_some(), "{bad}");
        }
    }

    #[test]
    fn an_spf_record_may_let_others_send_too_but_must_be_the_only_one() {
        let spf = &plan(false)[1];
        for good in [
            "v=spf1 include:spf.post.example ~all",
            "v=spf1 mx include:SPF.post.example include:other.example -all",
        ] {
            assert_eq!(verdict(spf, &["site-check=1", good]), None, "{good}");
        }
        for bad in [
            &["v=spf1 ~all"][..],
            &["include:spf.post.example"],
            &["v=spf1 include:spf.post.example ~all", "v=spf1 -all"],
            &[],
        ] {
            assert!(verdict(spf, bad).is_some(), "{bad:?}");
        }
    }
}
