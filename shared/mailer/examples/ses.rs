//! Hands mails to whatever speaks the API of SES, for `tests/ses`: `ses URL RECIPIENT MAIL…` prints
//! one outcome a line.

#![expect(clippy::print_stdout, reason = "the outcomes are its purpose")]

use std::error::Error;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_sesv2::config::{Credentials, SharedCredentialsProvider};
use posthaste_mailer::{Attempt, Envelope, Mailer, Ses, Tags};
use posthaste_model::{AccountId, EmailAddress, MessageId};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let url = args.next().ok_or("which URL?")?;
    let to = EmailAddress::parse(&args.next().ok_or("which recipient?")?)?;
    let credentials = Credentials::new("id", "secret", None, None, "test");
    let aws = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(url)
        .build();
    let mailer = Mailer::Ses(Ses::new(&aws, None));
    for (recipient, path) in (0..).zip(args) {
        let envelope = Envelope {
            from: "bounce@example.com".to_owned(),
            to: to.clone(),
            tags: Tags {
                account: AccountId::from_bytes([1; 10]),
                message: MessageId::from_bytes([2; 16]),
                recipient,
            },
        };
        let attempt = mailer.hand_over(&envelope, &std::fs::read(path)?).await;
        println!("{}", told(&attempt));
    }
    Ok(())
}

fn told(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Accepted { response, .. } => format!("accepted {response}"),
        Attempt::Handed { response } => format!("handed {response}"),
        Attempt::Bounced {
            response, stage, ..
        } => format!("bounced at {stage:?}: {response}"),
        Attempt::Deferred {
            response, cause, ..
        } => format!("deferred by {cause:?}: {response}"),
        Attempt::Unsupported => "unsupported".to_owned(),
    }
}
