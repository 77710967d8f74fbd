//! AWS configuration: for a function, from what Lambda puts into the environment; for a process
//! started by hand, from everything the AWS tools read.

use std::fmt;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_async::time::SystemTimeSource;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_types::service_config::{LoadServiceConfig, ServiceConfigKey};

use crate::Env;

/// How long a call may take. If a service hangs, a function must have the time to report it: at 29
/// seconds it is cut off, and the gateway answers with an error of its own.
fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_millis(3_100))
        .operation_attempt_timeout(Duration::from_secs(5))
        .operation_timeout(Duration::from_secs(15))
        .build()
}

/// How often a call is made: five times in place of the SDK's three, with waits that are as long in all. Where one call
/// in twenty is throttled, one in 8,000 is three times in a row, and so one request in a thousand failed.
fn retries() -> RetryConfig {
    RetryConfig::standard()
        .with_max_attempts(5)
        .with_initial_backoff(Duration::from_millis(200))
}

/// The configuration of a function. Lambda provides region and credentials in variables, and these
/// are valid as long as the process lives. A lookup elsewhere (files, other services) would make
/// every function some hundred kilobytes larger and its start longer.
pub(crate) fn of_function(vars: &Env) -> SdkConfig {
    // This variable shows the emulator's tap whose call it sees.
    let name = vars.get("AWS_SDK_UA_APP_ID");
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .timeout_config(timeouts())
        .retry_config(retries())
        .sleep_impl(TokioSleep::new())
        .time_source(SystemTimeSource::new())
        .http_client(PooledHttpClient::new())
        .service_config(Endpoints(vars.clone()))
        .region(vars.get("AWS_REGION").map(Region::new));
    config.set_app_name(name.and_then(|name| AppName::new(name).ok()));
    if let Some(endpoint) = vars.get("AWS_ENDPOINT_URL") {
        config = config.endpoint_url(endpoint);
    }
    if let (Some(id), Some(secret)) = (
        vars.get("AWS_ACCESS_KEY_ID"),
        vars.get("AWS_SECRET_ACCESS_KEY"),
    ) {
        let token = vars.get("AWS_SESSION_TOKEN");
        let credentials = Credentials::new(id, secret, token, None, "environment");
        config = config.credentials_provider(SharedCredentialsProvider::new(credentials));
    }
    config.build()
}

/// The configuration of a process started by hand: region, credentials and profiles are looked up
/// wherever the AWS tools look, except what the variables name.
pub(crate) async fn of_host(vars: &Env) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .timeout_config(timeouts())
        .retry_config(retries());
    if let Some(endpoint) = vars.get("AWS_ENDPOINT_URL") {
        loader = loader.endpoint_url(endpoint);
    }
    // If it is not set, it is looked up in files and on the network.
    if let Some(region) = vars.get("AWS_REGION") {
        loader = loader.region(Region::new(region));
    }
    loader.load().await
}

/// `AWS_ENDPOINT_URL_SQS` and the like, which override `AWS_ENDPOINT_URL`.
struct Endpoints(Env);

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endpoints")
    }
}

impl LoadServiceConfig for Endpoints {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        let service = key.service_id().replace([' ', '-'], "_").to_uppercase();
        self.0.get(&format!("{}_{service}", key.env()))
    }
}

/// One HTTP client shared by all AWS clients. By default each client that is built creates a
/// connector that may never be used, only to check that it can; and each connector parses the
/// system's certificates.
#[derive(Clone, Debug)]
struct PooledHttpClient(SharedHttpClient);

impl PooledHttpClient {
    fn new() -> Self {
        let tls = Provider::Rustls(CryptoMode::AwsLc);
        Self(Builder::new().tls_provider(tls).build_https())
    }
}

impl HttpClient for PooledHttpClient {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        self.0.http_connector(settings, components)
    }
}

#[cfg(test)]
mod tests {
    use aws_credential_types::provider::ProvideCredentials as _;

    use super::*;

    const SET: [(&str, &str); 6] = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "token"),
        ("AWS_ENDPOINT_URL", "http://all"),
        ("AWS_ENDPOINT_URL_SQS", "http://queues"),
    ];

    /// The configuration of a function that has these variables without one.
    fn without(gone: &'static str) -> SdkConfig {
        let known = move |name: &str| SET.iter().find(|(set, _)| *set == name && *set != gone);
        let read = move |name: &str| known(name).map(|(_, value)| (*value).to_owned());
        of_function(&Env::new(read))
    }

    #[tokio::test]
    async fn a_function_takes_what_lambda_gives_it() {
        let config = without("");
        assert_eq!(config.region(), Some(&Region::new("eu-west-1")));
        let credentials = config.credentials_provider().unwrap();
        let credentials = credentials.provide_credentials().await.unwrap();
        assert_eq!(credentials.access_key_id(), "id");
        assert_eq!(credentials.secret_access_key(), "secret");
        assert_eq!(credentials.session_token(), Some("token"));
        assert_eq!(config.endpoint_url(), Some("http://all"));
    }

    #[test]
    fn a_call_is_made_five_times_within_its_time() {
        let config = without("");
        let retries = config.retry_config().unwrap();
        assert_eq!(retries.max_attempts(), 5);
        // With 200, 400, 800 and 1,600 ms between them.
        let waits = retries.initial_backoff() * 15;
        let whole = config
            .timeout_config()
            .unwrap()
            .operation_timeout()
            .unwrap();
        assert!(waits < whole / 4, "{waits:?} of {whole:?}");
    }

    #[test]
    fn without_a_secret_there_are_no_credentials_and_no_provider_is_called() {
        for gone in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            assert!(without(gone).credentials_provider().is_none(), "{gone}");
        }
        assert_eq!(without("AWS_REGION").region(), None);
        assert_eq!(without("AWS_ENDPOINT_URL").endpoint_url(), None);
    }

    #[test]
    fn a_service_may_have_an_endpoint_of_its_own() {
        let config = without("");
        let of = |service| {
            let key = ServiceConfigKey::builder().service_id(service);
            let key = key.env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
            config.service_config().unwrap().load_config(key.unwrap())
        };
        assert_eq!(of("SQS").as_deref(), Some("http://queues"));
        assert_eq!(of("DynamoDB"), None);
    }
}
