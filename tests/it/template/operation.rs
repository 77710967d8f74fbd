//! What the stack tells of itself, what it starts with, and what is left when it is deleted.

use std::collections::BTreeSet;
use std::fs;

use posthaste::functions::FUNCTIONS;
use posthaste_metrics::Metric;
use serde_yaml_ng::Value;

use super::events;
use super::read::{self, Template};

/// The queues that somebody reads.
const READ: [&str; 5] = [
    "SendQueue",
    "EventsQueue",
    "RetriesQueue",
    "InboundQueue",
    "FeedbackQueue",
];

/// CloudFormation calls it while the stack is made, and shows there what failed.
const OF_DEPLOYMENT: &str = "first-account";

/// What is kept when the stack is deleted: infra/OPERATIONS.md says how to delete it.
const KEPT: [&str; 14] = [
    "Bucket",
    "EventsDeadLetters",
    "EventsQueue",
    "FeedbackDeadLetters",
    "FeedbackQueue",
    "InboundDeadLetters",
    "InboundQueue",
    "OwnerKey",
    "RetriesDeadLetters",
    "RetriesQueue",
    "SendDeadLetters",
    "SendQueue",
    "StackSecret",
    "Table",
];

/// The metrics of the dashboard's widgets.
fn shown(template: &Template) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for board in template.of_type("AWS::CloudWatch::Dashboard").values() {
        let body = read::texts(&board["DashboardBody"]).concat();
        let body: serde_json::Value = serde_json::from_str(&body).expect("the dashboard is JSON");
        for widget in body["widgets"].as_array().unwrap() {
            for metric in widget["properties"]["metrics"].as_array().unwrap() {
                let parts = metric.as_array().unwrap().iter();
                let parts = parts.map(|part| part.as_str().unwrap().to_owned());
                found.push(parts.collect());
            }
        }
    }
    found
}

#[test]
fn alarms_watch_figures_that_the_code_writes() {
    let mut code = String::new();
    for entry in fs::read_dir(read::root().join("functions")).unwrap() {
        let Ok(files) = fs::read_dir(entry.unwrap().path().join("src")) else {
            continue;
        };
        for file in files.map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|kind| kind == "rs") {
                code.push_str(&fs::read_to_string(file).unwrap());
            }
        }
    }
    let requeue = read::root().join("shared/queue/src/requeue.rs");
    code.push_str(&fs::read_to_string(requeue).unwrap());
    assert!(
        !code.contains("target: \"metrics\""),
        "metrics are written by `record`"
    );
    let words: BTreeSet<&str> = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != ':')
        .collect();
    for metric in Metric::ALL {
        let wanted = format!("Metric::{metric:?}");
        assert!(words.contains(wanted.as_str()), "nothing writes {metric:?}");
    }
    let written: BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();

    let template = Template::read();
    let mut names = BTreeSet::new();
    for (alarm, watch) in template.of_type("AWS::CloudWatch::Alarm") {
        if watch["Namespace"] == "Posthaste" {
            let dimensions = read::texts(&watch["Dimensions"]);
            assert_eq!(dimensions, ["Stack", "AWS::StackName"], "{alarm}");
            // An alarm with another unit than the figure's sees none.
            assert!(watch.get("Unit").is_none(), "{alarm}");
            names.insert(watch["MetricName"].as_str().unwrap().to_owned());
        }
    }
    assert!(!names.is_empty());
    for metric in shown(&template) {
        if metric[0] == "Posthaste" {
            assert_eq!(metric[2..], ["Stack", "${AWS::StackName}"], "{metric:?}");
            names.insert(metric[1].clone());
        }
    }
    for name in names {
        assert!(written.contains(name.as_str()), "nothing writes {name}");
    }
    let stack = &template.global("Environment")["Variables"]["STACK_NAME"];
    assert_eq!(read::texts(stack), ["AWS::StackName"]);
    let writer = read::root().join("shared/runtime/src/metrics.rs");
    let writer = fs::read_to_string(writer).unwrap();
    for part in [
        r#""Namespace": "Posthaste""#,
        r#""Dimensions": [["Stack"]]"#,
    ] {
        assert!(writer.contains(part), "figures are written without {part}");
    }
}

