//! A stand-in for SES that enforces the sending quota of an account.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use posthaste_mailer::{Mailer, Ses};
use posthaste_model::Clock;
use posthaste_testkit::relay::{Relay, Script};
use posthaste_testkit::{FaultProxy, TestClock, aws_stand_in};
use serde_json::json;

use crate::lists;
use crate::signing::TestApp;
use crate::simulation::Simulation;

/// An account of SES.
pub(crate) struct SesBooks {
    pub(crate) per_second: u32,
    pub(crate) per_day: u32,
    /// Mails in the current second, and which that is.
    pub(crate) second: (i64, u32),
    pub(crate) sent: u32,
    pub(crate) refused: u32,
    /// Calls of `GetAccount`.
    pub(crate) asked: u32,
    /// Whether these are refused for their rate.
    pub(crate) refuses_to_say: bool,
    /// Whether sending is paused for the account.
    pub(crate) is_paused: bool,
    /// Mails that are refused whatever the rate.
    pub(crate) refuses: u32,
    /// One in so many is refused too; 0: none.
    pub(crate) refuses_one_in: u32,
}

#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) account: Arc<Mutex<SesBooks>>,
    pub(crate) clock: Clock,
}

impl StandIn {
    pub(crate) async fn start(hand: &TestClock, per_second: u32, per_day: u32) -> (Self, Mailer) {
        let account = SesBooks {
            per_second,
            per_day,
            second: (0, 0),
            sent: 0,
            refused: 0,
            asked: 0,
            refuses_to_say: false,
            is_paused: false,
            refuses: 0,
            refuses_one_in: 0,
        };
        let own = Self {
            account: Arc::new(Mutex::new(account)),
            clock: hand.clock(),
        };
        let (reading, sending) = (own.clone(), own.clone());
        let router = Router::new()
            .route(
                "/v2/email/account",
                get(move || {
                    let ses = reading.clone();
                    async move { ses.quota() }
                }),
            )
            .route(
                "/v2/email/outbound-emails",
                post(move || {
                    let ses = sending.clone();
                    async move { ses.take() }
                }),
            );
        let aws = aws_stand_in(router).await;
        (own, Mailer::Ses(Ses::new(&aws, None)))
    }

    pub(crate) fn account<T>(&self, look: impl FnOnce(&mut SesBooks) -> T) -> T {
        look(&mut self.account.lock().unwrap())
    }

    pub(crate) fn quota(&self) -> Response {
        let quota = self.account(|account| {
            account.asked += 1;
            let quota = json!({
                "ProductionAccessEnabled": true,
                "SendingEnabled": !account.is_paused,
                "EnforcementStatus": "HEALTHY",
                "SendQuota": {
                    "Max24HourSend": account.per_day,
                    "MaxSendRate": account.per_second,
                    "SentLast24Hours": account.sent,
                },
            });
            (!account.refuses_to_say).then_some(quota)
        });
        quota.map_or_else(
            || refusal("TooManyRequestsException", "Rate exceeded"),
            |quota| Json(quota).into_response(),
        )
    }

    pub(crate) fn take(&self) -> Response {
        if self.account(|account| account.is_paused) {
            return refusal("SendingPausedException", "paused");
        }
        let second = self.clock.now().0;
        let refused = self.account(|account| {
            if account.second.0 != second {
                account.second = (second, 0);
            }
            let one_in = account.refuses_one_in;
            let calls = account.sent + account.refused + 1;
            let refused = if account.sent >= account.per_day {
                Some("Daily message quota exceeded")
            } else if one_in > 0 && calls.is_multiple_of(one_in) {
                Some("Maximum sending rate exceeded.")
            } else if account.refuses > 0 || account.second.1 >= account.per_second {
                account.refuses = account.refuses.saturating_sub(1);
                Some("Maximum sending rate exceeded.")
            } else {
                None
            };
            match refused {
                Some(_) => account.refused += 1,
                None => {
                    account.sent += 1;
                    account.second.1 += 1;
                }
            }
            refused
        });
        match refused {
            None => Json(json!({"MessageId": "0100-abc"})).into_response(),
            Some(text) => refusal("TooManyRequestsException", text),
        }
    }
}

/// SES's refusal of a call. The client repeats some at once, rather than after seconds.
pub(crate) fn refusal(name: &'static str, text: &str) -> Response {
    let headers = [("x-amzn-errortype", name), ("x-amz-retry-after", "1")];
    let body = json!({"message": text}).to_string();
    (StatusCode::TOO_MANY_REQUESTS, headers, body).into_response()
}

pub(crate) async fn on_ses(per_second: u32, per_day: u32) -> (Simulation, StandIn, TestApp) {
    let (relay, table) = (Relay::start(Script::new()).await, FaultProxy::default());
    let services = lists::services_on(table.table().await, &relay);
    let (ses, mailer) = StandIn::start(&services.clock, per_second, per_day).await;
    let services = services.part(mailer);
    let app = TestApp::on(services.clone(), relay).await;
    let mut world = Simulation::new(services, table);
    world.sweeps = 3_600_000;
    (world, ses, app)
}
