//! When keys and sessions were last used. It is noted beside the request, rarely, and no failure of it fails one.

use std::net::IpAddr;

use posthaste_store::{ApiKey, ConsoleSession};

use super::Authorizer;
use crate::auth_cache::Credentials;

impl Authorizer {
    /// Notes that these credentials were used: a session, and the key that was presented or that the session
    /// stands for.
    pub(super) async fn note_use(&self, held: &Credentials, ip: Option<IpAddr>) {
        match &held.session {
            None => self.touch_key(&held.key).await,
            Some(session) => {
                self.touch_session(session, ip).await;
                if session.key.is_some() {
                    self.touch_key(&held.key).await;
                }
            }
        }
    }

    async fn touch_session(&self, session: &ConsoleSession, ip: Option<IpAddr>) {
        let now = self.state.clock.now();
        match self.state.store.touch_session(session, ip, now).await {
            Ok(None) => {}
            Ok(Some(_)) => self.forget_session(&session.id),
            Err(error) => {
                tracing::warn!(%error, "use of session {} was not noted: {error}", session.id);
            }
        }
    }

    async fn touch_key(&self, key: &ApiKey) {
        let (store, touched) = (&self.state.store, &self.state.touched);
        // Requests at the same time, those after a failure, and those that still see the key as it was cached before, do
        // not each try it.
        let now = self.state.clock.now_ms();
        if !key.is_use_due(now.seconds()) || touched.get(&key.id, now).is_some() {
            return;
        }
        touched.put(key.id.clone(), (), now);
        if let Err(error) = store.touch_key(key, now.seconds()).await {
            tracing::warn!(%error, "use of key {} was not noted: {error}", key.id);
        }
    }
}
