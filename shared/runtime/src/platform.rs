//! What a function is built from: variables, clock, randomness, and the AWS rooms by name.

use aws_config::SdkConfig;
use posthaste_blob::Blob;
use posthaste_http::{Authorizer, RateLimits};
use posthaste_model::{Clock, Entropy};
use posthaste_queue::{Bus, Queue};
use posthaste_store::Store;

use crate::{ConfigError, Env};

/// Read once at cold start.
pub struct Platform {
    vars: Env,
    aws: SdkConfig,
    clock: Clock,
    entropy: Entropy,
}

impl Platform {
    /// What a function is built from. Opens no connection and reads no file.
    pub fn function(vars: Env) -> Self {
        let aws = crate::aws::of_function(&vars);
        Self::of(vars, aws)
    }

    /// The platform of a process started by hand: AWS's region and credentials are also looked up
    /// in the files of its tools.
    pub async fn host(vars: Env) -> Self {
        let aws = crate::aws::of_host(&vars).await;
        Self::of(vars, aws)
    }

    fn of(vars: Env, aws: SdkConfig) -> Self {
        Self {
            vars,
            aws,
            clock: crate::clock(),
            entropy: crate::entropy(),
        }
    }

    /// The variables of this function.
    pub fn env(&self) -> &Env {
        &self.vars
    }

    /// The AWS configuration, for the rooms that own an SDK.
    pub fn aws(&self) -> &SdkConfig {
        &self.aws
    }

    /// The clock.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Randomness.
    pub fn entropy(&self) -> Entropy {
        self.entropy.clone()
    }

    /// The table named by `TABLE_NAME`, with `DUE_SHARDS` partitions for the due rows of one minute
    /// (16: some 16,000 of them a second).
    ///
    /// # Errors
    /// When the name is not set or the number cannot be read.
    pub fn store(&self) -> Result<Store, ConfigError> {
        let store = Store::open(&self.aws, &self.vars.required("TABLE_NAME")?);
        Ok(store.with_due_shards(self.vars.positive("DUE_SHARDS", 16)?))
    }

    /// The queue whose URL is in the variable `name`.
    ///
    /// # Errors
    /// When the variable is not set.
    pub fn queue(&self, name: &str) -> Result<Queue, ConfigError> {
        Ok(Queue::sqs(&self.aws, &self.vars.required(name)?))
    }

    /// The bus named by `BUS_NAME`.
    ///
    /// # Errors
    /// When the variable is not set.
    pub fn bus(&self) -> Result<Bus, ConfigError> {
        Ok(Bus::event_bridge(
            &self.aws,
            &self.vars.required("BUS_NAME")?,
        ))
    }

    /// The bucket named by `BUCKET_NAME`.
    ///
    /// # Errors
    /// When the variable is not set.
    pub fn blob(&self) -> Result<Blob, ConfigError> {
        let bucket = self.vars.required("BUCKET_NAME")?;
        Ok(Blob::bucket(&bucket, |name| self.vars.get(name)))
    }

    /// The authorizer in front of the routes, with these [`Platform::limits`].
    ///
    /// # Errors
    /// When a variable cannot be read.
    pub fn gate(&self) -> Result<Authorizer, ConfigError> {
        Ok(Authorizer::new(self.store()?, self.clock(), self.limits()?))
    }

    /// Rate limits from `RATE_LIMIT`, `RATE_LIMIT_MAIL_SEND` (requests), `RATE_LIMIT_PERIOD`
    /// (seconds) and `RATE_LIMIT_ENDPOINTS` (see [`posthaste_http::Endpoints`]).
    ///
    /// # Errors
    /// When a variable cannot be read.
    pub fn limits(&self) -> Result<RateLimits, ConfigError> {
        let default = RateLimits::default();
        Ok(RateLimits {
            requests: self.vars.positive("RATE_LIMIT", default.requests)?,
            mail_send: self
                .vars
                .positive("RATE_LIMIT_MAIL_SEND", default.mail_send)?,
            period: self.vars.positive("RATE_LIMIT_PERIOD", default.period)?,
            endpoints: self
                .vars
                .or_default("RATE_LIMIT_ENDPOINTS", default.endpoints)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn limits(set: &'static [(&str, &str)]) -> Result<RateLimits, ConfigError> {
        let get = |name: &str| set.iter().find(|(known, _)| *known == name);
        let get = move |name: &str| match name {
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "TABLE_NAME" => Some("posthaste".to_owned()),
            other => get(other).map(|(_, text)| (*text).to_owned()),
        };
        let platform = Platform::function(Env::new(get));
        // The authorizer reads the same.
        assert_eq!(platform.gate().is_ok(), platform.limits().is_ok());
        platform.limits()
    }

    #[tokio::test]
    async fn limits_come_from_the_variables_and_have_defaults() {
        assert_eq!(limits(&[]).await, Ok(RateLimits::default()));
        let set = limits(&[
            ("RATE_LIMIT", "10"),
            ("RATE_LIMIT_MAIL_SEND", "20"),
            ("RATE_LIMIT_PERIOD", "1"),
            ("RATE_LIMIT_ENDPOINTS", "POST /v3/api_keys=5"),
        ]);
        let set = set.await.unwrap();
        let of = |endpoint| set.of(endpoint);
        assert_eq!((of("GET /v3/scopes"), of("POST /v3/mail/send")), (10, 20));
        assert_eq!((of("POST /v3/api_keys"), set.period), (5, 1));
    }

    #[tokio::test]
    async fn a_limit_that_cannot_be_read_stops_the_start() {
        for set in [
            &[("RATE_LIMIT", "-1")],
            &[("RATE_LIMIT", "0")],
            &[("RATE_LIMIT_MAIL_SEND", "0")],
            &[("RATE_LIMIT_PERIOD", "0")],
            &[("RATE_LIMIT_ENDPOINTS", "POST /v3/api_keys=0")],
            &[("RATE_LIMIT_MAIL_SEND", "many")],
            &[("RATE_LIMIT_PERIOD", "a minute")],
            &[("RATE_LIMIT_ENDPOINTS", "/v3/api_keys=5")],
        ] as [&'static [(&str, &str)]; 8]
        {
            assert!(limits(set).await.is_err(), "{set:?}");
        }
    }
}
