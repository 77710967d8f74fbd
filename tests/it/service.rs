//! The whole service in this process, in memory, on a clock that only the test moves.

use std::net::SocketAddr;
use std::time::Duration;

use posthaste::{Host, HostSettings};
use posthaste_testkit::{TestClock, entropy};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::faults;

/// How long a test waits for what must come, by the machine's clock. A mail of thousands of copies takes its time on a
/// busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running service and the hand on its clock.
pub(crate) struct Service {
    host: Host,
    pub(crate) hand: TestClock,
    client: Client,
}

/// The start of every test's time.
const START: i64 = 1_800_000_000;

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// A service whose settings were changed.
    pub(crate) async fn with(change: impl FnOnce(&mut HostSettings)) -> Self {
        let hand = TestClock::at(posthaste_model::Timestamp(START));
        let mut settings = HostSettings::in_memory(hand.clock(), entropy());
        settings.table_faults = faults::are_on().then(faults::busy_table);
        change(&mut settings);
        let host = Host::start(&settings).await.expect("the host starts");
        if faults::are_on() {
            faults::turn_for_returned_jobs(host.quiet_watch(), hand.clone());
        }
        Self {
            host,
            hand,
            client: Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .expect("a client"),
        }
    }

    /// The second it is now.
    pub(crate) fn now(&self) -> i64 {
        self.hand.clock().now().0
    }

    /// A call of the API with the service's own key.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Response {
        let call = self.ask(method, path).bearer_auth(self.key());
        call.json(body).send().await.expect("the API answers")
    }

    /// A request of the API, still without a key and a body.
    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.host.api);
        self.client.request(method, url)
    }

    /// The service's own key, and where it takes mail from outside.
    pub(crate) fn key(&self) -> &str {
        self.host.key.as_deref().expect("a key")
    }

    pub(crate) fn smtp(&self) -> SocketAddr {
        self.host.smtp
    }

    /// Sends a mail that must be accepted; its message id.
    pub(crate) async fn send(&self, mail: &Value) -> String {
        let answer = self.call(Method::POST, "/v3/mail/send", mail).await;
        let status = answer.status();
        let id = answer.headers().get("x-message-id").cloned();
        let text = answer.text().await.unwrap_or_default();
        assert_eq!(status, 202, "{text}");
        id.expect("X-Message-Id").to_str().expect("text").to_owned()
    }

    /// The running service itself.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The bytes of a recorded mail.
    pub(crate) async fn raw(&self, mail: &Value) -> Vec<u8> {
        let id = mail["ID"].as_str().expect("an id");
        let url = format!("http://{}/api/v1/message/{id}/raw", self.host.mailbox);
        let answer = self.client.get(url).send().await;
        let answer = answer.expect("the mailbox answers");
        answer.bytes().await.expect("bytes").to_vec()
    }

    /// Asks again and again until there is an answer.
    pub(crate) async fn wait_for<T>(&self, what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
        let asking = async {
            loop {
                if let Some(answer) = ask().await {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, asking).await;
        answer.unwrap_or_else(|_| panic!("{what}"))
    }

    /// What the table answered to a question of the test itself; `None` where it refused that, as it may.
    pub(crate) fn answered<T>(answer: Result<T, posthaste_store::StoreError>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) if faults::are_on() && error.is_transient() => None,
            Err(error) => panic!("the table fails: {error}"),
        }
    }

    /// Moves the clock and does what falls due by then.
    pub(crate) async fn pass(&self, seconds: i64) {
        self.hand.advance(seconds);
        self.host.tick().await.expect("the sweep works");
    }

    /// The mails that the relay recorded, newest first, once there are `count` of them.
    pub(crate) async fn mails(&self, count: usize) -> Vec<Value> {
        self.recorded_at_least(count as u64).await;
        let page = self.page(count).await;
        page["messages"].as_array().cloned().unwrap_or_default()
    }

    /// How many mails the relay has recorded.
    pub(crate) async fn recorded(&self) -> Option<u64> {
        // The total alone is cheap to ask for again and again.
        self.page(1).await["total"].as_u64()
    }

    /// Waits until the relay has recorded so many mails.
    pub(crate) async fn recorded_at_least(&self, count: u64) {
        let arrived = async || (self.recorded().await >= Some(count)).then_some(());
        self.wait_for("the mails arrive", arrived).await;
    }

    async fn page(&self, limit: usize) -> Value {
        let url = format!("http://{}/api/v1/messages?limit={limit}", self.host.mailbox);
        let answer = self.client.get(url).send().await;
        let answer = answer.expect("the mailbox answers");
        answer.json().await.expect("JSON")
    }

    /// One recorded mail in full.
    pub(crate) async fn open(&self, mail: &Value) -> Value {
        let id = mail["ID"].as_str().expect("an id");
        let url = format!("http://{}/api/v1/message/{id}", self.host.mailbox);
        let answer = self
            .client
            .get(url)
            .send()
            .await
            .expect("the mailbox answers");
        answer.json().await.expect("JSON")
    }

    /// The headers of a recorded mail.
    pub(crate) async fn headers(&self, mail: &Value) -> Value {
        let id = mail["ID"].as_str().expect("an id");
        let url = format!("http://{}/api/v1/message/{id}/headers", self.host.mailbox);
        let answer = self.client.get(url).send().await;
        let answer = answer.expect("the mailbox answers");
        answer.json().await.expect("JSON")
    }

    /// Follows a link of a mail as a browser does, without following redirects; with a form as
    /// its button does.
    pub(crate) async fn follow(&self, link: &str, form: Option<&'static str>) -> Response {
        let call = match form {
            None => self.client.get(link),
            Some(form) => self
                .client
                .post(link)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form),
        };
        let call = call.header("user-agent", "Thunderbird/140.0");
        call.send().await.expect("the page answers")
    }

    /// Submits a form of a page.
    pub(crate) async fn submit(&self, link: &str, form: String) -> Response {
        let call = self.client.post(link).body(form);
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        call.send().await.expect("the page answers")
    }

    /// The row of a message's first copy, once it looks like this.
    pub(crate) async fn copy(
        &self,
        message: &str,
        like: impl Fn(&posthaste_store::Recipient) -> bool,
    ) -> posthaste_store::Recipient {
        let message = posthaste_model::MessageId::parse(message).expect("a message id");
        let store = self.host.store();
        let ask = async || {
            let row = store.recipient(&self.host.account, &message, 0).await;
            Self::answered(row).flatten().filter(|row| like(row))
        };
        self.wait_for("the copy looks as it should", ask).await
    }

    /// Hands a mail to the port for mail from outside; the answer to its recipient, and to itself.
    pub(crate) async fn hand_in(&self, from: &str, to: &str, mail: &str) -> (String, String) {
        let stream = TcpStream::connect(self.host.smtp).await;
        let mut stream = BufReader::new(stream.expect("the port answers"));
        let mut answers = vec![reply(&mut stream).await];
        for line in [
            "EHLO mx.example.com".to_owned(),
            format!("MAIL FROM:<{from}>"),
            format!("RCPT TO:<{to}>"),
            "DATA".to_owned(),
            format!("{mail}\r\n."),
            "QUIT".to_owned(),
        ] {
            let line = format!("{line}\r\n");
            stream.write_all(line.as_bytes()).await.expect("it listens");
            answers.push(reply(&mut stream).await);
            if answers.last().is_some_and(|last| last.starts_with('5')) {
                break;
            }
        }
        let at = |i: usize| answers.get(i).cloned().unwrap_or_default();
        (at(3), at(5))
    }

    /// What the webhooks answered about a recorded mail, once there is something.
    pub(crate) async fn answers(&self, mail: &Value) -> Vec<Value> {
        let id = mail["ID"].as_str().expect("an id");
        let url = format!("http://{}/api/v1/message/{id}/events", self.host.mailbox);
        let ask = async || {
            let answer = self.client.get(&url).send().await;
            let answer = answer.expect("the mailbox answers");
            let told: Value = answer.json().await.expect("JSON");
            let answers = told["Webhooks"].as_array().cloned().unwrap_or_default();
            (!answers.is_empty()).then_some(answers)
        };
        self.wait_for("the webhooks answer", ask).await
    }

    /// The rows of a message's copies, once there are `count` of them and each has an outcome.
    pub(crate) async fn rows_of(
        &self,
        message: &str,
        count: usize,
    ) -> Vec<posthaste_store::Recipient> {
        let message = posthaste_model::MessageId::parse(message).expect("a message id");
        let store = self.host.store();
        let ask = async || {
            let rows = store.recipients(&self.host.account, &message).await;
            let rows = Self::answered(rows)?;
            let ended = rows.iter().all(|row| !row.events.is_empty());
            (rows.len() >= count && ended).then_some(rows)
        };
        self.wait_for("the copies end", ask).await
    }

    /// The states of a message's copies, once there are `count` of them with an outcome.
    pub(crate) async fn states(&self, message: &str, count: usize) -> Vec<String> {
        let rows = self.rows_of(message, count).await;
        rows.iter().map(|row| format!("{:?}", row.state)).collect()
    }

    /// Waits until an address stands on the list of those who left everything.
    pub(crate) async fn suppressed(&self, email: &str) {
        let store = self.host.store();
        let ask = async || {
            let known = store.suppressed(&self.host.account, email).await;
            let list = posthaste_store::SuppressionList::Unsubscribes;
            Self::answered(known)?.on(list).map(drop)
        };
        self.wait_for("the address is listed", ask).await;
    }

    /// The rows of a message's copies, once the first has an outcome.
    pub(crate) async fn rows(&self, message: &str) -> Vec<posthaste_store::Recipient> {
        self.rows_of(message, 1).await
    }

    /// The events of a message's first copy: kind and reason.
    pub(crate) async fn events(&self, message: &str) -> Vec<(String, Option<String>)> {
        let rows = self.rows_of(message, 1).await;
        let told = rows.first().map(posthaste_store::Recipient::events);
        let told = told.unwrap_or_default().into_iter();
        told.map(|e| (e.kind.wire().to_owned(), e.reason)).collect()
    }

    pub(crate) async fn stop(self) {
        self.host.stop().await;
    }
}

/// The last line of a reply.
async fn reply(stream: &mut BufReader<TcpStream>) -> String {
    loop {
        let mut line = String::new();
        let read = stream.read_line(&mut line).await.expect("it speaks");
        if read == 0 || line.as_bytes().get(3) != Some(&b'-') {
            return line;
        }
    }
}

/// A small mail to one address.
pub(crate) fn mail(to: &str) -> Value {
    json!({
        "personalizations": [{"to": [{"email": to}]}],
        "from": {"email": "sender@example.com", "name": "Sender"},
        "subject": format!("Hello {to}"),
        "content": [{"type": "text/plain", "value": "It works."}],
    })
}
