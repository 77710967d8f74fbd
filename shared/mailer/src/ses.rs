//! Amazon SES: the raw message in one `SendEmail` call (version 2 of the API).
//!
//! SES replaces Message-ID, Date and the envelope sender, so an accepted mail is identified by the
//! message tags that its events repeat.

mod identities;
mod insights;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_sesv2::Client;
use aws_sdk_sesv2::config::retry::RetryConfig;
use aws_sdk_sesv2::config::timeout::TimeoutConfig;
use aws_sdk_sesv2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sesv2::operation::send_email::SendEmailError;
use aws_sdk_sesv2::operation::send_email::builders::SendEmailFluentBuilder;
use aws_sdk_sesv2::primitives::Blob;
use aws_sdk_sesv2::types::{Destination, EmailContent, MessageTag, RawMessage};
use posthaste_model::{ConfigurationSets, TlsVersion, causes};
use tokio::sync::OnceCell;

use crate::{Attempt, Cause, EnhancedStatus, Envelope, RefusalStage, SendLimit};

pub use identities::{DedicatedIp, SesAccount, SesDomain, SesError};
pub use insights::{InsightsError, SesInsight};

/// Message tag with the account id.
pub const TAG_ACCOUNT: &str = "posthaste-account";
/// Message tag with the message id.
pub const TAG_MESSAGE: &str = "posthaste-message";
/// Message tag with the recipient's position.
pub const TAG_RECIPIENT: &str = "posthaste-recipient";

/// The account's SES in one region; clones share the client.
#[derive(Clone)]
pub struct Ses(Arc<Inner>);

/// The configuration sets that mail is sent with.
#[derive(Clone, Debug, Default)]
pub struct SesSets {
    /// Of the mail that none of the others is for.
    pub default: Option<String>,
    /// Of the mail of some pools.
    pub pools: ConfigurationSets,
    /// Of the mail of some accounts that names no such pool.
    pub accounts: ConfigurationSets,
    /// Of the mail of accounts that enforce TLS, whatever it names: a set with the TLS policy `REQUIRE`, which SES
    /// takes for TLS 1.2 or newer with any certificate. Without one such mail is refused.
    pub tls: Option<String>,
}

impl SesSets {
    fn of(&self, envelope: &Envelope) -> Option<&str> {
        if envelope.enforced_tls.is_on() {
            return self.tls.as_deref();
        }
        let pool = envelope.pool.as_deref();
        let set = pool.and_then(|name| self.pools.get(name));
        let set = set.or_else(|| self.accounts.get(envelope.tags.account.as_str()));
        set.or(self.default.as_deref())
    }
}

struct Inner {
    aws: SdkConfig,
    sets: SesSets,
    client: OnceCell<Client>,
}

impl Ses {
    /// Builds no client yet: the first mail does.
    pub fn new(aws: &SdkConfig, configuration_set: Option<String>) -> Self {
        let sets = SesSets {
            default: configuration_set,
            ..SesSets::default()
        };
        Self::with_sets(aws, sets)
    }

    /// As `new`, with separate configuration sets for some mail.
    pub fn with_sets(aws: &SdkConfig, sets: SesSets) -> Self {
        Self(Arc::new(Inner {
            aws: aws.clone(),
            sets,
            client: OnceCell::new(),
        }))
    }

    pub(crate) async fn hand_over(&self, envelope: &Envelope, message: &[u8]) -> Attempt {
        // "Amazon SES does not support the SMTPUTF8 extension": its documentation on addresses.
        if envelope.foreign_sender || envelope.to.needs_smtputf8() {
            return Attempt::Unsupported;
        }
        let wanted = envelope.enforced_tls;
        let is_beyond = wanted.require_valid_cert || wanted.version > TlsVersion::V1_2;
        if wanted.is_on() && (is_beyond || self.0.sets.tls.is_none()) {
            return Attempt::not_encrypted(4, None, false);
        }
        let client = self.0.client.get_or_init(|| async { client(&self.0.aws) });
        let call = self.call(client.await, envelope, message);
        match call {
            Ok(call) => match call.send().await {
                Ok(sent) => accepted(sent.message_id().unwrap_or_default()),
                Err(error) => refused(&error, &envelope.to.wire()),
            },
            Err(error) => Attempt::relay_error(format!("the call to SES was not built: {error}")),
        }
    }

    fn call(
        &self,
        client: &Client,
        envelope: &Envelope,
        message: &[u8],
    ) -> Result<SendEmailFluentBuilder, aws_sdk_sesv2::error::BuildError> {
        let tag = |name: &str, value: String| MessageTag::builder().name(name).value(value).build();
        let raw = RawMessage::builder().data(Blob::new(message)).build()?;
        let set = self.0.sets.of(envelope);
        let to = Destination::builder().to_addresses(envelope.to.wire());
        Ok(client
            .send_email()
            .destination(to.build())
            .content(EmailContent::builder().raw(raw).build())
            .set_configuration_set_name(set.map(str::to_owned))
            .email_tags(tag(TAG_ACCOUNT, envelope.tags.account.to_string())?)
            .email_tags(tag(TAG_MESSAGE, envelope.tags.message.to_string())?)
            .email_tags(tag(TAG_RECIPIENT, envelope.tags.recipient.to_string())?))
    }
}

