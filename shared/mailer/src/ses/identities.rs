//! Domains and senders registered with SES, and the status of the account itself.
//!
//! SES signs with the account's own keys ("Bring Your Own DKIM"), so an owner publishes the same
//! records whichever relay carries the mail.

use std::fmt;
use std::time::Duration;

use aws_sdk_sesv2::config::retry::RetryConfig;
use aws_sdk_sesv2::config::{Builder, Config};
use aws_sdk_sesv2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sesv2::types::{DkimSigningAttributes, DkimSigningAttributesOrigin, WarmupStatus};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_model::{EmailAddress, causes};

use super::{Ses, client, is_throttle};

/// SES refused a request or did not answer it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SES answered {answer}")]
pub struct SesError {
    answer: String,
    is_throttle: bool,
}

impl SesError {
    pub(super) fn of<E, R>(error: &SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: fmt::Debug,
    {
        let code = error.code();
        Self {
            answer: match code {
                Some(code) => format!("{code}: {}", error.message().unwrap_or_default()),
                None => format!("nothing: {}", causes(error)),
            },
            is_throttle: code.is_some_and(is_throttle),
        }
    }

    /// Whether SES refused the request because such requests come too often, whatever it asks for.
    pub fn is_throttle(&self) -> bool {
        self.is_throttle
    }
}

/// What SES reports about a domain. The states are verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SesDomain {
    /// Whether SES accepts mail from it.
    pub verified: bool,
    pub dkim: String,
    /// The domain of envelope senders, and its state.
    pub mail_from: Option<(String, String)>,
}

/// What SES reports about the account in this region.
#[derive(Clone, Debug, PartialEq)]
pub struct SesAccount {
    /// In the sandbox, mail goes to verified addresses only.
    pub sandbox: bool,
    pub sending: bool,
    pub enforcement: String,
    pub max_per_day: f64,
    pub max_per_second: f64,
    pub sent_in_a_day: f64,
}

/// A dedicated address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DedicatedIp {
    pub ip: String,
    /// SES's own pool that it is in.
    pub pool: Option<String>,
    /// Whether SES still limits what it sends from there.
    pub warms_up: bool,
}

/// SES takes one call a second of each kind that is about identities or the account, over all processes of the
/// account: a call that is refused for that is repeated after some one, two and four seconds.
fn patient() -> Builder {
    let retries = RetryConfig::standard()
        .with_max_attempts(4)
        .with_initial_backoff(Duration::from_secs(1));
    Config::builder().retry_config(retries)
}

impl Ses {
    /// Lets SES sign for a domain with this key (PKCS #8), whether or not the domain is registered.
    pub async fn add_domain(
        &self,
        domain: &str,
        selector: &str,
        private: &[u8],
    ) -> Result<(), SesError> {
        let client = self
            .0
            .client
            .get_or_init(|| async { client(&self.0.aws) })
            .await;
        let key = DkimSigningAttributes::builder()
            .domain_signing_selector(selector)
            .domain_signing_private_key(STANDARD.encode(private))
            .build();
        let created = client
            .create_email_identity()
            .email_identity(domain)
            .dkim_signing_attributes(key.clone())
            .customize()
            .config_override(patient())
            .send()
            .await;
        match created {
            Ok(_) => return Ok(()),
            Err(error) if error.code() == Some("AlreadyExistsException") => {}
            Err(error) => return Err(SesError::of(&error)),
        }
        let put = client
            .put_email_identity_dkim_signing_attributes()
            .email_identity(domain)
            .signing_attributes_origin(DkimSigningAttributesOrigin::External)
            .signing_attributes(key)
            .customize()
            .config_override(patient());
        put.send().await.map(drop).map_err(|e| SesError::of(&e))
    }

    /// Registers an address with SES, whether or not it is registered already. SES mails a link to
    /// the address, and accepts mail from it once the link is opened.
    pub async fn add_sender(&self, address: &EmailAddress) -> Result<(), SesError> {
        let client = self
            .0
            .client
            .get_or_init(|| async { client(&self.0.aws) })
            .await;
        let created = client
            .create_email_identity()
            .email_identity(address.wire())
            .customize()
            .config_override(patient())
            .send()
            .await;
        match created {
            Err(error) if error.code() != Some("AlreadyExistsException") => {
                Err(SesError::of(&error))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The state of a domain; `None` when it is not registered with SES.
    pub async fn domain(&self, domain: &str) -> Result<Option<SesDomain>, SesError> {
        let client = self
            .0
            .client
            .get_or_init(|| async { client(&self.0.aws) })
            .await;
        let got = client
            .get_email_identity()
            .email_identity(domain)
            .customize()
            .config_override(patient())
            .send()
            .await;
        let got = match got {
            Ok(got) => got,
            Err(error) if error.code() == Some("NotFoundException") => return Ok(None),
            Err(error) => return Err(SesError::of(&error)),
        };
        let dkim = got.dkim_attributes().and_then(|dkim| dkim.status());
        let mail_from = got.mail_from_attributes().map(|from| {
            let state = from.mail_from_domain_status().as_str().to_owned();
            (from.mail_from_domain().to_owned(), state)
        });
        Ok(Some(SesDomain {
            verified: got.verified_for_sending_status(),
            dkim: dkim
                .map_or("NOT_STARTED", |status| status.as_str())
                .to_owned(),
            mail_from: mail_from.filter(|(name, _)| !name.is_empty()),
        }))
    }

    /// The status of the account: sandbox, switches, quota.
    pub async fn account(&self) -> Result<SesAccount, SesError> {
        let client = self
            .0
            .client
            .get_or_init(|| async { client(&self.0.aws) })
            .await;
        let got = client
            .get_account()
            .customize()
            .config_override(patient())
            .send()
            .await;
        let got = got.map_err(|e| SesError::of(&e))?;
        let quota = got.send_quota();
        Ok(SesAccount {
            sandbox: !got.production_access_enabled(),
            sending: got.sending_enabled(),
            enforcement: got.enforcement_status().unwrap_or_default().to_owned(),
            max_per_day: quota.map_or(0.0, |quota| quota.max24_hour_send()),
            max_per_second: quota.map_or(0.0, |quota| quota.max_send_rate()),
            sent_in_a_day: quota.map_or(0.0, |quota| quota.sent_last24_hours()),
        })
    }

    /// The dedicated addresses of the account in this region; none for an account without any.
    pub async fn dedicated_ips(&self) -> Result<Vec<DedicatedIp>, SesError> {
        let client = self
            .0
            .client
            .get_or_init(|| async { client(&self.0.aws) })
            .await;
        let mut found = Vec::new();
        let mut token = None;
        loop {
            let page = client
                .get_dedicated_ips()
                .set_next_token(token)
                .customize()
                .config_override(patient())
                .send()
                .await;
            let page = page.map_err(|e| SesError::of(&e))?;
            found.extend(page.dedicated_ips().iter().map(|ip| DedicatedIp {
                ip: ip.ip().to_owned(),
                pool: ip.pool_name().map(str::to_owned),
                warms_up: *ip.warmup_status() == WarmupStatus::InProgress,
            }));
            token = page.next_token().map(str::to_owned);
            if token.is_none() {
                return Ok(found);
            }
        }
    }
}
