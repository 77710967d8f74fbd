//! Variables whose values are in Secrets Manager, so that a function's configuration does not show them: read at the
//! start, and again while the function runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use posthaste_model::{Clock, Millis};
use posthaste_secrets::Secrets;

use crate::{ConfigError, Env};

/// Variables that a secret may hold. `NAME_ARN` names the secret of a variable that is not set itself, and
/// `NAME_VERSION` one version of it in place of the current one.
const HELD: [&str; 3] = ["STACK_SECRET", "DELIVERY", "SPAM_FILTER"];

/// Milliseconds after which a secret is read again.
pub(crate) const FRESH_FOR: i64 = 300_000;

/// The same after an attempt that failed.
const TRY_AGAIN_AFTER: i64 = 60_000;

/// How long an event waits for that. At the start there is nothing to fall back on.
const PATIENCE: Duration = Duration::from_secs(2);

/// Pauses between attempts at the start: a role that was made or changed a moment ago may be refused for some
/// seconds, and Lambda allows a start ten of them.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

pub(crate) type HeldValues = BTreeMap<&'static str, String>;

/// The variables of a process, and those of them that secrets hold.
pub(crate) struct HeldVariables {
    plain: Env,
    secrets: Secrets,
    named: Vec<NamedSecret>,
    values: Arc<HeldValues>,
    clock: Clock,
    read_again: Millis,
}

struct NamedSecret {
    variable: &'static str,
    arn: String,
    version: Option<String>,
}

impl HeldVariables {
    /// Reads what secrets hold. Calls nothing if these variables name none.
    pub(crate) async fn read(
        plain: Env,
        secrets: Secrets,
        clock: Clock,
    ) -> Result<Self, ConfigError> {
        let named = HELD.into_iter().filter(|name| plain.get(name).is_none());
        let named = named.filter_map(|variable| {
            Some(NamedSecret {
                variable,
                arn: plain.get(&format!("{variable}_ARN"))?,
                version: plain.get(&format!("{variable}_VERSION")),
            })
        });
        let named = named.collect();
        let mut held = Self {
            plain,
            secrets,
            named,
            values: Arc::default(),
            read_again: clock.now_ms(),
            clock,
        };
        let mut pauses = PAUSES.into_iter();
        let values = loop {
            match (held.values_now().await, pauses.next()) {
                (Ok(values), _) => break values,
                (Err(error), None) => return Err(error),
                (Err(error), Some(pause)) => {
                    tracing::warn!(%error, "a secret is tried again: {error}");
                    tokio::time::sleep(pause).await;
                }
            }
        };
        held.accept(values);
        Ok(held)
    }

    /// The variables, with what the secrets held when they were read last.
    pub(crate) fn env(&self) -> Env {
        self.with(&self.values)
    }

    /// The same with these values.
    pub(crate) fn with(&self, values: &Arc<HeldValues>) -> Env {
        let (plain, values) = (self.plain.clone(), Arc::clone(values));
        Env::new(move |name| values.get(name).cloned().or_else(|| plain.get(name)))
    }

    async fn values_now(&self) -> Result<HeldValues, ConfigError> {
        let mut values = HeldValues::new();
        for secret in &self.named {
            let read = self
                .secrets
                .read(&secret.arn, secret.version.as_deref())
                .await;
            let why = match read {
                Ok(Some(value)) => {
                    values.insert(secret.variable, complete(secret.variable, value));
                    continue;
                }
                Ok(None) => "the secret has no value".to_owned(),
                Err(error) => error.to_string(),
            };
            let name = format!("{}_ARN", secret.variable);
            return Err(ConfigError::Unreadable(name, why));
        }
        Ok(values)
    }

    fn accept(&mut self, values: HeldValues) {
        self.take_over(Arc::new(values));
        self.read_again = Millis(self.clock.now_ms().0.saturating_add(FRESH_FOR));
    }

    /// Goes on with these values.
    pub(crate) fn take_over(&mut self, values: Arc<HeldValues>) {
        self.values = values;
    }

