//! `posthaste --aws` with the template's variables and no stack behind them: what both ports say
//! before anybody asks the table. `tests/stack/run` drives it with one.

use std::collections::BTreeMap;

use clap::Parser as _;
use posthaste::{ApiServer, Cli};
use posthaste_runtime::{Env, Platform};
use posthaste_testkit::{Services, Tenant};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::doors::{exchange, post};
use crate::service::mail;
use crate::smtp::Smtp;
use crate::template::read::Template;

/// The variables of all functions of the template.
fn variables() -> BTreeMap<String, String> {
    let template = Template::read();
    let mut variables = BTreeMap::new();
    for stanza in template.functions().values() {
        variables.extend(template.variables(stanza));
    }
    // Empty in the template unless its parameter is given.
    let public_url = "https://post.example".to_owned();
    variables.insert("PUBLIC_URL".to_owned(), public_url);
    variables
}

async fn opened(flags: &[&str], platform: &Platform) -> ApiServer {
    let all = [&["posthaste", "--aws", "--port", "0"][..], flags].concat();
    let args = Cli::try_parse_from(all).expect("flags of --aws").run;
    let api = ApiServer::open(&args, platform).await;
    api.expect("free ports")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stack_takes_mail_by_http_and_by_smtp() {
    let variables = variables();
    let vars = Env::new(move |name| variables.get(name).cloned());
    let platform = Platform::host_with_secrets(vars).await;
    let platform = platform.expect("no secret to read");
    let api = opened(&["--submission-port", "0"], &platform).await;
    let (address, submission) = (api.address, api.submission);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(api.run(async move {
        let _ = stopped.await;
    }));

    let (mut smtp, offers) = Smtp::greeted(submission).await;
    assert!(offers.contains("posthaste.invalid"), "{offers}");
    for offer in ["AUTH PLAIN LOGIN", "SIZE 31457280", "SMTPUTF8", "8BITMIME"] {
        assert!(offers.contains(offer), "{offers}");
    }
    // Also from this machine.
    let refused = smtp.ask("MAIL FROM:<app@example.com>").await;
    assert!(refused.starts_with("530 5.7.0"), "{refused}");
    let url = format!("http://{address}/v3/mail/send");
    let refused = reqwest::Client::new().post(url).body("{}").send().await;
    assert_eq!(refused.expect("the API answers").status(), 401);
    let request = "GET /v3/scopes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = exchange(address, request).await;
    for name in [
        "X-Ratelimit-Limit",
        "X-Ratelimit-Remaining",
        "X-Ratelimit-Reset",
    ] {
        assert!(answer.contains(&format!("\r\n{name}: ")), "{answer}");
    }

    drop(stop);
    running.await.expect("it ends in order");
    assert!(smtp.hear().await.starts_with("421 "));
    for port in [address, submission] {
        assert!(TcpStream::connect(port).await.is_err(), "{port}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_names_of_the_headers_of_a_sent_mail_have_the_spelling_that_clients_look_for() {
    let mut services = Services::start().await;
    for (name, value) in variables() {
        services = services.var(&name, &value);
    }
    // No function of this process calls SES.
    let services = services.var("DELIVERY", "smtp://127.0.0.1:1").any_sender();
    let tenant = Tenant::new(&services.store, "one", services.clock.now()).await;
    let api = opened(&["--submission-port", "0"], &services.platform()).await;
    let address = api.address;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(api.run(async move {
        let _ = stopped.await;
    }));
    let body = mail("ann@example.com").to_string();
    let more = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let request = post("/v3/mail/send", &tenant.key, &more);
    let answer = exchange(address, &request).await;
    assert!(answer.starts_with("HTTP/1.1 202 Accepted\r\n"), "{answer}");
    for name in [
        "X-Message-Id",
        "X-Ratelimit-Limit",
        "X-Ratelimit-Remaining",
        "X-Ratelimit-Reset",
    ] {
        assert!(
            answer.contains(&format!("\r\n{name}: ")),
            "{name} in {answer}"
        );
    }
    assert_eq!(services.queues.drain("send").len(), 1);
    drop(stop);
    running.await.expect("it ends in order");
}

#[test]
fn flags_that_a_stack_has_no_use_for_are_refused() {
    for flag in [
        "--submission-open",
        "--no-inbound-dns",
        "--smtp-port=0",
        "--strict-senders",
    ] {
        let parsed = Cli::try_parse_from(["posthaste", "--aws", flag]);
        assert!(parsed.is_err(), "{flag}");
    }
}
