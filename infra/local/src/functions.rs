//! Every function, and how it is opened: one list for the local host, for `--aws` and for the tests of the
//! template.

use posthaste_http::{Authorizer, Routes};
use posthaste_runtime::{Error, Platform};

/// How a function is opened.
#[derive(Clone, Copy)]
pub enum Function {
    /// It answers HTTP, behind the authorizer.
    Http(fn(&Platform, Authorizer) -> Result<Routes, Error>),
    /// It works on events; opening it shows whether it starts.
    Worker(fn(&Platform) -> Result<(), Error>),
}

impl Function {
    /// Opens it by itself, as its `main` does. Its routes; `None` for a worker.
    pub fn open(self, platform: &Platform) -> Result<Option<Routes>, Error> {
        match self {
            Self::Http(open) => open(platform, platform.gate()?).map(Some),
            Self::Worker(open) => open(platform).map(|()| None),
        }
    }

    /// Whether it answers HTTP.
    pub fn is_http(self) -> bool {
        matches!(self, Self::Http(_))
    }
}

macro_rules! http {
    ($function:ident) => {
        Function::Http(|platform, gate| {
            let app = $function::App::from_env(platform)?;
            Ok($function::routes(app, gate))
        })
    };
}

macro_rules! worker {
    ($function:ident) => {
        Function::Worker(|platform| {
            $function::App::from_env(platform)?;
            Ok(())
        })
    };
}

/// By the name of its folder in `functions`.
pub const FUNCTIONS: [(&str, Function); 21] = [
    ("access-settings", http!(access_settings)),
    ("account-settings", http!(account_settings)),
    ("activity", http!(activity)),
    ("api-keys", http!(api_keys)),
    ("console", http!(console)),
    ("delivery", worker!(delivery)),
    ("event-settings", http!(event_settings)),
    ("first-account", worker!(first_account)),
    ("inbound-parse", worker!(inbound_parse)),
    ("ips", http!(ips)),
    ("mail-batch", http!(mail_batch)),
    ("mail-send", http!(mail_send)),
    ("parse-settings", http!(parse_settings)),
    ("schedule-sweep", worker!(schedule_sweep)),
    ("sender-identity", http!(sender_identity)),
    ("ses-feedback", worker!(ses_feedback)),
    ("subusers", http!(subusers)),
    ("suppressions", http!(suppressions)),
    ("templates", http!(templates)),
    ("tracking", http!(tracking)),
    ("webhook-fanout", worker!(webhook_fanout)),
];

/// Every route of every function. The app of mail/send is the one that the SMTP ports submit to, so that a
/// process caches senders and templates once.
pub fn routes(
    platform: &Platform,
    gate: &Authorizer,
    mail_send: &mail_send::App,
) -> Result<Routes, Error> {
    let mut all = Routes::new(gate.clone());
    for (name, function) in FUNCTIONS {
        if name == "mail-send" {
            all = all.merge(mail_send::routes(mail_send.clone(), gate.clone()));
        } else if let Function::Http(open) = function {
            all = all.merge(open(platform, gate.clone())?);
        }
    }
    Ok(all)
}
