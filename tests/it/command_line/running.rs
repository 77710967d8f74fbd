//! Hosts that run side by side, and commands that work while one runs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};

use super::{command, folder, posthaste};

/// A running host, and the line that it printed at its start.
pub(super) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: Value,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        Self::of(command().args(args))
    }

    /// The host of a command line that lacks only `--json`.
    pub(super) fn of(line: &mut Command) -> Self {
        let mut child = line
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        lines.read_line(&mut line).expect("text");
        let stderr = BufReader::new(child.stderr.take().expect("its errors"));
        let said = serde_json::from_str(&line);
        Self {
            child,
            stderr,
            said: said.unwrap_or_else(|error| panic!("{error}: {line}")),
        }
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.said[name].as_str().expect(name)
    }

    async fn send(&self, mail: &Value) -> reqwest::Response {
        let url = format!("{}/v3/mail/send", self.text("api"));
        let call = reqwest::Client::new().post(url).json(mail);
        let answer = call.bearer_auth(self.text("api_key")).send().await;
        answer.expect("the API answers")
    }

    /// Stops it as a container is stopped; what it wrote to standard error and nothing has read.
    pub(super) fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(sent.expect("kill runs").success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).expect("text");
        let end = self.child.wait().expect("it ends");
        assert!(end.success(), "{end}: {rest}");
        rest
    }
}

fn mail(to: &str) -> Value {
    json!({
        "personalizations": [{"to": [{"email": to}]}], "from": {"email": "me@example.com"},
        "subject": "Hello", "content": [{"type": "text/plain", "value": "x"}],
    })
}

const ADDRESSES: [&str; 5] = ["api", "mailbox", "inbound", "submission", "no_login"];

#[tokio::test(flavor = "multi_thread")]
async fn hosts_run_side_by_side_on_ports_that_nobody_asked_for() {
    let hosts = [Running::start(&["--memory"]), Running::start(&["--memory"])];
    for name in ADDRESSES {
        assert_ne!(hosts[0].text(name), hosts[1].text(name));
    }
    for host in &hosts {
        let url = format!("{}/health", host.text("api"));
        let health = reqwest::get(url).await.expect("it answers");
        assert_eq!(health.status(), 200);
        let health: Value = health.json().await.expect("JSON");
        let version = host.text("version");
        let parts = json!({"table": "ok", "queues": "ok"});
        let want = json!({"status": "ok", "version": version, "checks": parts});
        assert_eq!(health, want);
        let (_, port) = host.text("api").rsplit_once(':').expect("a port");
        let checked = posthaste(&["health", "--port", port]);
        assert!(checked.status.success(), "{checked:?}");
        let checked: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
        assert_eq!(checked, want);
        assert_eq!(host.send(&mail("ann@example.com")).await.status(), 202);
    }
    let address = hosts[0].text("api").to_owned();
    let (_, port) = address.rsplit_once(':').expect("a port");
    let out = posthaste(&["--memory", "--port", port, "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&out.stderr).expect("JSON");
    let message = error["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("--port") && message.contains(port),
        "{message}"
    );
    for host in hosts {
        host.stop();
    }
    let checked = posthaste(&["health", "--port", port]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
}

#[test]
fn flags_are_read_from_variables() {
    let key = "SG.aaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    let run = |value: &str, more: &[&str]| {
        let mut command = command();
        command
            .env("POSTHASTE_MEMORY", "true")
            .env("POSTHASTE_PORT", value);
        command.env("POSTHASTE_API_KEY", key).args(more);
        let out = command.output().expect("the binary runs");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let refused = run("many", &[]);
    assert!(refused.contains("--port"), "{refused}");
    let refused = run("0", &["--relay=http://x"]);
    assert!(
        refused.contains("--relay") && !refused.contains("--port"),
        "{refused}"
    );
}

#[test]
fn the_operator_works_while_a_host_runs() {
    let dir = folder();
    let data = dir.path().to_str().expect("a text");
    let ports = [
        "--port=0",
        "--mailbox-port=0",
        "--smtp-port=0",
        "--submission-port=0",
    ];
    let host = Running::start(&[&ports[..], &["--data", data]].concat());
    let run = |words: &str, code: i32, part: &str| {
        let args: Vec<&str> = words.split(' ').chain(["--data", data]).collect();
        let out = posthaste(&args);
        let said = [out.stdout, out.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(out.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(part), "{words}: {said}");
    };
    run("account create ann", 0, "account ");
    run("account create ann", 4, "--if-absent");
    run("account create ann --if-absent --no-key", 0, "exists");
    run("account list", 0, "ann");
    run("key create ann --name k --json", 0, "\"api_key\"");
    run("key list ann", 0, "SCOPES");
    let scopes = [
        "key",
        "create",
        "ann",
        "--scopes",
        "mail.send, templates.read",
        "--data",
        data,
    ];
    assert!(posthaste(&scopes).status.success());
    run("key list ann", 0, "mail.send,templates.read");
    run("key list bob --json", 3, "{\"error\":{\"exit_code\":3");
    run("account delete ann", 4, "--yes");
    run("account delete ann --yes", 0, "deleted");
    run("account show ann", 3, "there is no account ann");
    host.stop();
    run("account list", 0, "local");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_has_a_line_for_each_request_and_each_end_of_a_mail() {
    let mut host = Running::start(&["--memory"]);
    let refused = host.send(&json!({})).await;
    assert_eq!(refused.status(), 400);
    let sent = host.send(&mail("ann@example.com")).await;
    let id = sent.headers()["x-message-id"]
        .to_str()
        .expect("text")
        .to_owned();
    let mut said = String::new();
    while !said.contains(" delivered") {
        let read = host.stderr.read_line(&mut said).expect("text");
        assert!(read > 0, "{said}");
    }
    for part in [
        "POST /v3/mail/send 400: ".to_owned(),
        format!("POST /v3/mail/send 202 {id}"),
        "to a***@***.com accepted".to_owned(),
    ] {
        assert!(said.contains(&part), "{part} in {said}");
    }
    assert!(!said.contains("ann@example.com"), "{said}");
    // A deferral is one line, with the reason.
    let sent = host.send(&mail("deferred@outcome.test")).await;
    assert_eq!(sent.status(), 202);
    let mut said = String::new();
    while !said.contains(" deferred: 451 ") {
        let read = host.stderr.read_line(&mut said).expect("text");
        assert!(read > 0, "{said}");
    }
    assert_eq!(said.matches("deferred").count(), 1, "{said}");
    host.stop();

    let quiet = Running::start(&["--memory", "--quiet"]);
    assert_eq!(quiet.send(&mail("ann@example.com")).await.status(), 202);
    assert_eq!(quiet.stop(), "");
}
