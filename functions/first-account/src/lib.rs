//! Creates the first account of a stack, its key, and a link that opens one session of the console: the function of a
//! custom resource, which CloudFormation calls while it makes, changes and deletes the stack.
//!
//! Key and link are in one place, a secret of Secrets Manager: no log, no answer to CloudFormation and no row has them.

mod create;
mod owner_secret;
mod request;

use std::time::Duration;

use posthaste_model::{Clock, Entropy};
use posthaste_runtime::{Error, Platform};
use posthaste_secrets::Secrets;
use posthaste_store::Store;
use reqwest::Client;

use request::RequestType;
pub use request::ResourceRequest;

/// How long CloudFormation may take to accept the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The dependencies of `first-account`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub secrets: Secrets,
    /// ARN of the secret that key and link are written into.
    pub secret_arn: String,
    /// Hands answers to CloudFormation.
    pub client: Client,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl App {
    /// Reads `TABLE_NAME`, `OWNER_SECRET_ARN`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            secrets: platform.secrets()?,
            secret_arn: platform.env().required("OWNER_SECRET_ARN")?,
            client: Client::builder().timeout(PATIENCE).build()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
        })
    }
}

/// Does what a request is about, and answers CloudFormation, which waits for that. Creates the account when the
/// resource is made; does nothing when it is changed or deleted: accounts outlive stacks.
///
/// # Errors
/// When the answer cannot be delivered. Lambda then calls again, and nothing is made twice.
pub async fn handle(app: &App, request: ResourceRequest) -> Result<(), Error> {
    let outcome = match request.request_type {
        RequestType::Create => create::first_account(app, &request).await,
        RequestType::Update | RequestType::Delete => Ok(()),
    };
    if let Err(error) = &outcome {
        tracing::error!(%error, "no first account: {error}");
    }
    let failure = outcome.err().map(|error| error.to_string());
    let answer = request.answer(failure).to_string();
    // The URL is a permission to answer: no error may show it.
    let put = app.client.put(&request.response_url).body(answer);
    let answered = put
        .send()
        .await
        .and_then(reqwest::Response::error_for_status);
    answered.map_err(reqwest::Error::without_url)?;
    Ok(())
}
