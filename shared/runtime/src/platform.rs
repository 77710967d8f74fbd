//! What a function is opened from: variables, clock, randomness, and the services behind the names in its
//! variables. On AWS these are AWS's; in a local process they are parts that the process holds itself.
//!
//! Every function has one way to be opened, `App::from_env(&Platform)`, on AWS, on a laptop and in tests.

use std::sync::Arc;

use aws_config::SdkConfig;
use axum::http::Extensions;
use posthaste_blob::Blob;
use posthaste_http::{Authorizer, RateLimits};
use posthaste_model::{Clock, EmailAddress, Entropy, Hostname, PublicUrl};
use posthaste_queue::{Bus, Queue};
use posthaste_secrets::Secrets;
use posthaste_store::{DUE_SHARDS, Store};

use crate::aws_names::{QueueUrl, ResourceName};
use crate::held::HeldVariables;
use crate::{ConfigError, Env};

/// Read once at cold start.
#[derive(Clone)]
pub struct Platform {
    vars: Env,
    services: Services,
    clock: Clock,
    entropy: Entropy,
}

#[derive(Clone)]
enum Services {
    Aws(Box<SdkConfig>),
    Local(LocalServices),
}

/// The services of a local process.
#[derive(Clone)]
pub struct LocalServices {
    pub store: Store,
    pub blob: Blob,
    pub bus: Bus,
    /// The queue that a variable names, such as `SEND_QUEUE_URL`.
    pub queue: Arc<dyn Fn(&str) -> Queue + Send + Sync>,
    pub limits: RateLimits,
    /// Whether mail may be sent from any address: names of a laptop are not in the DNS.
    pub any_sender: bool,
    /// A name of this process in claims that no other process has, nor an earlier one.
    pub process: String,
    /// What functions otherwise make from their variables, by type: [`Platform::part`].
    pub parts: Extensions,
}

/// A process, as claims name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub name: String,
    /// Whether no other process works on this table, so that claims of an earlier one are void.
    pub is_single: bool,
}

impl Platform {
    /// What a function is built from. Opens no connection and reads no file.
    pub fn function(vars: Env) -> Self {
        let aws = crate::aws::of_function(&vars);
        Self::on_aws(vars, aws)
    }

    /// The platform of a process that holds the services itself.
    pub fn local(vars: Env, services: LocalServices, clock: Clock, entropy: Entropy) -> Self {
        Self {
            vars,
            services: Services::Local(services),
            clock,
            entropy,
        }
    }

    /// The platform of a process started by hand: AWS's region and credentials are also looked up
    /// in the files of its tools.
    pub async fn host(vars: Env) -> Self {
        let aws = crate::aws::of_host(&vars).await;
        Self::on_aws(vars, aws)
    }

    /// The same with what the secrets hold that its variables name, as infra/VARIABLES.md says. They are read once.
    pub async fn host_with_secrets(vars: Env) -> Result<Self, ConfigError> {
        let aws = crate::aws::of_host(&vars).await;
        let held = HeldVariables::read(vars, Secrets::aws(&aws), crate::clock()).await?;
        Ok(Self::on_aws(held.env(), aws))
    }

    fn on_aws(vars: Env, aws: SdkConfig) -> Self {
        Self {
            vars,
            services: Services::Aws(Box::new(aws)),
            clock: crate::clock(),
            entropy: crate::entropy(),
        }
    }

    /// The variables of this function.
    pub fn env(&self) -> &Env {
        &self.vars
    }

    /// The AWS configuration, for the rooms that own an SDK.
    ///
    /// # Errors
    /// When the variable `name` asks for AWS in a local process.
    pub fn aws(&self, name: &str) -> Result<&SdkConfig, ConfigError> {
        match &self.services {
            Services::Aws(aws) => Ok(aws),
            Services::Local(_) => Err(ConfigError::Unreadable(
                name.to_owned(),
                "a local process does not call AWS".to_owned(),
            )),
        }
    }

    /// The secrets of the AWS account, for the function that writes one; those that hold variables were read before.
    pub fn secrets(&self) -> Result<Secrets, ConfigError> {
        match self.part() {
            Some(secrets) => Ok(secrets),
            None => Ok(Secrets::aws(in_a_region(self.aws("OWNER_SECRET_ARN")?)?)),
        }
    }