#[test]
fn a_queue_that_nobody_reads_is_told_of_and_shown() {
    let template = Template::read();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    for queue in READ {
        let name = format!("{queue}.QueueName");
        let old = |alarm: &Value| {
            alarm["MetricName"] == "ApproximateAgeOfOldestMessage"
                && read::texts(&alarm["Dimensions"]).contains(&name)
        };
        assert!(alarms.values().any(old), "no alarm for {queue}");
        let name = format!("${{{name}}}");
        for metric in ["ApproximateAgeOfOldestMessage", "NumberOfMessagesSent"] {
            let is = |parts: &Vec<String>| parts[1] == metric && parts.last() == Some(&name);
            assert!(shown(&template).iter().any(is), "{metric} of {queue}");
        }
    }
}

#[test]
fn workers_that_fail_and_calls_that_are_refused_are_told_of_and_shown() {
    let template = Template::read();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    let shown = shown(&template);
    let is_told = |metric: &str, of: &str| {
        alarms.values().any(|alarm| {
            alarm["MetricName"] == metric
                && read::texts(&alarm["Dimensions"]).contains(&of.to_owned())
        })
    };
    let is_shown = |metric: &str, of: &str| {
        let of = format!("${{{of}}}");
        shown
            .iter()
            .any(|parts| parts[1] == metric && parts.last() == Some(&of))
    };
    let routes = template.routes();
    for binary in template.functions().keys() {
        let function = &template.logical_name(binary);
        if !routes.contains_key(function) && binary != OF_DEPLOYMENT {
            assert!(is_told("Errors", function), "{function}");
            assert!(is_shown("Errors", function), "{function}");
        }
    }
    for metric in ["WriteThrottleEvents", "ReadThrottleEvents"] {
        assert!(is_told(metric, "Table") && is_shown(metric, "Table"));
    }
    for metric in ["ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits"] {
        assert!(is_shown(metric, "Table"), "{metric}");
    }
    // Of the whole account, whose functions share what may run at once.
    let throttles = alarms
        .values()
        .find(|alarm| alarm["MetricName"] == "Throttles");
    assert!(throttles.expect("an alarm").get("Dimensions").is_none());
}

#[test]
fn readers_of_queues_fit_into_a_new_account() {
    const NEW_ACCOUNT: u64 = 10;
    let template = Template::read();
    let mut most = Vec::new();
    for (name, _) in FUNCTIONS {
        for event in events(&template.functions()[name], "SQS") {
            let value = template.resolve(&event["ScalingConfig"]["MaximumConcurrency"]);
            most.push(value.parse::<u64>().unwrap());
        }
    }
    assert_eq!(most.len(), READ.len());
    assert!(most.iter().sum::<u64>() <= NEW_ACCOUNT, "{most:?}");
}

/// The right to see a function includes its variables; secrets have readers of their own.
#[test]
fn no_variable_of_a_function_is_a_secret() {
    let template = Template::read();
    let parameters = template.0["Parameters"].as_mapping().unwrap();
    let is_secret = |name: &str| {
        parameters
            .get(name)
            .is_some_and(|one| one["NoEcho"] == true)
    };
    assert!(is_secret("Delivery") && !is_secret("Spf"));
    let mut stanzas: Vec<(String, Value)> = template.functions().into_iter().collect();
    let all = template.global("Environment");
    stanzas.push(("every function".to_owned(), all.clone()));
    for (name, stanza) in stanzas {
        let variables = stanza.get("Environment").unwrap_or(&stanza);
        for text in read::texts(&variables["Variables"]) {
            assert!(!text.contains("{{resolve:"), "{name}: {text}");
            assert!(!is_secret(&text), "{name} shows {text}");
        }
    }
}

#[test]
fn a_deleted_stack_leaves_what_cannot_be_made_again() {
    let template = Template::read();
    let mut kept = BTreeSet::new();
    for (name, resource) in template.0["Resources"].as_mapping().unwrap() {
        let name = name.as_str().unwrap();
        if resource["DeletionPolicy"] == "Retain" {
            kept.insert(name);
        } else {
            // Mails are gone by then, and so may the logs be; an update keeps even those.
            let is_log = resource["Type"] == "AWS::Logs::LogGroup";
            let word = resource.get("DeletionPolicy").and_then(Value::as_str);
            assert_eq!(word, is_log.then_some("Delete"), "{name}");
        }
        if resource.get("DeletionPolicy").is_some() {
            assert_eq!(resource["UpdateReplacePolicy"], "Retain", "{name}");
        }
    }
    assert_eq!(kept, BTreeSet::from(KEPT));
    let told = fs::read_to_string(read::root().join("infra/OPERATIONS.md")).unwrap();
    let told = told
        .split("**Delete everything")
        .nth(1)
        .expect("a way to end it");
    for name in KEPT {
        assert!(
            told.contains(name),
            "infra/OPERATIONS.md: how {name} is deleted"
        );
    }
}
