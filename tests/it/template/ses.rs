//! What the stack gives its functions for SES, and what it lets them do there.

use posthaste_runtime::{Env, Platform};
use serde_yaml_ng::Value;

use super::read::{Template, texts};

/// With SES as the relay nobody but SES signs, so it must be given the keys of proven domains.
#[tokio::test]
async fn with_ses_the_domains_keys_go_there_and_with_a_relay_they_do_not() {
    let relay = "smtps://user:secret@relay.example:465";
    for (delivery, by_ses, spf) in [
        ("ses", true, "include:amazonses.com"),
        (relay, false, "include:bounce.posthaste.invalid"),
    ] {
        let template = Template::read().given("Delivery", delivery);
        let stanza = &template.functions()["sender-identity"];
        let variables = template.variables(stanza);
        let told = variables.values().any(|value| value.contains("secret"));
        assert!(!told, "the relay's password is delivery's alone");
        let vars = Env::new(move |name| variables.get(name).cloned());
        let app = sender_identity::App::from_env(&Platform::function(vars)).unwrap();
        assert_eq!(app.ses.is_some(), by_ses, "{delivery}");
        assert_eq!(app.target.spf, spf);
        let mail_host = &app.target.mail_host;
        assert!(mail_host.starts_with("inbound-smtp."), "{mail_host}");

        let statements = template.statements(stanza);
        let actions: Vec<_> = statements
            .iter()
            .flat_map(|statement| texts(&statement["Action"]))
            .filter(|action| action.starts_with("ses:"))
            .collect();
        let wanted = [
            "ses:CreateEmailIdentity",
            "ses:GetEmailIdentity",
            "ses:PutEmailIdentityDkimSigningAttributes",
        ];
        assert_eq!(actions, if by_ses { &wanted[..] } else { &[] });
    }
}

/// Or SES would drop mails to people whom the service's own lists let pass.
#[test]
fn ses_asks_no_suppression_list_of_its_own() {
    let template = Template::read();
    let set = &template.of_type("AWS::SES::ConfigurationSet")["MailSet"];
    let reasons = set["SuppressionOptions"]["SuppressedReasons"].as_sequence();
    assert_eq!(reasons.map(Vec::len), Some(0));
    // The owner's own sets are his to keep so.
    for parameter in ["ConfigurationSet", "IpPools"] {
        let told = &template.0["Parameters"][parameter]["Description"];
        let told = told.as_str().unwrap();
        assert!(
            told.contains("(no suppressed reasons)"),
            "{parameter}: {told}"
        );
    }
}

#[tokio::test]
async fn pools_are_given_as_a_parameter_and_delivery_may_use_their_sets() {
    let any_set = |template: &Template| {
        let stanza = &template.functions()["delivery"];
        let allowed = template.statements(stanza);
        let sends = |statement: &&Value| statement["Action"][0] == "ses:SendEmail";
        let sends = allowed.iter().find(sends).expect("delivery sends");
        let resources = sends["Resource"].as_sequence().unwrap();
        let mut texts = resources.iter().map(|one| template.resolve(one));
        texts.any(|text| text.ends_with(":configuration-set/*"))
    };
    assert!(!any_set(&Template::read()));
    let template = Template::read().given("IpPools", "news=set-1,bulk=set-2");
    assert!(any_set(&template));
    let variables = template.variables(&template.functions()["delivery"]);
    let vars = Env::new(move |name| variables.get(name).cloned());
    let app = delivery::App::from_env(&Platform::function(vars)).unwrap();
    let mailer = format!("{:?}", app.mailer);
    assert!(mailer.contains(r#""bulk": "set-2""#), "{mailer}");
}