    /// What the secrets hold now, if one of them has changed. A version never does.
    pub(crate) async fn changed(&mut self) -> Option<HeldValues> {
        let is_pinned = |secret: &NamedSecret| secret.version.is_some();
        if self.named.iter().all(is_pinned) || self.clock.now_ms() < self.read_again {
            return None;
        }
        let now = self.clock.now_ms().0;
        let read = tokio::time::timeout(PATIENCE, self.values_now()).await;
        let (wait, values) = match read {
            Ok(Ok(values)) => (FRESH_FOR, Some(values)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the secrets read before are used: {error}");
                (TRY_AGAIN_AFTER, None)
            }
            Err(_) => {
                tracing::warn!("the secrets read before are used: no answer from Secrets Manager");
                (TRY_AGAIN_AFTER, None)
            }
        };
        self.read_again = Millis(now.saturating_add(wait));
        values.filter(|values| *values != *self.values)
    }
}

/// The stack's own secret is one key without a number: the template makes it of letters and digits. It is the ring's
/// key 1.
fn complete(variable: &str, value: String) -> String {
    if variable == "STACK_SECRET" && !value.contains(':') {
        return format!("1:{value}");
    }
    value
}

#[cfg(test)]
pub(crate) mod tests {
    use posthaste_secrets::SecretWrite;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// Secrets in memory, a clock that moves, and variables that name a ring and a relay.
    pub(crate) struct Setup {
        secrets: Secrets,
        clock: Arc<AtomicI64>,
        vars: Env,
    }

    impl Setup {
        pub(crate) fn new(set: &'static [(&str, &str)]) -> Self {
            let get = move |name: &str| set.iter().find(|(known, _)| *known == name);
            Self {
                secrets: Secrets::in_memory(),
                clock: Arc::default(),
                vars: Env::new(move |name| get(name).map(|(_, text)| (*text).to_owned())),
            }
        }

        pub(crate) async fn put(&self, id: &str, value: &str) {
            let written = self.secrets.write(id, value, value).await;
            assert_eq!(written, Ok(SecretWrite::Done));
        }

        pub(crate) async fn read(&self) -> Result<HeldVariables, ConfigError> {
            let clock = Arc::clone(&self.clock);
            let clock = Clock::new(move || Millis(clock.load(Ordering::Relaxed)));
            HeldVariables::read(self.vars.clone(), self.secrets.clone(), clock).await
        }

        pub(crate) fn pass(&self, ms: i64) {
            self.clock.fetch_add(ms, Ordering::Relaxed);
        }
    }

    const NAMED: &[(&str, &str)] = &[
        ("STACK_SECRET_ARN", "ring"),
        ("DELIVERY_ARN", "relay"),
        ("TABLE_NAME", "table"),
    ];

    #[tokio::test(start_paused = true)]
    async fn variables_come_from_the_secrets_that_are_named() {
        let setup = Setup::new(NAMED);
        setup.put("ring", "Ab3d").await;
        setup.put("relay", "smtp://u:p@relay.example").await;
        let env = setup.read().await.unwrap().env();
        assert_eq!(env.get("STACK_SECRET").as_deref(), Some("1:Ab3d"));
        let relay = env.get("DELIVERY");
        assert_eq!(relay.as_deref(), Some("smtp://u:p@relay.example"));
        assert_eq!(env.get("TABLE_NAME").as_deref(), Some("table"));
        assert_eq!(env.get("SPAM_FILTER"), None);

        setup.put("ring", "2:New,1:Ab3d").await;
        let env = setup.read().await.unwrap().env();
        assert_eq!(env.get("STACK_SECRET").as_deref(), Some("2:New,1:Ab3d"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_variable_that_is_set_itself_needs_no_secret() {
        let setup = Setup::new(&[
            ("STACK_SECRET", "1:Mine"),
            ("STACK_SECRET_ARN", "is not there"),
        ]);
        let env = setup.read().await.unwrap().env();
        assert_eq!(env.get("STACK_SECRET").as_deref(), Some("1:Mine"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_secret_that_cannot_be_read_stops_the_start_and_its_value_is_in_no_error() {
        let setup = Setup::new(NAMED);
        setup.put("ring", "Ab3d").await;
        let error = setup.read().await.err().unwrap().to_string();
        assert!(
            error.contains("DELIVERY_ARN") && !error.contains("Ab3d"),
            "{error}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_waits_for_what_can_be_read_a_moment_later() {
        let setup = Setup::new(&[("DELIVERY_ARN", "relay")]);
        let later = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            setup.put("relay", "ses").await;
        };
        let (held, ()) = tokio::join!(setup.read(), later);
        assert_eq!(held.unwrap().env().get("DELIVERY").as_deref(), Some("ses"));
    }
}
