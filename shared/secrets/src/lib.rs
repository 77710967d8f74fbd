//! The only crate that accesses Secrets Manager. The second backend is a map in memory, for tests.
//!
//! Neither `Debug` nor an error prints the value of a secret.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_config::SdkConfig;
use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::{ProvideErrorMetadata, SdkError};
use posthaste_model::causes;

/// Secrets by their ARN or name.
#[derive(Clone)]
pub struct Secrets(Backend);

#[derive(Clone)]
enum Backend {
    Aws(Client),
    Memory(Arc<Mutex<BTreeMap<String, Version>>>),
}

/// The current version of a secret in memory.
struct Version {
    request: String,
    value: String,
}

/// Secrets Manager did not answer, or refused. The same call may succeed later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Secrets Manager: {0}")]
pub struct SecretsError(pub String);

/// Whether a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum SecretWrite {
    Done,
    /// A call with the same id has written a value before.
    Before,
}

impl Secrets {
    /// Those of an AWS account. Builds a client, and opens no connection.
    pub fn aws(config: &SdkConfig) -> Self {
        Self(Backend::Aws(Client::new(config)))
    }

    /// None yet, in memory.
    pub fn in_memory() -> Self {
        Self(Backend::Memory(Arc::default()))
    }

    /// The text of a secret: of its current version, or of the version that is named. `None` when
    /// the secret has no value yet, which Secrets Manager does not tell from a secret that is not
    /// there.
    pub async fn read(
        &self,
        id: &str,
        version: Option<&str>,
    ) -> Result<Option<String>, SecretsError> {
        let client = match &self.0 {
            Backend::Aws(client) => client,
            Backend::Memory(all) => {
                let all = all.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(all.get(id).map(|version| version.value.clone()));
            }
        };
        let call = client.get_secret_value().secret_id(id);
        let call = call.set_version_id(version.map(str::to_owned));
        match call.send().await {
            // An emulator gives a secret without a value an empty one.
            Ok(found) => Ok(found.secret_string.filter(|text| !text.is_empty())),
            Err(SdkError::ServiceError(refused))
                if refused.err().is_resource_not_found_exception() =>
            {
                Ok(None)
            }
            Err(error) => Err(of_sdk(error)),
        }
    }

    /// Writes a value as the current version. `request` is an id of 32 to 64 characters: of calls
    /// with the same id and different values only the first writes.
    pub async fn write(
        &self,
        id: &str,
        request: &str,
        value: &str,
    ) -> Result<SecretWrite, SecretsError> {
        let client = match &self.0 {
            Backend::Aws(client) => client,
            Backend::Memory(all) => {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                let is_repeat = |version: &Version| version.request == request;
                if all.get(id).is_some_and(is_repeat) {
                    return Ok(SecretWrite::Before);
                }
                let (request, value) = (request.to_owned(), value.to_owned());
                all.insert(id.to_owned(), Version { request, value });
                return Ok(SecretWrite::Done);
            }
        };
        let call = client.put_secret_value().secret_id(id);
        let call = call.client_request_token(request).secret_string(value);
        match call.send().await {
            Ok(_) => Ok(SecretWrite::Done),
            Err(SdkError::ServiceError(refused))
                if refused.err().is_resource_exists_exception() =>
            {
                Ok(SecretWrite::Before)
            }
            Err(error) => Err(of_sdk(error)),
        }
    }
}

fn of_sdk<E, R>(error: SdkError<E, R>) -> SecretsError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: fmt::Debug + 'static,
{
    SecretsError(match (error.code(), error.message()) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => causes(&error),
    })
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_request_writes_one_value() {
        let secrets = Secrets::in_memory();
        assert_eq!(secrets.read("owner", None).await, Ok(None));
        let of = async |request, value| secrets.write("owner", request, value).await;
        assert_eq!(of("1", "first").await, Ok(SecretWrite::Done));
        assert_eq!(of("1", "second").await, Ok(SecretWrite::Before));
        let read = secrets.read("owner", None).await;
        assert_eq!(read, Ok(Some("first".to_owned())));
        assert!(!format!("{secrets:?}").contains("first"));
    }
}
