//! `/v3/mail_settings/bcc` and `…/plain_content`: legacy settings (API facts 1, "Others"). Clients
//! still use them, so they are stored; they change no mail and are not listed.

use posthaste_model::Problems;
use posthaste_store::AccountSettings;
use serde::{Deserialize, Serialize};

use crate::mail::{ForwardChange, forward};
use crate::setting::Setting;

/// The address that received a copy of every mail.
#[derive(Serialize)]
pub(crate) struct Bcc {
    email: String,
    enabled: bool,
}

impl Setting for Bcc {
    type Patch = ForwardChange;

    const PATH: &'static str = "/v3/mail_settings/bcc";
    const READ: &'static str = "mail_settings.bcc.read";
    const UPDATE: &'static str = "mail_settings.bcc.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            email: all.bcc.email.clone().unwrap_or_default(),
            enabled: all.bcc.enabled,
        }
    }

    fn change(all: &mut AccountSettings, change: ForwardChange, found: &mut Problems) {
        forward(&mut all.bcc, change, found);
    }
}

/// Whether plain text was sent unconverted.
#[derive(Serialize)]
pub(crate) struct PlainContent {
    enabled: bool,
}

#[derive(Clone, Deserialize)]
pub(crate) struct PlainContentChange {
    enabled: Option<bool>,
}

impl Setting for PlainContent {
    type Patch = PlainContentChange;

    const PATH: &'static str = "/v3/mail_settings/plain_content";
    const READ: &'static str = "mail_settings.plain_content.read";
    const UPDATE: &'static str = "mail_settings.plain_content.update";

    fn of(all: &AccountSettings) -> Self {
        Self {
            enabled: all.plain_content,
        }
    }

    fn change(all: &mut AccountSettings, change: PlainContentChange, _: &mut Problems) {
        all.plain_content = change.enabled.unwrap_or(all.plain_content);
    }
}
