//! The way of a received mail: MX, SES's rule, bucket, topic, queue, function.

use posthaste_runtime::{Env, Platform};
use serde_yaml_ng::Value;

use super::read::{Template, texts};

const MX: &str = "10 inbound-smtp.${AWS::Region}.amazonaws.com";

/// A reference to another resource, or to one of its attributes.
#[track_caller]
fn leads_to(value: &Value, name: &str) {
    assert_eq!(texts(value), [name]);
}

fn one(template: &Template, name: &str) -> Value {
    template.0["Resources"][name]["Properties"].clone()
}

/// The statements that allow something, of a policy document.
fn allowed(policy: &Value) -> Vec<Value> {
    let statements = policy["PolicyDocument"]["Statement"].as_sequence().unwrap();
    let allow = statements.iter().filter(|one| one["Effect"] == "Allow");
    allow.cloned().collect()
}

#[test]
fn the_rule_keeps_every_mail_scanned_in_a_folder_of_its_own() {
    let template = Template::read();
    let stanza = one(&template, "ReceiptRule");
    leads_to(&stanza["RuleSetName"], "ReceiptRules");
    // Mail about mails is taken out before.
    assert_eq!(
        texts(&stanza["After"]),
        ["HasBounceDomain", "BounceRule", "AWS::NoValue"]
    );
    let rule = &stanza["Rule"];
    assert_eq!(rule["Enabled"], true);
    assert_eq!(rule["ScanEnabled"], true, "or there are no verdicts");
    assert!(rule.get("Recipients").is_none(), "every verified domain");
    let [action] = rule["Actions"].as_sequence().unwrap().as_slice() else {
        panic!("one action");
    };
    let put = &action["S3Action"];
    leads_to(&put["BucketName"], "Bucket");
    leads_to(&put["TopicArn"], "ReceivedTopic");
    assert_eq!(put["ObjectKeyPrefix"], "received/");
    // SES tries a put when the rule is made.
    let depends = &template.0["Resources"]["ReceiptRule"]["DependsOn"];
    assert_eq!(texts(depends), ["BucketOverTls"]);
}

#[test]
fn ses_may_put_mails_there_and_nowhere_else() {
    let template = Template::read();
    let policy = one(&template, "BucketOverTls");
    leads_to(&policy["Bucket"], "Bucket");
    let [put]: [Value; 1] = allowed(&policy).try_into().expect("one statement");
    assert_eq!(put["Principal"]["Service"], "ses.amazonaws.com");
    assert_eq!(put["Action"], "s3:PutObject");
    let places = ["${Bucket.Arn}/received/*", "${Bucket.Arn}/bounces/*"];
    assert_eq!(texts(&put["Resource"]), places);
    let source = &put["Condition"]["StringEquals"]["aws:SourceAccount"];
    leads_to(source, "AWS::AccountId");
}

#[test]
fn notices_reach_the_queue_as_ses_wrote_them() {
    let template = Template::read();
    let policy = one(&template, "ReceivedTopicPolicy");
    leads_to(&policy["Topics"], "ReceivedTopic");
    let [publish]: [Value; 1] = allowed(&policy).try_into().expect("one statement");
    assert_eq!(publish["Principal"]["Service"], "ses.amazonaws.com");
    assert_eq!(publish["Action"], "sns:Publish");
    leads_to(&publish["Resource"], "ReceivedTopic");
    let source = &publish["Condition"]["StringEquals"]["aws:SourceAccount"];
    leads_to(source, "AWS::AccountId");

    let subscription = one(&template, "ReceivedToQueue");
    leads_to(&subscription["TopicArn"], "ReceivedTopic");
    assert_eq!(subscription["Protocol"], "sqs");
    leads_to(&subscription["Endpoint"], "InboundQueue.Arn");
    assert_eq!(
        subscription["RawMessageDelivery"], true,
        "the worker reads no envelope of SNS"
    );

    let policy = one(&template, "InboundQueueTakesTopic");
    leads_to(&policy["Queues"], "InboundQueue");
    let [send]: [Value; 1] = allowed(&policy).try_into().expect("one statement");
    assert_eq!(send["Principal"]["Service"], "sns.amazonaws.com");
    assert_eq!(send["Action"], "sqs:SendMessage");
    leads_to(&send["Resource"], "InboundQueue.Arn");
    let source = &send["Condition"]["ArnEquals"]["aws:SourceArn"];
    leads_to(source, "ReceivedTopic");
}

