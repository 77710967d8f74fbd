//! Hands one mail to one relay, once, and reports the result in the terms of RFC 5321.
//!
//! The only crate that speaks SMTP as a client or the SES API. It never retries and never decides
//! what happens next: the delivery worker reads the [`Attempt`] and does.

mod attempt;
mod classify;
mod relay_url;
mod reply;
mod ses;
mod smtp;
mod status;

pub use attempt::{Attempt, Cause, Envelope, RefusalStage, SendLimit, Tags};
pub use classify::{RefusalMeaning, bounce_type, classify, meaning};
pub use relay_url::{InvalidRelayUrl, RelayUrl, Tls};
pub use ses::{
    DedicatedIp, InsightsError, Ses, SesAccount, SesDomain, SesError, SesInsight, SesSets,
    TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT,
};
pub use smtp::{Explained, Fate, Smtp, SmtpConfig, SmtpStage, Timeouts, explain};
pub use status::EnhancedStatus;

/// The route that mail leaves by.
#[derive(Clone, Debug)]
pub enum Mailer {
    /// Any SMTP relay, over pooled connections.
    Smtp(Smtp),
    /// Amazon SES, version 2 of its API.
    Ses(Ses),
}

impl Mailer {
    /// Offers the mail once. `message` is a whole RFC 5322 message; it leaves unchanged, except for
    /// line ends that are not CRLF.
    ///
    /// Dropping the future in the middle closes the connection: the outcome is then unknown.
    pub async fn hand_over(&self, envelope: &Envelope, message: &[u8]) -> Attempt {
        match self {
            Self::Smtp(smtp) => smtp.hand_over(envelope, message).await,
            Self::Ses(ses) => ses.hand_over(envelope, message).await,
        }
    }

    /// Whether the relay would take mail, without offering any: whether it can be reached and takes
    /// the login (SMTP; the connection is kept for the next mail), or whether SES lets the account
    /// send. What is wrong is the error. SES takes one call a second that asks about the account: that it refuses
    /// this one for its rate says nothing about mail.
    pub async fn check(&self) -> Result<(), String> {
        match self {
            Self::Smtp(smtp) => smtp.check().await,
            Self::Ses(ses) => match ses.account().await {
                Ok(account) if account.sending => Ok(()),
                Ok(_) => Err("SES has paused sending for this account".to_owned()),
                Err(error) if error.is_throttle() => Ok(()),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// Says goodbye on the idle connections; hand-overs under way are not disturbed.
    pub async fn close(&self) {
        match self {
            Self::Smtp(smtp) => smtp.close().await,
            Self::Ses(_) => {}
        }
    }
}
