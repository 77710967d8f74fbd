//! A function as it was opened, which is opened anew when a secret that it was opened with has changed.

use std::sync::Arc;

use lambda_runtime::Error;
use tokio::sync::Mutex;

use crate::Platform;
use crate::held::HeldVariables;

/// What a function was opened as, which is opened anew when a secret has changed.
pub(crate) struct Opened<A, B> {
    build: B,
    current: Mutex<OpenedApp<A>>,
}

struct OpenedApp<A> {
    held: HeldVariables,
    app: A,
}

impl<A, B> Opened<A, B>
where
    A: Clone,
    B: Fn(&Platform) -> Result<A, Error>,
{
    /// Reads the secrets that the variables name, and opens the function.
    pub(crate) async fn open(held: HeldVariables, build: B) -> Result<Self, Error> {
        let app = build(&Platform::function(held.env()))?;
        let current = Mutex::new(OpenedApp { held, app });
        Ok(Self { build, current })
    }

    /// The function for the next event. One that cannot be opened with the new values goes on with those of before.
    pub(crate) async fn app(&self) -> A {
        let mut current = self.current.lock().await;
        if let Some(values) = current.held.changed().await {
            let values = Arc::new(values);
            match (self.build)(&Platform::function(current.held.with(&values))) {
                Ok(app) => {
                    current.app = app;
                    current.held.take_over(values);
                    tracing::info!("a secret has changed: the function was opened anew");
                }
                Err(error) => {
                    tracing::error!(%error, "a secret has changed to what cannot be used, and the one before is used: {error}");
                }
            }
        }
        current.app.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::FRESH_FOR;
    use crate::held::tests::Setup;

    /// A function that is the relay that it was opened with; `bad` opens none.
    fn relay_of(platform: &Platform) -> Result<String, Error> {
        let relay = platform.env().required("DELIVERY")?;
        if relay == "bad" {
            return Err("a bad relay".into());
        }
        Ok(relay)
    }

    #[tokio::test(start_paused = true)]
    async fn a_secret_that_changed_opens_the_function_anew_within_five_minutes() {
        let setup = Setup::new(&[("DELIVERY_ARN", "relay")]);
        setup.put("relay", "one").await;
        let opened = Opened::open(setup.read().await.unwrap(), relay_of);
        let opened = opened.await.unwrap();
        setup.put("relay", "two").await;
        setup.pass(FRESH_FOR - 1);
        assert_eq!(opened.app().await, "one");
        setup.pass(1);
        assert_eq!(opened.app().await, "two");
        setup.put("relay", "bad").await;
        setup.pass(FRESH_FOR);
        assert_eq!(opened.app().await, "two");
        setup.put("relay", "three").await;
        setup.pass(FRESH_FOR);
        assert_eq!(opened.app().await, "three");
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_is_read_once() {
        let setup = Setup::new(&[("DELIVERY_ARN", "relay"), ("DELIVERY_VERSION", "v1")]);
        setup.put("relay", "one").await;
        let opened = Opened::open(setup.read().await.unwrap(), relay_of);
        let opened = opened.await.unwrap();
        // In memory a secret has one version; what matters is that it is not read.
        setup.put("relay", "two").await;
        setup.pass(10 * FRESH_FOR);
        assert_eq!(opened.app().await, "one");
    }
}
