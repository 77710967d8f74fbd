//! What the host says at its start: where everything is, and the first mail to paste.

use serde_json::{Value, json};

use crate::host::Host;
use crate::start::HostSettings;

/// Sender of the first mail.
const SENDER: &str = "me@example.com";

/// The greeting for programs: one line of JSON with every address.
pub fn json(host: &Host, settings: &HostSettings) -> String {
    let scheme = scheme(host);
    let greeting = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "api": format!("{scheme}://{}", host.api),
        "api_key": host.key,
        "account": host.account,
        "notice": host.notice,
        "console": host.console,
        "mailbox": format!("http://{}", host.mailbox),
        "inbound": format!("smtp://{}", host.smtp),
        "submission": format!("smtp://{}", host.submission),
        "no_login": host.no_login.map(|address| format!("smtp://{address}")),
        "data": settings.data,
    });
    greeting.to_string()
}

fn scheme(host: &Host) -> &'static str {
    if host.https { "https" } else { "http" }
}

/// The greeting.
pub fn text(host: &Host, settings: &HostSettings) -> String {
    let scheme = scheme(host);
    let api = host.api;
    let first = match (&host.key, &host.notice) {
        (Some(key), None) => key.clone(),
        (Some(key), Some(notice)) => format!("{key}\n            ({notice})"),
        (None, notice) => format!("none: {}", notice.as_deref().unwrap_or_default()),
    };
    let relay = match settings.relay {
        None => "recorded by the embedded relay".to_owned(),
        Some(_) => "handed to the relay you named".to_owned(),
    };
    let console = host.console.as_ref().map_or_else(String::new, |link| {
        format!("\n  Console   {link}\n            (opens one session within 15 minutes)")
    });
    let no_login = host.no_login.map_or_else(String::new, |address| {
        format!("\n  No login  smtp://{address} (with any login too)")
    });
    let data = match &settings.data {
        None => "in memory, deleted at the end".to_owned(),
        Some(data) => format!("in {}", data.display()),
    };
    let (senders, domains) = if settings.strict_senders {
        (
            "only verified senders and authenticated domains",
            "authenticated by their records in the DNS",
        )
    } else {
        (
            "any sender (use --strict-senders to try as on AWS)",
            "authenticated as soon as they are created",
        )
    };
    let links = if settings.links_lead_nowhere() {
        format!(
            "\n  Links     WARNING: links in mail lead to {scheme}://{api}, where no recipient reaches them; \
             name this host's own address with --public-url"
        )
    } else {
        String::new()
    };
    format!(
        "Posthaste {version}

  API       {scheme}://{api}
  API key   {first}{console}
  Mailbox   http://{mailbox}
  Inbound   smtp://{smtp}
  Submit    smtp://{submission} (user apikey, password: the API key){no_login}
  Mail is   {relay}
  Senders   {senders}
  Domains   {domains}
  Data      {data}{links}

{steps}

Ctrl-C stops.",
        version = env!("CARGO_PKG_VERSION"),
        mailbox = host.mailbox,
        smtp = host.smtp,
        submission = host.submission,
        steps = steps(host, settings, &format!("{scheme}://{api}")),
    )
}

/// The commands to paste in a second terminal.
fn steps(host: &Host, settings: &HostSettings, base: &str) -> String {
    // Without a key the commands show a placeholder.
    let key = host.key.as_deref().unwrap_or("YOUR_API_KEY");
    let post = |path: &str, body: Value| {
        format!(
            "  curl -i {base}{path} \\
    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
    -d '{body}'"
        )
    };
    let mail = post(
        "/v3/mail/send",
        json!({
            "personalizations": [{"to": [{"email": "you@example.com"}]}],
            "from": {"email": SENDER},
            "subject": "Hello",
            "content": [{"type": "text/plain", "value": "It works."}],
        }),
    );
    if !settings.strict_senders {
        return format!("Send the first mail:\n\n{mail}");
    }
    let proof = post(
        "/v3/verified_senders",
        json!({
            "nickname": "Me",
            "from_email": SENDER,
            "reply_to": SENDER,
            "address": "1 Street",
            "city": "Town",
            "country": "Land",
        }),
    );
    let (sender, letter) = match settings.relay {
        None => (
            "Verify a sender first",
            format!("that the mailbox then shows on http://{}", host.mailbox),
        ),
        Some(_) => (
            "Verify a sender first, with an address of your own in place of the example's",
            "that arrives there".to_owned(),
        ),
    };
    format!(
        "{sender}:\n\n{proof}\n\nOpen the link in the mail {letter}, confirm, and send the first mail:\n\n{mail}"
    )
}
