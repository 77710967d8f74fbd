//! What each function may do: by a role of its own that names actions and resources.

use std::collections::BTreeSet;

use posthaste::functions::FUNCTIONS;
use serde_yaml_ng::Value;

use super::events;
use super::read::{self, Template};

/// What may hold a star in a policy, and why.
const STARS: [(&str, &str); 8] = [
    ("${Bucket.Arn}/mail/*", "a folder of the bucket"),
    ("${Bucket.Arn}/inbound/*", "a folder of the bucket"),
    ("${Bucket.Arn}/received/*", "a folder of the bucket"),
    ("${Bucket.Arn}/bounces/*", "a folder of the bucket"),
    ("${Bucket.Arn}/waiting/*", "a folder of the bucket"),
    ("${Bucket.Arn}/kept/*", "a folder of the bucket"),
    (
        "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/*",
        "senders verify their domains while the stack runs",
    ),
    (
        "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:configuration-set/*",
        "the owner names the sets of his pools",
    ),
];

/// Actions that know no resource, and so take nothing but a star.
const TAKE_ONLY_STARS: [&str; 5] = [
    "ses:GetAccount",
    "ses:GetDedicatedIps",
    "ses:GetMessageInsights",
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
];

#[test]
fn policies_name_what_they_allow() {
    let template = Template::read();
    let mut used = BTreeSet::new();
    let mut statements = 0;
    read::walk(&template.0, &mut |value| {
        if value["Effect"] != "Allow" {
            return;
        }
        statements += 1;
        let actions = read::texts(&value["Action"]);
        let only = |action: &String| TAKE_ONLY_STARS.contains(&action.as_str());
        let take_only_stars = actions.iter().all(only);
        for part in [
            "Action",
            "NotAction",
            "Resource",
            "NotResource",
            "Principal",
        ] {
            for text in read::texts(&value[part])
                .iter()
                .filter(|text| text.contains('*'))
            {
                if take_only_stars && part == "Resource" {
                    continue;
                }
                let written = STARS.iter().find(|(star, _)| star == text);
                let (star, _) = written.unwrap_or_else(|| panic!("{part} holds {text}"));
                used.insert(*star);
            }
        }
        assert!(value.get("NotAction").is_none() && value.get("NotResource").is_none());
    });
    assert!(statements >= FUNCTIONS.len());
    let written: BTreeSet<&str> = STARS.iter().map(|(star, _)| *star).collect();
    assert_eq!(used, written, "a star that is excused for nothing");
}

/// On what a function may do this, as the template names it.
fn resources(statements: &[Value], action: &str) -> BTreeSet<String> {
    let allows = |one: &&Value| {
        read::texts(&one["Action"])
            .iter()
            .any(|text| text == action)
    };
    let allowing = statements.iter().filter(allows);
    allowing
        .flat_map(|one| read::texts(&one["Resource"]))
        .collect()
}

/// The queues that a function reads.
fn sources(stanza: &Value) -> BTreeSet<String> {
    let sources = events(stanza, "SQS");
    let queues = sources.iter().map(|event| read::texts(&event["Queue"]));
    queues.map(|queue| queue.concat()).collect()
}

/// Without a role SAM makes one, which writes to every log and reads every queue of the account.
#[test]
fn every_function_has_a_role_of_its_own_with_its_log_and_its_queues() {
    let template = Template::read();
    let mut roles = BTreeSet::new();
    for (name, stanza) in template.functions() {
        let role = read::texts(&stanza["Role"]).concat();
        assert!(roles.insert(role.clone()), "{name} shares {role}");
        assert!(stanza.get("Policies").is_none(), "{name}: they go to SAM");
        let shared = &template.role(&stanza)["ManagedPolicyArns"];
        assert_eq!(read::texts(shared), ["Traces"], "{name}");

        let statements = template.statements(&stanza);
        let log = read::texts(&stanza["LoggingConfig"]["LogGroup"]).concat();
        let log = BTreeSet::from([format!("{log}.Arn")]);
        for action in ["logs:CreateLogStream", "logs:PutLogEvents"] {
            assert_eq!(resources(&statements, action), log, "{name}: {action}");
        }
        let queues = sources(&stanza);
        for action in [
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:ChangeMessageVisibility",
            "sqs:GetQueueAttributes",
        ] {
            assert_eq!(resources(&statements, action), queues, "{name}: {action}");
        }
    }
}

/// The secrets that a function's variables name, and those that its role lets it read.
#[test]
fn a_function_may_read_the_secrets_that_hold_its_variables_and_no_other() {
    const READ: &str = "secretsmanager:GetSecretValue";
    let template = Template::read();
    let mut readers = 0;
    for (name, stanza) in template.functions() {
        let mut named = BTreeSet::new();
        let variables = stanza.get("Environment").map(|own| &own["Variables"]);
        for (variable, value) in variables.and_then(Value::as_mapping).into_iter().flatten() {
            if variable.as_str().unwrap().ends_with("_ARN") {
                named.extend(of_secrets(&template, value));
            }
        }
        let mut readable = BTreeSet::new();
        for policy in template.policies(&stanza) {
            read::walk(&policy, &mut |value| {
                if read::texts(&value["Action"])
                    .iter()
                    .any(|text| text == READ)
                {
                    assert_eq!(value["Effect"], "Allow");
                    readable.extend(of_secrets(&template, &value["Resource"]));
                }
            });
        }
        assert_eq!(named, readable, "{name}");
        readers += usize::from(!readable.is_empty());
    }
    assert_eq!(readers, 10);
}

/// The secrets in a value: those of this template, and the ring of the owner's.
fn of_secrets(template: &Template, value: &Value) -> BTreeSet<String> {
    let secrets = template.of_type("AWS::SecretsManager::Secret");
    let texts = read::texts(value).into_iter();
    texts
        .filter(|text| text == "SecretRing" || secrets.contains_key(text))
        .collect()
}

/// What has to wait is sent anew to the queue that it came from, whose URL is a variable.
#[test]
fn who_reads_a_queue_may_write_to_it_and_knows_its_url() {
    let template = Template::read();
    let mut readers = 0;
    for (name, stanza) in template.functions() {
        let read = sources(&stanza);
        let sends = resources(&template.statements(&stanza), "sqs:SendMessage");
        assert!(read.is_subset(&sends), "{name}: {read:?}, {sends:?}");
        let urls = read::texts(&stanza["Environment"]["Variables"]);
        for queue in &read {
            let queue = queue.trim_end_matches(".Arn").to_owned();
            assert!(urls.contains(&queue), "{name} has no URL of {queue}");
        }
        readers += read.len();
    }
    assert_eq!(readers, 5);
}

/// Lambda stops what it takes for a loop after sixteen rounds; retries make more of them.
#[test]
fn who_writes_to_the_queue_that_he_reads_may_meet_his_own_messages() {
    let template = Template::read();
    let mut meet = BTreeSet::new();
    for (name, stanza) in template.functions() {
        let sends = resources(&template.statements(&stanza), "sqs:SendMessage");
        let meets = !sends.is_disjoint(&sources(&stanza));
        let word = stanza.get("RecursiveLoop").and_then(Value::as_str);
        assert_eq!(word, meets.then_some("Allow"), "{name}");
        if meets {
            meet.insert(name);
        }
    }
    let meet: Vec<_> = meet.iter().map(String::as_str).collect();
    let all = [
        "delivery",
        "inbound-parse",
        "ses-feedback",
        "webhook-fanout",
    ];
    assert_eq!(meet, all);
}