/// EventBridge gets events of SES by best effort; a topic delivers them to the queue or to its dead letters.
#[test]
fn events_of_ses_reach_the_queue_by_a_topic() {
    let template = Template::read();
    let destination = &one(&template, "MailEvents")["EventDestination"];
    assert!(destination["EventBridgeDestination"].is_null());
    leads_to(
        &destination["SnsDestination"]["TopicARN"],
        "MailEventsTopic",
    );
    let policy = one(&template, "MailEventsTopicPolicy");
    leads_to(&policy["Topics"], "MailEventsTopic");
    let [publish]: [Value; 1] = allowed(&policy).try_into().expect("one statement");
    assert_eq!(publish["Principal"]["Service"], "ses.amazonaws.com");
    assert_eq!(publish["Action"], "sns:Publish");
    let source = &publish["Condition"]["StringEquals"]["aws:SourceAccount"];
    leads_to(source, "AWS::AccountId");

    let subscription = one(&template, "MailEventsToQueue");
    leads_to(&subscription["TopicArn"], "MailEventsTopic");
    assert_eq!(subscription["Protocol"], "sqs");
    assert_eq!(subscription["RawMessageDelivery"], true);
    leads_to(&subscription["Endpoint"], "FeedbackQueue.Arn");
    let dead = &subscription["RedrivePolicy"]["deadLetterTargetArn"];
    leads_to(dead, "FeedbackDeadLetters.Arn");
}

/// Each action of the function that reads the queue, on each resource.
#[test]
fn the_worker_may_do_what_it_does() {
    let template = Template::read();
    let stanza = &template.functions()["inbound-parse"];
    let statements = template.statements(stanza);
    let may = |action: &str, resource: &str| {
        statements.iter().any(|one| {
            let of = |part: &str| texts(&one[part]);
            of("Action").contains(&action.to_owned())
                && of("Resource").contains(&resource.to_owned())
        })
    };
    for (resource, actions) in [
        (
            "Table.Arn",
            // The hostname and its domain; claims; the counter of a day; who needs a raw mail.
            &[
                "dynamodb:GetItem",
                "dynamodb:BatchGetItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:DeleteItem",
                "dynamodb:Query",
            ][..],
        ),
        (
            "InboundQueue.Arn",
            &[
                "sqs:SendMessage",
                "sqs:ReceiveMessage",
                "sqs:DeleteMessage",
                "sqs:ChangeMessageVisibility",
                "sqs:GetQueueAttributes",
            ],
        ),
        (
            "${Bucket.Arn}/inbound/*",
            &["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
        ),
        (
            "${Bucket.Arn}/received/*",
            &["s3:GetObject", "s3:DeleteObject"],
        ),
        ("Bucket.Arn", &["s3:ListBucket"]),
    ] {
        for action in actions {
            assert!(may(action, resource), "{action} on {resource}");
        }
    }
}

#[test]
fn the_mx_is_told_and_made_where_the_zone_is_known() {
    let template = Template::read();
    assert_eq!(texts(&template.0["Outputs"]["InboundMx"]["Value"]), [MX]);
    let record = &template.0["Resources"]["InboundMxRecord"];
    assert_eq!(record["Condition"], "PointsInbound");
    assert_eq!(record["Type"], "AWS::Route53::RecordSet");
    let record = &record["Properties"];
    assert_eq!(record["Type"], "MX");
    leads_to(&record["HostedZoneId"], "InboundHostedZone");
    leads_to(&record["Name"], "InboundHostname");
    assert_eq!(texts(&record["ResourceRecords"]), [MX]);
    let condition = texts(&template.0["Conditions"]["PointsInbound"]);
    assert_eq!(condition, ["InboundHostname", "", "InboundHostedZone", ""]);
    for parameter in ["InboundHostname", "InboundHostedZone"] {
        assert_eq!(template.0["Parameters"][parameter]["Default"], "");
    }
}

/// SES takes mails of up to 40 MB. One takes less than four times its size while it is read and posted, as
/// shared/mime/tests/memory.rs measures.
#[tokio::test]
async fn the_largest_mails_that_ses_takes_fit_into_the_memory() {
    const LARGEST: usize = 40 << 20;
    const TIMES: usize = 4;
    /// What the process and Lambda need whatever the mails.
    const ELSE: usize = 96 << 20;
    let template = Template::read();
    let stanza = &template.functions()["inbound-parse"];
    let variables = template.variables(stanza);
    let vars = Env::new(move |name| variables.get(name).cloned());
    let app = inbound_parse::App::from_env(&Platform::function(vars)).unwrap();
    let megabytes = stanza["MemorySize"].as_u64().unwrap();
    let memory = usize::try_from(megabytes).unwrap() << 20;
    assert!(app.concurrency * TIMES * LARGEST + ELSE <= memory);
}
