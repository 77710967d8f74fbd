//! `template.yaml` against the code: the same routes, the variables that each function needs at
//! its start, and policies that name what they allow.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod actions;
mod inbound;
mod names;
mod operation;
mod order;
pub(crate) mod read;
mod rights;
mod ses;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use posthaste::functions::FUNCTIONS;
use posthaste_model::PublicUrl;
use posthaste_runtime::{Env, Platform};
use serde_yaml_ng::Value;

use read::Template;

#[test]
fn every_function_has_a_stanza_and_every_stanza_a_function() {
    let folders = fs::read_dir(read::root().join("functions")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let built = folders.filter(|folder| folder.join("src/main.rs").is_file());
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    let built: BTreeSet<String> = built.map(|folder| name(&folder)).collect();

    let template = Template::read();
    let stanzas: BTreeSet<String> = template.functions().into_keys().collect();
    assert_eq!(stanzas, built);
    let known = FUNCTIONS.into_iter().map(|(name, _)| name.to_owned());
    assert_eq!(
        known.collect::<BTreeSet<_>>(),
        built,
        "infra/local/src/functions.rs"
    );
    for (name, stanza) in template.functions() {
        assert_eq!(stanza["CodeUri"], format!("functions/{name}"));
    }
}

#[tokio::test]
async fn every_function_starts_with_its_variables_and_has_its_routes() {
    let template = Template::read();
    for (name, kind) in FUNCTIONS {
        let stanza = &template.functions()[name];
        let variables = template.variables(stanza);
        let vars = Env::new(move |name| variables.get(name).cloned());
        let platform = Platform::function(vars);
        let opened = kind.open(&platform);
        let opened = opened.unwrap_or_else(|e| panic!("{name} does not start: {e}"));
        let declared = opened.iter().flat_map(|routes| routes.list());
        let declared: Vec<_> = declared.map(|r| (r.method.to_string(), r.path)).collect();
        assert_eq!(routes(&template, name), of_gateway(&declared), "{name}");
    }
}

/// The routes of API Gateway for these: a path of `/v3` with several methods is one route, since an API has at most
/// 300 (Quotas for configuring and running an HTTP API). The function refuses the methods that it does not serve.
fn of_gateway(declared: &[(String, &str)]) -> BTreeSet<String> {
    let methods = |path: &str| declared.iter().filter(|(_, other)| *other == path).count();
    let one = |(method, path): &(String, &str)| {
        let is_shared = path.starts_with("/v3/") && methods(path) > 1;
        let method = if is_shared { "ANY" } else { method };
        format!("{method} {path}")
    };
    declared.iter().map(one).collect()
}

#[tokio::test]
async fn people_can_leave_a_list_without_a_tracking_host() {
    let template = Template::read();
    let variables = template.variables(&template.functions()["delivery"]);
    let tracking = &variables["TRACKING_URL"];
    assert!(tracking.starts_with("https://api.execute-api."));
    for (name, want) in [
        ("TRACKING_URL", Some("https://links.example")),
        ("PUBLIC_URL", Some("https://links.example")),
        ("ELSE", None),
    ] {
        let mut variables = variables.clone();
        variables.remove("TRACKING_URL");
        variables.insert(name.to_owned(), "https://links.example".to_owned());
        let platform = Platform::function(Env::new(move |name| variables.get(name).cloned()));
        let app = delivery::App::from_env(&platform).unwrap();
        let tracking = app.tracking.as_ref().map(PublicUrl::as_str);
        assert_eq!(tracking, want, "{name}");
    }
}

/// The routes that lead to a function, without the one that takes whatever is left.
fn routes(template: &Template, function: &str) -> BTreeSet<String> {
    let mut routes = template.routes();
    let listed = routes.remove(&template.logical_name(function));
    let listed = listed.into_iter().flatten();
    listed.filter(|route| route != "$default").collect()
}

/// The properties of a stanza's events of one type.
pub(crate) fn events(stanza: &Value, kind: &str) -> Vec<Value> {
    let events = stanza.get("Events").and_then(Value::as_mapping);
    let events = events.into_iter().flat_map(|events| events.values());
    let wanted = events.filter(|event| event["Type"] == kind);
    wanted.map(|event| event["Properties"].clone()).collect()
}

#[test]
fn exactly_one_function_answers_what_matches_nothing() {
    let routes = Template::read().routes();
    let rest = routes
        .values()
        .flatten()
        .filter(|route| *route == "$default");
    assert_eq!(rest.count(), 1);
}

/// One for all of a function's routes: thirty of them would outgrow the function's policy.
#[test]
fn the_api_may_call_each_function_that_has_a_route_by_one_permission() {
    let template = Template::read();
    let permissions = template.of_type("AWS::Lambda::Permission");
    let mut allowed = BTreeSet::new();
    for (name, permission) in &permissions {
        let source = read::texts(&permission["SourceArn"]).concat();
        assert!(source.ends_with(":${Api}/*/*"), "{name}: {source}");
        let function = read::texts(&permission["FunctionName"]).concat();
        assert!(allowed.insert(function), "{name}: a second one");
    }
    assert_eq!(allowed, template.routes().into_keys().collect());
}

#[tokio::test]
async fn rate_limits_and_the_address_of_the_eu_are_parameters() {
    let template = Template::read();
    for (variable, parameter) in [
        ("RATE_LIMIT", "RateLimit"),
        ("RATE_LIMIT_MAIL_SEND", "RateLimitMailSend"),
        ("RATE_LIMIT_PERIOD", "RateLimitPeriod"),
        ("RATE_LIMIT_ENDPOINTS", "RateLimitEndpoints"),
        ("EU_BASE_URL", "EuBaseUrl"),
    ] {
        let value = &template.global("Environment")["Variables"][variable];
        assert_eq!(read::texts(value), [parameter], "{variable}");
        assert!(template.0["Parameters"].get(parameter).is_some());
    }
    let variables = template.variables(&template.functions()["api-keys"]);
    let platform = Platform::function(Env::new(move |name| variables.get(name).cloned()));
    assert_eq!(platform.limits(), Ok(posthaste_http::RateLimits::default()));
}

#[test]
fn queues_wait_for_their_readers_and_bury_what_nobody_can_read() {
    let template = Template::read();
    let queues = template.of_type("AWS::SQS::Queue");
    let mut read: BTreeMap<String, u64> = BTreeMap::new();
    for (name, stanza) in template.functions() {
        let timeout = stanza.get("Timeout").unwrap_or(template.global("Timeout"));
        for event in events(&stanza, "SQS") {
            let answers = &event["FunctionResponseTypes"];
            assert_eq!(read::texts(answers), ["ReportBatchItemFailures"], "{name}");
            assert!(
                event["ScalingConfig"].get("MaximumConcurrency").is_some(),
                "{name}"
            );
            let queue = read::texts(&event["Queue"]).concat();
            let queue = queue.trim_end_matches(".Arn").to_owned();
            read.insert(queue, timeout.as_u64().unwrap());
        }
    }
    for reader in [
        "SendQueue",
        "EventsQueue",
        "RetriesQueue",
        "InboundQueue",
        "FeedbackQueue",
    ] {
        assert!(read.contains_key(reader), "nobody reads {reader}");
    }
    for (name, queue) in &queues {
        if name.ends_with("DeadLetters") {
            continue;
        }
        let visible = queue["VisibilityTimeout"].as_u64().unwrap();
        let timeout = read.get(name).copied().unwrap_or(0);
        assert!(
            visible >= 6 * timeout,
            "{name}: {visible} s for a reader of {timeout} s"
        );
        // A worker sends anew what only has to wait: what is counted is what ended without an answer.
        assert_eq!(queue["RedrivePolicy"]["maxReceiveCount"], 5, "{name}");
        let letters = read::texts(&queue["RedrivePolicy"]["deadLetterTargetArn"]).concat();
        let letters = letters.trim_end_matches(".Arn");
        assert!(queues.contains_key(letters), "{name} has no dead letters");
        let alarms = template.of_type("AWS::CloudWatch::Alarm");
        let watched = |alarm: &Value| {
            let of = read::texts(&alarm["Dimensions"]);
            of.contains(&format!("{letters}.QueueName"))
        };
        assert!(alarms.values().any(watched), "nobody watches {letters}");
    }
}
