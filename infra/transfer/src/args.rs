//! The command lines of import and export.

use std::path::PathBuf;

use clap::Args;

/// Where an account is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportSource {
    /// The base address of a service that speaks the v3 API.
    Service(String),
    /// The folder of an export.
    Folder(PathBuf),
}

impl ImportSource {
    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("name an address or a folder".to_owned());
        }
        let is_address = text.contains("://");
        Ok(if is_address {
            Self::Service(text.trim_end_matches('/').to_owned())
        } else {
            Self::Folder(PathBuf::from(text))
        })
    }
}

/// Take an account over from SendGrid, or from the folder of an export
///
/// Reads templates, groups, suppressions, senders, domains, webhooks, settings, alerts, keys and subusers, and writes
/// them into an account of this service. It can be stopped at any time and repeated: it then goes on, and later takes
/// only what changed there. Nothing is changed at the other service, and nothing is deleted here.
#[derive(Clone, Debug, Args)]
pub struct Import {
    /// Where from: the base address of the API (`https://api.sendgrid.com`), or the folder of an export
    #[arg(long, value_name = "URL|FOLDER", value_parser = ImportSource::read)]
    pub from: ImportSource,
    /// API key of the other service, with full access or read access; the variable `SENDGRID_API_KEY` keeps it out of
    /// the list of processes
    #[arg(
        long,
        value_name = "KEY",
        env = "SENDGRID_API_KEY",
        hide_env = true,
        hide_env_values = true
    )]
    pub key: Option<String>,
    /// Account that is written to: its id, or its user name where only one has it
    #[arg(long, value_name = "ACCOUNT")]
    pub account: String,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Folder for what was read and how far it is written; it holds addresses [default: posthaste-import-ID here, or
    /// .import-ID in the folder that is imported]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Folder that the default of --state lies in
    #[arg(long, value_name = "DIR", hide = true)]
    pub state_in: Option<PathBuf>,
    /// Take senders that are verified there as verified here, instead of mailing each a link
    #[arg(long)]
    pub trust_senders: bool,
    /// Selector of the DKIM keys of domains: two or three letters that the other service's records do not have
    #[arg(long, value_name = "NAME", default_value = "ph")]
    pub dkim_selector: String,
    /// Make no API keys
    #[arg(long)]
    pub without_keys: bool,
}

impl Import {
    /// The folder of what is read from a service into the account of this id.
    pub(crate) fn state_of_service(&self, account: &str) -> PathBuf {
        let own = || {
            let parent = self.state_in.clone().unwrap_or_default();
            parent.join(format!("posthaste-import-{account}"))
        };
        self.state.clone().unwrap_or_else(own)
    }
}

/// Write an account down as JSON lines and CSV, in the fields of the API
///
/// `posthaste import --from FOLDER` reads it. It has no secrets of keys, of webhooks and of domains, but the URLs of
/// webhooks with what is in them, and the addresses of all lists.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// Folder to write to; it must be empty or not there
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Account: its id, or its user name where only one has it
    #[arg(long, value_name = "ACCOUNT")]
    pub account: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_a_folder_are_told_apart() {
        let service = |text: &str| ImportSource::Service(text.to_owned());
        for (text, want) in [
            (
                "https://api.sendgrid.com/",
                service("https://api.sendgrid.com"),
            ),
            ("http://127.0.0.1:3000", service("http://127.0.0.1:3000")),
            ("export", ImportSource::Folder(PathBuf::from("export"))),
            ("/srv/a:b", ImportSource::Folder(PathBuf::from("/srv/a:b"))),
        ] {
            assert_eq!(ImportSource::read(text), Ok(want), "{text}");
        }
        assert!(ImportSource::read(" ").is_err());
    }
}