    /// A part that a local process gives to the functions instead of what they would make from
    /// their variables; `None` on AWS.
    pub fn part<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        match &self.services {
            Services::Aws(_) => None,
            Services::Local(services) => services.parts.get().cloned(),
        }
    }

    /// Whether mail may be sent from any address, verified or not: never on AWS.
    pub fn any_sender(&self) -> bool {
        matches!(&self.services, Services::Local(services) if services.any_sender)
    }

    /// This process, in claims.
    pub fn process(&self) -> Process {
        match &self.services {
            Services::Aws(_) => Process {
                name: format!("lambda-{:016x}", self.entropy.below(u64::MAX)),
                is_single: false,
            },
            Services::Local(services) => Process {
                name: services.process.clone(),
                is_single: true,
            },
        }
    }

    /// The clock.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Randomness.
    pub fn entropy(&self) -> Entropy {
        self.entropy.clone()
    }

    /// The address that the service writes from: `SYSTEM_SENDER`, or `no-reply` at `BOUNCE_DOMAIN`.
    pub fn system_sender(&self) -> Result<EmailAddress, ConfigError> {
        let sender = match self.vars.get("SYSTEM_SENDER") {
            Some(sender) => sender,
            None => format!(
                "no-reply@{}",
                self.vars.parsed::<Hostname>("BOUNCE_DOMAIN")?
            ),
        };
        EmailAddress::parse(&sender)
            .map_err(|e| ConfigError::Unreadable("SYSTEM_SENDER".to_owned(), e.to_string()))
    }

    /// The table named by `TABLE_NAME`, with `DUE_SHARDS` partitions for the due rows of one minute
    /// (by default as many as on every other platform).
    pub fn store(&self) -> Result<Store, ConfigError> {
        let aws = match &self.services {
            // Its functions share the memory of which minutes are listed.
            Services::Local(services) => {
                return Ok(services.store.clone().with_jitter(self.entropy()));
            }
            Services::Aws(aws) => aws,
        };
        let table: ResourceName = self.vars.parsed("TABLE_NAME")?;
        let store = Store::open(in_a_region(aws)?, table.as_str())
            .with_clock(self.clock())
            .with_jitter(self.entropy());
        Ok(store.with_due_shards(self.vars.positive("DUE_SHARDS", DUE_SHARDS)?))
    }

    /// The queue whose URL is in the variable `name`.
    pub fn queue(&self, name: &str) -> Result<Queue, ConfigError> {
        Ok(match &self.services {
            Services::Aws(aws) => {
                let url: QueueUrl = self.vars.parsed(name)?;
                Queue::sqs(in_a_region(aws)?, url.as_str())
            }
            Services::Local(services) => (services.queue)(name),
        })
    }

    /// The bus named by `BUS_NAME`.
    pub fn bus(&self) -> Result<Bus, ConfigError> {
        Ok(match &self.services {
            Services::Aws(aws) => Bus::event_bridge(aws, &self.vars.required("BUS_NAME")?),
            Services::Local(services) => services.bus.clone(),
        })
    }

    /// The bucket named by `BUCKET_NAME`.
    pub fn blob(&self) -> Result<Blob, ConfigError> {
        if let Services::Local(services) = &self.services {
            return Ok(services.blob.clone());
        }
        let bucket: ResourceName = self.vars.parsed("BUCKET_NAME")?;
        Ok(Blob::bucket(bucket.as_str(), |name| self.vars.get(name)))
    }

    /// The authorizer in front of the routes, with these [`Platform::limits`] and the `PUBLIC_URL`
    /// that errors name for their help; accounts in the EU are served elsewhere if `EU_BASE_URL`
    /// says where, and the audit log has an entry for `AUDIT_DAYS`.
    pub fn gate(&self) -> Result<Authorizer, ConfigError> {
        let gate = Authorizer::new(self.store()?, self.clock(), self.limits()?);
        let public_url: Option<PublicUrl> = self.vars.optional("PUBLIC_URL")?;
        let eu = self.vars.optional::<PublicUrl>("EU_BASE_URL")?;
        let days = self.vars.or_default("AUDIT_DAYS", 365_u32)?;
        let gate = gate
            .with_eu_elsewhere(eu)
            .with_audit_log(i64::from(days) * 86_400);
        Ok(gate.with_public_url(public_url.as_ref().map(PublicUrl::as_str)))
    }

    /// Rate limits from `RATE_LIMIT`, `RATE_LIMIT_MAIL_SEND` (requests), `RATE_LIMIT_PERIOD`
    /// (seconds) and `RATE_LIMIT_ENDPOINTS` (see [`posthaste_http::Endpoints`]).
    pub fn limits(&self) -> Result<RateLimits, ConfigError> {
        if let Services::Local(services) = &self.services {
            return Ok(services.limits.clone());
        }
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

/// The configuration, which every call needs a region of.
fn in_a_region(aws: &SdkConfig) -> Result<&SdkConfig, ConfigError> {
    let region = aws.region().filter(|region| !region.as_ref().is_empty());
    let missing = || ConfigError::Missing("AWS_REGION".to_owned());
    region.map(|_| aws).ok_or_else(missing)
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

    /// Whether each part opens, of a platform with one variable as given and the others as they
    /// should be.
    fn opens(name: &'static str, value: &'static str) -> bool {
        let get = move |asked: &str| match asked {
            _ if asked == name => Some(value.to_owned()),
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "SEND_QUEUE_URL" => Some("https://sqs.us-east-1.amazonaws.com/1/send".to_owned()),
            _ => Some("posthaste".to_owned()),
        };
        let platform = Platform::function(Env::new(move |asked| {
            get(asked).filter(|_| asked != "DUE_SHARDS")
        }));
        let parts = [
            platform.store().map(drop),
            platform.queue("SEND_QUEUE_URL").map(drop),
            platform.blob().map(drop),
        ];
        let wrong: Vec<_> = parts.into_iter().filter_map(Result::err).collect();
        for error in &wrong {
            assert!(error.to_string().contains(name), "{error}");
        }
        wrong.is_empty()
    }

    #[tokio::test]
    async fn what_names_nothing_on_aws_stops_the_start() {
        for (name, value) in [
            ("TABLE_NAME", "mail_1.test-Table"),
            ("SEND_QUEUE_URL", "http://127.0.0.1:4566/000000000000/send"),
            ("BUCKET_NAME", "bodies.of-mails"),
        ] {
            assert!(opens(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("TABLE_NAME", "a b"),
            ("TABLE_NAME", "ab"),
            ("TABLE_NAME", ""),
            ("SEND_QUEUE_URL", "notaurl"),
            ("SEND_QUEUE_URL", "ftp://127.0.0.1/send"),
            ("SEND_QUEUE_URL", "https://"),
            ("SEND_QUEUE_URL", "https:///send"),
            ("SEND_QUEUE_URL", "https://sqs.example/1/se nd"),
            ("BUCKET_NAME", "bodies/of"),
            ("AWS_REGION", ""),
        ] {
            assert!(!opens(name, value), "{name}={value}");
        }
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
