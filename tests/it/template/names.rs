//! The names and addresses that a stack is deployed with: what the template lets through, the
//! functions start with, and what they would not start with it refuses first.

use std::collections::BTreeMap;

use posthaste_model::{Hostname, LONGEST_HOSTNAME, LONGEST_PUBLIC_URL, PublicUrl};
use posthaste_runtime::{Env, Platform};
use regex_lite::Regex;

use super::read::Template;
use posthaste::functions::FUNCTIONS;

/// What a parameter takes, as `CloudFormation` reads it: the whole text, up to its length.
struct Parameter {
    pattern: Regex,
    longest: usize,
}

impl Parameter {
    fn of(template: &Template, name: &str) -> Self {
        let parameter = &template.0["Parameters"][name];
        let pattern = parameter["AllowedPattern"].as_str().unwrap();
        // Some tools look for a match anywhere.
        assert!(pattern.starts_with('^') && pattern.ends_with('$'), "{name}");
        let said = parameter["ConstraintDescription"].as_str().unwrap();
        assert!(said.len() > 40, "{name}: {said}");
        // What has no length of its own has that of `CloudFormation`.
        let longest = parameter["MaxLength"].as_u64().unwrap_or(4096);
        Self {
            pattern: Regex::new(pattern).unwrap(),
            longest: longest.try_into().unwrap(),
        }
    }

    fn takes(&self, text: &str) -> bool {
        text.chars().count() <= self.longest && self.pattern.is_match(text)
    }
}

#[test]
fn a_host_name_is_the_same_to_the_template_and_to_the_functions() {
    let template = Template::read();
    let label = "a".repeat(63);
    let of_length = |length: usize| format!("{label}.{label}.{}", "b".repeat(length - 128));
    let long_label = format!("{label}a.example");
    for (parameter, below) in [
        ("HostnameOfService", "bounce."),
        ("BounceDomain", ""),
        ("InboundHostname", ""),
        ("LinkTarget", ""),
    ] {
        let parameter = Parameter::of(&template, parameter);
        assert_eq!(parameter.longest, LONGEST_HOSTNAME - below.len());
        let longest = of_length(parameter.longest);
        let too_long = of_length(LONGEST_HOSTNAME + 1);
        for (text, good) in [
            ("localhost", true),
            ("posthaste.invalid", true),
            ("mail.example.com", true),
            ("a-b.c--d.x1", true),
            ("1a.2.example", true),
            ("xn--mil-qla.example", true),
            (longest.as_str(), true),
            (&too_long, false),
            (&long_label, false),
            ("m\u{e4}il.example", false),
            ("a b", false),
            (" a", false),
            ("a\n", false),
            ("x..y", false),
            (".", false),
            (".x", false),
            ("x.", false),
            ("-", false),
            ("-a", false),
            ("a-", false),
            ("a-.example", false),
            ("my_host", false),
            ("127.0.0.1", false),
            ("mail.1x", false),
            ("a@b", false),
            ("a:25", false),
            ("http://a", false),
        ] {
            assert_eq!(text.parse::<Hostname>().is_ok(), good, "{text:?}");
            assert_eq!(parameter.takes(text), good, "{text:?}");
        }
        // The code folds it; in a template other services read it as it is written.
        assert!(!parameter.takes("Mail.example"));
    }
    let empty = |name| Parameter::of(&template, name).takes("");
    assert!(
        empty("BounceDomain")
            && empty("InboundHostname")
            && empty("LinkTarget")
            && !empty("HostnameOfService")
    );
}

#[test]
fn a_public_url_is_the_same_to_the_template_and_to_the_functions() {
    let template = Template::read();
    let begin = "https://post.example/";
    let longest = format!("{begin}{}", "a".repeat(LONGEST_PUBLIC_URL - begin.len()));
    let too_long = format!("{longest}a");
    for parameter in ["PublicUrl", "TrackingUrl", "EuBaseUrl"] {
        let parameter = Parameter::of(&template, parameter);
        assert!(parameter.takes(""), "the default");
        for (text, good) in [
            ("https://post.example", true),
            ("https://post.example/", true),
            ("http://post.example:8080", true),
            ("http://127.0.0.1:3000", true),
            ("http://[2001:db8::1]:3000", true),
            ("https://post.example/mail/v1.2/~x/", true),
            (longest.as_str(), true),
            (&too_long, false),
            ("post.example", false),
            ("ftp://post.example", false),
            ("https://", false),
            ("https:///path", false),
            ("https://m\u{e4}il.example", false),
            ("https://a b", false),
            ("https://a\n", false),
            ("https://user@post.example", false),
            ("https://user:secret@post.example", false),
            ("https://1.2.3", false),
            ("https://[post]", false),
            ("https://post.example:", false),
            ("https://post.example:0", false),
            ("https://post.example?a=b", false),
            ("https://post.example/#a", false),
            ("https://post.example//", false),
            ("https://post.example/a//b", false),
            ("https://post.example/a/../b", false),
            ("https://post.example/.", false),
            ("https://post.example/a b", false),
        ] {
            assert_eq!(text.parse::<PublicUrl>().is_ok(), good, "{text:?}");
            assert_eq!(parameter.takes(text), good, "{text:?}");
        }
        // The functions take capitals too.
        assert!(!parameter.takes("https://Post.example"));
        assert!(!parameter.takes("HTTPS://post.example"));
    }
}

