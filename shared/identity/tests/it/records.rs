//! The records of a domain, judged by what a zone publishes.

use std::sync::Arc;

use posthaste_dns::{Resolver, Zone};
use posthaste_identity::{RecordPlan, Target, check, records};
use posthaste_model::RecordKind;

#[tokio::test]
async fn all_records_of_a_domain_are_judged_together() {
    let target = Target {
        bounce_domain: "bounce.post.example".into(),
        mail_host: "mx.post.example".into(),
        spf: "include:spf.post.example".into(),
    };
    let plan = RecordPlan {
        domain: "example.com",
        subdomain: "em1",
        automatic: true,
        keys: &[("s1", "AAAA"), ("s2", "BBBB")],
    };
    let (zone, records) = (Arc::new(Zone::default()), records(&plan, &target));
    let resolver = Resolver::Zone(zone.clone());
    zone.publish(
        RecordKind::Cname,
        "em1.example.com",
        &["bounce.post.example."],
    );
    zone.publish(RecordKind::Txt, "S1._domainkey.example.com", &["p=AAAA"]);

    let verdicts = check(&resolver, &records).await.unwrap();

    let valid: Vec<_> = verdicts.iter().map(|v| v.reason.is_none()).collect();
    assert_eq!(valid, [true, true, false]);
    zone.fail(RecordKind::Txt, "s2._domainkey.example.com");
    assert!(check(&resolver, &records).await.is_err());
}