fn client(aws: &SdkConfig) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(60))
        .build();
    let config = aws_sdk_sesv2::config::Builder::from(aws)
        // A call that timed out may have sent the mail; the worker decides whether to retry.
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .build();
    Client::from_conf(config)
}

fn accepted(message_id: &str) -> Attempt {
    Attempt::Handed {
        response: format!("250 Ok {message_id}"),
    }
}

/// Converts the answer of SES about a mail to `to` into the form of a relay's reply. Without an
/// answer, or with an unknown one, the mail may have left or not, and is deferred.
fn refused(error: &SdkError<SendEmailError>, to: &str) -> Attempt {
    let Some(answer) = error.as_service_error() else {
        let response = format!("no answer from SES: {}", causes(error));
        return if was_sent(error) {
            Attempt::Unanswered { response }
        } else {
            Attempt::relay_error(response)
        };
    };
    let text = answer.message().unwrap_or_default();
    let Some(name) = answer.code() else {
        // Not an answer of SES: of a proxy, or cut short.
        let response = format!("SES answered with an unknown error: {text}");
        return Attempt::Unanswered { response };
    };
    let response = format!("SES answered {name}: {text}");
    if let Some(limit) = throttle(name, text) {
        return Attempt::Throttled { response, limit };
    }
    let (code, status, stage) = match judge(answer, text, to) {
        Judgement::Ours => return Attempt::relay_error(response),
        Judgement::Sender => {
            return Attempt::Deferred {
                response,
                status: None,
                cause: Cause::Sender,
                ip: None,
            };
        }
        Judgement::Address => (553, EnhancedStatus::new(5, 1, 3), RefusalStage::Rcpt),
        Judgement::Mail => (554, EnhancedStatus::new(5, 6, 0), RefusalStage::Data),
    };
    Attempt::Bounced {
        code,
        response: format!("{code} {status} {name}: {text}"),
        status: Some(status),
        stage,
        ip: None,
        tls: false,
    }
}

/// The limit that the answer is about. Version 2 of the API has one exception for both, and for
/// other calls that come too fast.
fn throttle(name: &str, text: &str) -> Option<SendLimit> {
    SendLimit::of_text(text).or(is_throttle(name).then_some(SendLimit::Rate))
}

/// Whether this is the name of an exception for calls that come too fast.
fn is_throttle(name: &str) -> bool {
    matches!(
        name,
        "TooManyRequestsException" | "ThrottlingException" | "Throttling"
    )
}

/// Whether the call may have reached SES. Without a connection it did not.
fn was_sent(error: &SdkError<SendEmailError>) -> bool {
    match error {
        SdkError::ConstructionFailure(_) => false,
        SdkError::DispatchFailure(failure) => {
            let error = failure.as_connector_error();
            !error.is_some_and(|error| error.is_user() || is_unconnected(error))
        }
        _ => true,
    }
}

/// Whether there was no connection. The HTTP client (hyper-util) says so in the error below.
fn is_unconnected(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = error.source();
    while let Some(cause) = next {
        if cause.to_string().contains("client error (Connect)") {
            return true;
        }
        next = cause.source();
    }
    false
}

enum Judgement {
    /// No mail of the account would be taken.
    Ours,
    /// Mail of this sender or of this pool would not be taken.
    Sender,
    Address,
    Mail,
}

fn judge(answer: &SendEmailError, text: &str, to: &str) -> Judgement {
    let text = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // The same exceptions cover a bad mail and an account that is not set up: an identity not
    // verified, a region in the sandbox, a wrong configuration set or tag.
    let setup = [
        "not verified",
        "sandbox",
        "configuration set",
        "identity",
        "identities",
        "tag ",
    ];
    let address = [
        "missing final '@domain'",
        "illegal address",
        "illegal character",
        "local address",
        "domain starts with dot",
        "domain ends with dot",
        "domain contains",
        "invalid email address",
    ];
    let about_the_mail = answer.is_message_rejected() || answer.is_bad_request_exception();
    let about_the_sender = answer.is_mail_from_domain_not_verified_exception()
        || answer.is_not_found_exception()
        || (about_the_mail && says(&setup));
    if about_the_sender {
        return Judgement::Sender;
    }
    if !about_the_mail {
        return Judgement::Ours;
    }
    // SES also reads the addresses in the header, and mostly does not say which one it means. Only
    // a recipient that SES names is to blame, because that address is not mailed again.
    if says(&address) && text.contains(&to.to_ascii_lowercase()) {
        return Judgement::Address;
    }
    Judgement::Mail
}

impl fmt::Debug for Ses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ses")
            .field("sets", &self.0.sets)
            .finish_non_exhaustive()
    }
}
