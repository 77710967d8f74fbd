//! `/v3/senders`: the older API over the same senders, with its own names of fields.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Caller, JsonBody, PathParams, Rejection, Routes};
use posthaste_model::Timestamp;
use posthaste_store::{SenderFields, VerifiedSender};
use serde::{Deserialize, Serialize};

use crate::app::number;
use crate::senders::{ADDRESS, CITY, COUNTRY, NICKNAME, STATE, SenderRequest, SenderRules, ZIP};
use crate::{App, AppState, CREATE, DELETE, READ, UPDATE, links, senders};

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/senders";
    const ONE: &str = "/v3/senders/{sender_id}";
    const RESEND: &str = "/v3/senders/{sender_id}/resend_verification";
    routes
        .at(Method::POST, ALL, CREATE, create)
        .at(Method::GET, ALL, READ, list)
        .at(Method::GET, ONE, READ, one)
        .at(Method::PATCH, ONE, UPDATE, update)
        .at(Method::DELETE, ONE, DELETE, senders::delete)
        .at(Method::POST, RESEND, CREATE, links::resend)
}

/// What the older API requires, by its own names of fields; its `state` is a name (`Colorado`).
const RULES: SenderRules = SenderRules {
    from_email: "from.email",
    reply_to: "reply_to.email",
    fields: [
        (NICKNAME, true, 100),
        (("from.email", |fields| &fields.from_email), true, 256),
        (("from.name", |fields| &fields.from_name), false, 256),
        (("reply_to.email", |fields| &fields.reply_to), false, 256),
        (
            ("reply_to.name", |fields| &fields.reply_to_name),
            false,
            256,
        ),
        (ADDRESS, true, 100),
        (("address_2", |fields| &fields.address2), false, 100),
        (STATE, false, 100),
        (CITY, true, 150),
        (ZIP, false, 10),
        (COUNTRY, true, 100),
    ],
};

/// What is said about a sender: all of it to create one, parts to change one.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OlderSenderBody {
    nickname: Option<String>,
    from: Option<GivenMailbox>,
    reply_to: Option<GivenMailbox>,
    address: Option<String>,
    address_2: Option<String>,
    city: Option<String>,
    state: Option<String>,
    zip: Option<String>,
    country: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GivenMailbox {
    email: Option<String>,
    name: Option<String>,
}

impl OlderSenderBody {
    /// Writes what is given over what was there.
    fn over(&self, fields: &mut SenderFields) {
        let none = GivenMailbox::default();
        let from = self.from.as_ref().unwrap_or(&none);
        let reply_to = self.reply_to.as_ref().unwrap_or(&none);
        for (given, stored) in [
            (&self.nickname, &mut fields.nickname),
            (&from.email, &mut fields.from_email),
            (&from.name, &mut fields.from_name),
            (&reply_to.email, &mut fields.reply_to),
            (&reply_to.name, &mut fields.reply_to_name),
            (&self.address, &mut fields.address),
            (&self.address_2, &mut fields.address2),
            (&self.city, &mut fields.city),
            (&self.state, &mut fields.state),
            (&self.zip, &mut fields.zip),
            (&self.country, &mut fields.country),
        ] {
            if let Some(given) = given {
                stored.clone_from(given);
            }
        }
    }
}

/// A sender as the older API shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OlderSender {
    id: i64,
    nickname: String,
    from: ShownMailbox,
    reply_to: ShownMailbox,
    address: String,
    address_2: String,
    city: String,
    state: String,
    zip: String,
    country: String,
    verified: bool,
    #[cfg_attr(test, schemars(with = "i64"))]
    updated_at: Timestamp,
    #[cfg_attr(test, schemars(with = "i64"))]
    created_at: Timestamp,
    /// Whether a campaign uses it: there are none.
    locked: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownMailbox {
    email: String,
    name: String,
}

impl From<VerifiedSender> for OlderSender {
    fn from(sender: VerifiedSender) -> Self {
        let fields = sender.fields;
        Self {
            id: sender.id,
            nickname: fields.nickname,
            from: ShownMailbox {
                email: fields.from_email,
                name: fields.from_name,
            },
            reply_to: ShownMailbox {
                email: fields.reply_to,
                name: fields.reply_to_name,
            },
            address: fields.address,
            address_2: fields.address2,
            city: fields.city,
            state: fields.state,
            zip: fields.zip,
            country: fields.country,
            verified: sender.verified,
            updated_at: sender.updated_at.unwrap_or(sender.created_at),
            created_at: sender.created_at,
            locked: false,
        }
    }
}

/// All senders, oldest first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OlderSenderList {
    result: Vec<OlderSender>,
}

async fn create(
    request: SenderRequest,
    JsonBody(body): JsonBody<OlderSenderBody>,
) -> Result<(StatusCode, Json<OlderSender>), Rejection> {
    let mut fields = SenderFields::default();
    body.over(&mut fields);
    let sender = request.create(fields, &RULES).await?;
    Ok((StatusCode::CREATED, Json(sender.into())))
}

async fn list(State(app): State<App>, caller: Caller) -> Result<Json<OlderSenderList>, Rejection> {
    let all = app.store.senders(caller.id()).await?;
    let result = all.into_iter().map(OlderSender::from).collect();
    Ok(Json(OlderSenderList { result }))
}

async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<OlderSender>, Rejection> {
    let sender = app.store.sender(caller.id(), number(&id)?).await?;
    let sender = sender.ok_or_else(Rejection::not_found)?;
    Ok(Json(sender.into()))
}

/// Changes what is given. Another address has to be verified anew.
async fn update(
    request: SenderRequest,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<OlderSenderBody>,
) -> Result<Json<OlderSender>, Rejection> {
    let edit = |fields: &mut SenderFields| body.over(fields);
    let sender = request.update(number(&id)?, &RULES, edit).await?;
    Ok(Json(sender.into()))
}