/// The pattern says what form it has; what is in it the function reads.
#[tokio::test]
async fn urls_and_limits_of_another_form_are_refused_by_the_template_and_by_the_function() {
    let template = Template::read();
    for (name, function, variable, values) in [
        (
            "Delivery",
            "delivery",
            "DELIVERY",
            [
                ("ses", true),
                ("smtp://relay.example", true),
                ("smtps://user:p%40ss@relay.example:465", true),
                ("SES", false),
                ("relay.example:25", false),
                ("https://relay.example", false),
            ],
        ),
        ("SpamFilter", "inbound-parse", "SPAM_FILTER", FILTERS),
        ("OutgoingSpamFilter", "delivery", "SPAM_FILTER", FILTERS),
        (
            "RateLimitEndpoints",
            "mail-send",
            "RATE_LIMIT_ENDPOINTS",
            [
                ("POST /v3/api_keys=30", true),
                (
                    "POST /v3/api_keys=30, GET /v3/templates/{template_id}=1200",
                    true,
                ),
                ("POST /v3/api_keys=0", false),
                ("/v3/api_keys=30", false),
                ("POST v3=30", false),
                ("POST /v3/api_keys=-1", false),
            ],
        ),
    ] {
        let parameter = Parameter::of(&template, name);
        let good = template.variables(&template.functions()[function]);
        for (value, is_good) in values {
            assert_eq!(parameter.takes(value), is_good, "{name}: {value:?}");
            let started = start(function, &good, (variable, value));
            assert_eq!(started.is_ok(), is_good, "{name}: {value:?}");
        }
    }
}

const FILTERS: [(&str, bool); 6] = [
    ("spamd://filter.example", true),
    ("rspamd://filter.example:11333", true),
    ("http://filter.example:11333", true),
    ("filter.example", false),
    ("smtp://filter.example", false),
    ("spamd:", false),
];

/// Starts a function with one of its variables changed.
fn start(
    function: &str,
    variables: &BTreeMap<String, String>,
    (name, value): (&str, &str),
) -> Result<(), String> {
    let mut variables = variables.clone();
    variables.insert(name.to_owned(), value.to_owned());
    let platform = Platform::function(Env::new(move |name| variables.get(name).cloned()));
    let (_, kind) = FUNCTIONS
        .iter()
        .find(|(name, _)| *name == function)
        .unwrap();
    kind.open(&platform).map(drop).map_err(|e| e.to_string())
}

/// A function that cannot work does not start, and says which variable it is: a mail that it would
/// spoil waits on its queue.
#[tokio::test]
async fn no_function_starts_with_a_name_or_a_number_that_it_cannot_work_with() {
    let template = Template::read();
    let mut refused = Vec::new();
    for (function, _) in FUNCTIONS {
        let good = template.variables(&template.functions()[function]);
        for (name, bad) in [
            ("HOSTNAME_OF_SERVICE", "a b"),
            ("MAIL_HOSTNAME", "m\u{e4}il.example"),
            ("MAIL_HOST", "x..y"),
            ("LINK_TARGET", "x..y"),
            ("BOUNCE_DOMAIN", "-"),
            ("PUBLIC_URL", "post.example"),
            ("TRACKING_URL", "https://post.example?a"),
            ("RATE_LIMIT", "0"),
            ("EU_BASE_URL", "post.example"),
            ("RETENTION_DAYS", "0"),
            ("DUE_SHARDS", "0"),
            ("DELIVERY", "gopher://relay.example"),
            ("DELIVERY", "smtp://relay.example?tls=none&tls=required"),
            ("SPF", "include:a\nv=spf1"),
            ("SEARCH_DAYS", "-1"),
            ("SERVICE_PRICE", "1,50"),
            ("TABLE_NAME", "a b"),
            ("BUCKET_NAME", "a b"),
            ("SEND_QUEUE_URL", "notaurl"),
            ("AWS_REGION", ""),
        ] {
            if !good.contains_key(name) {
                continue;
            }
            let error = start(function, &good, (name, bad)).err();
            if let Some(error) = error {
                assert!(error.contains(name) && !error.contains('\n'), "{error}");
                refused.push((function, name));
            }
        }
    }
    for (function, name) in [
        ("delivery", "HOSTNAME_OF_SERVICE"),
        ("delivery", "BOUNCE_DOMAIN"),
        ("delivery", "TRACKING_URL"),
        ("delivery", "RETENTION_DAYS"),
        ("delivery", "DELIVERY"),
        ("delivery", "TABLE_NAME"),
        ("delivery", "AWS_REGION"),
        ("mail-send", "BUCKET_NAME"),
        ("mail-send", "SEND_QUEUE_URL"),
        ("sender-identity", "SPF"),
        ("webhook-fanout", "SEARCH_DAYS"),
        ("account-settings", "SERVICE_PRICE"),
        ("inbound-parse", "MAIL_HOSTNAME"),
        ("inbound-parse", "RETENTION_DAYS"),
        ("ses-feedback", "BOUNCE_DOMAIN"),
        ("webhook-fanout", "BOUNCE_DOMAIN"),
        ("sender-identity", "BOUNCE_DOMAIN"),
        ("sender-identity", "MAIL_HOST"),
        ("sender-identity", "LINK_TARGET"),
        ("sender-identity", "PUBLIC_URL"),
        ("mail-send", "RATE_LIMIT"),
        ("mail-send", "DUE_SHARDS"),
    ] {
        assert!(
            refused.contains(&(function, name)),
            "{function} takes {name}: {refused:?}"
        );
    }
}
