//! What surrounds the functions: a table, queues, an account, and events in AWS's own form.

use std::collections::BTreeMap;
use std::path::PathBuf;

use posthaste_model::Timestamp;
use posthaste_store::Store;
use posthaste_testkit::lambda::LambdaFunction;
use posthaste_testkit::{TABLE, Tenant, dynamodb};
use serde_json::{Value, json};

use super::base64;
use super::sqs::Sqs;

pub(super) struct Stage {
    pub(super) store: Store,
    pub(super) queues: Sqs,
    pub(super) tenant: Tenant,
    dynamodb: String,
    objects: String,
}

impl Stage {
    pub(super) async fn open() -> Self {
        let config = dynamodb().await;
        let store = Store::open(&config, TABLE);
        store.create_table().await.unwrap();
        let tenant = Tenant::new(&store, "owner", Timestamp(0)).await;
        tenant.domain(&store, "example.com").await;
        let endpoint = config.endpoint_url().expect("an endpoint");
        Self {
            dynamodb: endpoint.to_owned(),
            objects: super::objects::serve().await,
            queues: Sqs::start().await,
            store,
            tenant,
        }
    }

    pub(super) async fn mail_send(&self) -> LambdaFunction {
        LambdaFunction::start(&binary("mail-send"), self.variables()).await
    }

    pub(super) async fn api_keys(&self) -> LambdaFunction {
        LambdaFunction::start(&binary("api-keys"), self.variables()).await
    }

    pub(super) async fn delivery(&self, relay: &str) -> LambdaFunction {
        let mut variables = self.variables();
        // As template.yaml makes it: letters and digits, 64 of them.
        let secret = format!("1:{}", "Ab3d".repeat(16));
        variables.extend([
            ("EVENTS_QUEUE_URL", self.queues.url("events")),
            ("DELIVERY", relay.to_owned()),
            ("STACK_SECRET", secret),
            ("HOSTNAME_OF_SERVICE", "mail.example.com".to_owned()),
            ("BOUNCE_DOMAIN", "bounce.example.com".to_owned()),
        ]);
        LambdaFunction::start(&binary("delivery"), variables).await
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.clone()),
            ("AWS_ENDPOINT_URL_SQS", self.queues.endpoint()),
            ("AWS_ENDPOINT_URL_S3", self.objects.clone()),
            ("TABLE_NAME", TABLE.to_owned()),
            ("SEND_QUEUE_URL", self.queues.url("send")),
            ("BUCKET_NAME", "posthaste".to_owned()),
        ]
    }

    /// What the gateway would answer to this call.
    pub(super) async fn call(&self, function: &LambdaFunction, call: Call) -> Answer {
        let outcome = function.invoke(call.event(&self.tenant.key)).await;
        Answer::read(&outcome.expect("an answer, not an error"))
    }
}

/// The built function: in `POSTHASTE_BIN_DIR` or, without it, where cargo puts binaries.
fn binary(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = match std::env::var_os("POSTHASTE_BIN_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target/debug"),
    };
    let found = [folder.join(name), folder.join(name).join("bootstrap")];
    let found = found.into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| {
        let folder = folder.display();
        panic!(
            "{folder} holds no {name}; `cargo build -p mail-send -p delivery -p api-keys` makes it"
        )
    })
}

/// A request as API Gateway hands it on (payload format 2.0).
pub(super) struct Call {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    ip: String,
    body: String,
    base64: bool,
}

impl Call {
    /// `POST /v3/mail/send`.
    pub(super) fn send(body: &Value) -> Self {
        let json = "application/json".to_owned();
        Self {
            method: "POST".to_owned(),
            path: "/v3/mail/send".to_owned(),
            headers: BTreeMap::from([("content-type".to_owned(), json)]),
            ip: "192.0.2.1".to_owned(),
            body: body.to_string(),
            base64: false,
        }
    }

    /// The same, as the gateway hands on what it takes for binary.
    pub(super) fn send_base64(body: &[u8]) -> Self {
        let mut call = Self::send(&Value::Null);
        call.body = base64(body);
        call.base64 = true;
        call
    }

    pub(super) fn at(mut self, method: &str, path: &str) -> Self {
        method.clone_into(&mut self.method);
        path.clone_into(&mut self.path);
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(super) fn from(mut self, ip: &str) -> Self {
        ip.clone_into(&mut self.ip);
        self
    }

    fn event(mut self, key: &str) -> Value {
        let bearer = || format!("Bearer {key}");
        let key = self.headers.entry("authorization".to_owned());
        key.or_insert_with(bearer);
        json!({
            "version": "2.0",
            "routeKey": format!("{} {}", self.method, self.path),
            "rawPath": self.path,
            "rawQueryString": "",
            "headers": self.headers,
            "requestContext": {
                "accountId": "000000000000",
                "apiId": "api",
                "domainName": "api.execute-api.us-east-1.amazonaws.com",
                "domainPrefix": "api",
                "http": {
                    "method": self.method,
                    "path": self.path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": self.ip,
                    "userAgent": "test",
                },
                "requestId": "request",
                "routeKey": "$default",
                "stage": "$default",
                "time": "01/Jan/2026:00:00:00 +0000",
                "timeEpoch": 1_767_225_600_000_i64,
            },
            "body": self.body,
            "isBase64Encoded": self.base64,
        })
    }
}

/// What a function gives the gateway.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u64,
    pub(super) body: String,
    headers: Value,
}

impl Answer {
    fn read(value: &Value) -> Self {
        assert_ne!(value["isBase64Encoded"], true, "{value}");
        Self {
            status: value["statusCode"].as_u64().expect("a status"),
            body: value["body"].as_str().unwrap_or_default().to_owned(),
            headers: value["headers"].clone(),
        }
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].as_str().unwrap_or_default()
    }
}

/// Messages as the event source hands them over; each is named by its place.
pub(super) fn sqs_event(bodies: &[String]) -> Value {
    let record = |(i, body): (usize, &String)| {
        json!({
            "messageId": i.to_string(),
            "receiptHandle": format!("receipt-{i}"),
            "body": body,
            "attributes": {
                "ApproximateReceiveCount": "1",
                "SentTimestamp": "1767225600000",
                "SenderId": "posthaste",
                "ApproximateFirstReceiveTimestamp": "1767225600000",
            },
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:send",
            "awsRegion": "us-east-1",
        })
    };
    let records: Vec<Value> = bodies.iter().enumerate().map(record).collect();
    json!({"Records": records})
}
