//! The commands that the host prints at its start, pasted as they are printed.

use std::process::Command;
use std::time::Duration;

use posthaste::{Host, HostSettings, greeting};
use serde_json::Value;

/// Every command of the greeting.
fn commands(said: &str) -> Vec<&str> {
    let starts = said.match_indices("  curl -i ").map(|(at, _)| at);
    let end = |rest: &str| rest.find("'\n\n").map_or(rest.len(), |end| end + 1);
    let rests = starts.filter_map(|at| said.get(at..));
    rests.filter_map(|rest| rest.get(..end(rest))).collect()
}

/// The status that a pasted command ends with.
async fn paste(line: &str) -> String {
    let line = line.to_owned();
    let run = move || Command::new("sh").args(["-c", &line]).output();
    let out = tokio::task::spawn_blocking(run).await.expect("no panic");
    let said = String::from_utf8(out.expect("a shell and curl").stdout).expect("text");
    let status = said.split(' ').nth(1).unwrap_or_default();
    status.to_owned()
}

/// The link in the newest mail of the mailbox.
async fn mailed_link(mailbox: std::net::SocketAddr) -> String {
    const PATIENCE: Duration = Duration::from_secs(120);
    let get = async |path: &str| {
        let answer = reqwest::get(format!("http://{mailbox}/api/v1/{path}")).await;
        let answer = answer.expect("the mailbox answers");
        answer.json::<Value>().await.expect("JSON")
    };
    let arrived = async {
        loop {
            let list = get("messages").await;
            if let Some(id) = list["messages"][0]["ID"].as_str() {
                return id.to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    let id = tokio::time::timeout(PATIENCE, arrived).await;
    let mail = get(&format!("message/{}", id.expect("a mail arrives"))).await;
    let text = mail["Text"].as_str().expect("a text");
    let link = text.lines().find(|line| line.starts_with("http://"));
    link.expect("a link").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_prints_is_accepted_as_it_stands() {
    for strict in [false, true] {
        let (clock, entropy) = (posthaste_runtime::clock(), posthaste_runtime::entropy());
        let settings = HostSettings {
            strict_senders: strict,
            ..HostSettings::in_memory(clock, entropy)
        };
        let host = Host::start(&settings).await.expect("a host");
        let said = greeting::text(&host, &settings);
        let commands = commands(&said);
        assert_eq!(commands.len(), if strict { 2 } else { 1 }, "{said}");
        if strict {
            assert_eq!(paste(commands[0]).await, "201", "{said}");
            let link = mailed_link(host.mailbox).await;
            let confirmed = reqwest::Client::new().post(link).send().await;
            assert_eq!(confirmed.expect("the page").status(), 200);
        }
        let mail = commands.last().expect("a command");
        assert_eq!(paste(mail).await, "202", "{said}");
        host.stop().await;
    }
}
