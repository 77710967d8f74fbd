//! `/v3/verified_senders`: list, create, change, delete.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use posthaste_http::{
    Authorizer, Caller, GatewayName, JsonBody, PathParams, Query, Rejection, Takeover,
};
use posthaste_model::{AccountId, EmailAddress, Problems};
use posthaste_store::{Domain, Put, Resaved, SenderFields, VerifiedSender};

use crate::app::number;
use crate::links::VerificationMail;
use crate::wire::{Failures, Results, SenderBody, ShownSender, Steps};
use crate::{App, AppState};

/// A request that creates or changes a sender, by either of the two APIs.
pub(crate) struct SenderRequest {
    app: App,
    gate: Authorizer,
    caller: Caller,
    gateway: GatewayName,
    /// Whether the operator takes the address over as a verified one.
    is_vouched: bool,
}

impl FromRequestParts<AppState> for SenderRequest {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Rejection> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let Ok(gateway) = GatewayName::from_request_parts(parts, state).await;
        let Ok(takeover) = Takeover::from_request_parts(parts, state).await;
        Ok(Self {
            app: state.app.clone(),
            gate: state.gate.clone(),
            caller,
            gateway,
            is_vouched: takeover.is_vouched,
        })
    }
}

impl SenderRequest {
    /// Stores a sender and mails its owner a link; a sender in an authenticated domain needs none.
    pub(crate) async fn create(
        &self,
        fields: SenderFields,
        rules: &SenderRules,
    ) -> Result<VerifiedSender, Rejection> {
        let Self { app, caller, .. } = self;
        let email = check(&fields, None, rules)?;
        // Before the mail is counted: a repeated request after a lost response gets no second mail.
        let earlier = app.store.sender_of(caller.id(), &email.folded()).await?;
        if earlier.is_some() {
            return Err(exists(rules));
        }
        let verified = self.is_vouched || is_of_domain(app, caller.id(), &email).await?;
        let mail = if verified {
            None
        } else {
            Some(self.mail(&email).await?)
        };
        let now = app.clock.now();
        let sender = VerifiedSender {
            id: app.store.next_sender_id(caller.id()).await?,
            account: caller.id().clone(),
            folded: email.folded(),
            verified,
            token: None,
            created_at: now,
            updated_at: Some(now),
            fields,
        };
        let link = mail.as_ref().map(|mail| &mail.link);
        if app.store.create_sender(&sender, link).await? == Put::Taken {
            discard(app, mail).await;
            return Err(exists(rules));
        }
        if let Some(mail) = mail {
            mail.post(app).await?;
        }
        Ok(sender)
    }

    /// Changes a sender. Another address has to be verified anew.
    pub(crate) async fn update(
        &self,
        id: i64,
        rules: &SenderRules,
        edit: impl Fn(&mut SenderFields),
    ) -> Result<VerifiedSender, Rejection> {
        let Self { app, caller, .. } = self;
        let old = app.store.sender(caller.id(), id).await?;
        let old = old.ok_or_else(Rejection::not_found)?;
        let mut fields = old.fields.clone();
        edit(&mut fields);
        let email = check(&fields, Some(&old.fields), rules)?;
        let folded = email.folded();
        let moved = folded != old.folded;
        let other = app.store.sender_of(caller.id(), &folded).await?;
        if other.is_some_and(|other| other.id != id) {
            return Err(exists(rules));
        }
        let is_vouched = self.is_vouched;
        let verified = is_vouched || (moved && is_of_domain(app, caller.id(), &email).await?);
        let mail = if moved && !verified {
            Some(self.mail(&email).await?)
        } else {
            None
        };
        let now = app.clock.now();
        let change = |sender: &mut VerifiedSender| {
            edit(&mut sender.fields);
            sender.updated_at = Some(now);
            if sender.folded != folded {
                sender.folded.clone_from(&folded);
                sender.verified = verified;
                sender.token = None;
            }
            sender.verified |= is_vouched;
        };
        let link = mail.as_ref().map(|mail| &mail.link);
        let sender = match app
            .store
            .update_sender(caller.id(), id, link, change)
            .await?
        {
            Resaved::Done(sender) => *sender,
            Resaved::Missing => {
                discard(app, mail).await;
                return Err(Rejection::not_found());
            }
            Resaved::Taken => {
                discard(app, mail).await;
                return Err(exists(rules));
            }
        };
        if let Some(mail) = mail {
            mail.post(app).await?;
        }
        Ok(sender)
    }

    async fn mail(&self, to: &EmailAddress) -> Result<VerificationMail, Rejection> {
        let asks = (&self.caller, &self.gateway);
        VerificationMail::write(&self.app, &self.gate, asks, to, false).await
    }
}

/// `POST /v3/verified_senders`.
pub(crate) async fn create(
    request: SenderRequest,
    JsonBody(body): JsonBody<SenderBody>,
) -> Result<(StatusCode, Json<ShownSender>), Rejection> {
    let mut fields = SenderFields::default();
    body.over(&mut fields);
    let sender = request.create(fields, &RULES).await?;
    Ok((StatusCode::CREATED, Json(sender.into())))
}

/// `PATCH /v3/verified_senders/{id}`: changes what is given.
pub(crate) async fn update(
    request: SenderRequest,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<SenderBody>,
) -> Result<Json<ShownSender>, Rejection> {
    let edit = |fields: &mut SenderFields| body.over(fields);
    let sender = request.update(number(&id)?, &RULES, edit).await?;
    Ok(Json(sender.into()))
}

/// Nothing was stored, so no mail is sent.
async fn discard(app: &App, mail: Option<VerificationMail>) {
    if let Some(mail) = mail {
        mail.discard(app).await;
    }
}

fn exists(rules: &SenderRules) -> Rejection {
    Rejection::on(rules.from_email, "already exists")
}

/// Whether an authenticated domain of the account covers the address.
async fn is_of_domain(
    app: &App,
    account: &AccountId,
    email: &EmailAddress,
) -> Result<bool, Rejection> {
    let host = email.ascii_domain();
    let domain = app.store.valid_domain(account, &host).await?;
    Ok(domain.is_some())
}

/// What an API requires of a sender.
pub(crate) struct SenderRules {
    /// Its name of the address to send from.
    pub(crate) from_email: &'static str,
    /// Its name of the address for replies.
    pub(crate) reply_to: &'static str,
    pub(crate) fields: [FieldRule; 11],
}

/// A field of a sender, whether it is required, and the characters that it has at most.
pub(crate) type FieldRule = (SenderField, bool, usize);

/// A text of a sender, by its name in errors.
pub(crate) type SenderField = (&'static str, fn(&SenderFields) -> &String);

pub(crate) const NICKNAME: SenderField = ("nickname", |fields| &fields.nickname);
pub(crate) const ADDRESS: SenderField = ("address", |fields| &fields.address);
pub(crate) const CITY: SenderField = ("city", |fields| &fields.city);
pub(crate) const STATE: SenderField = ("state", |fields| &fields.state);
pub(crate) const ZIP: SenderField = ("zip", |fields| &fields.zip);
pub(crate) const COUNTRY: SenderField = ("country", |fields| &fields.country);

/// The rules of API facts, appendix A.
const RULES: SenderRules = SenderRules {
    from_email: "from_email",
    reply_to: "reply_to",
    fields: [
        (NICKNAME, true, 100),
        (("from_email", |fields| &fields.from_email), true, 256),
        (("from_name", |fields| &fields.from_name), false, 256),
        (("reply_to", |fields| &fields.reply_to), true, 256),
        (
            ("reply_to_name", |fields| &fields.reply_to_name),
            false,
            256,
        ),
        (ADDRESS, false, 100),
        (("address2", |fields| &fields.address2), false, 100),
        (STATE, false, 2),
        (CITY, false, 150),
        (ZIP, false, 10),
        (COUNTRY, false, 100),
    ],
};

/// The address to send from, unless a field breaks its rule. A field that stays as it was is not looked at: the two
/// APIs have different rules.
fn check(
    fields: &SenderFields,
    old: Option<&SenderFields>,
    rules: &SenderRules,
) -> Result<EmailAddress, Rejection> {
    let mut found = Problems::default();
    for ((name, value), required, most) in rules.fields {
        if old.is_some_and(|old| value(old) == value(fields)) {
            continue;
        }
        let value = value(fields);
        if required && value.trim().is_empty() {
            found.add(name, format!("{name} is required"));
        } else if value.chars().count() > most {
            found.add(name, format!("{name} must be at most {most} characters"));
        }
    }
    for (name, value) in [
        (rules.from_email, &fields.from_email),
        (rules.reply_to, &fields.reply_to),
    ] {
        let wrong = !value.trim().is_empty() && EmailAddress::parse(value).is_err();
        found.unless(!wrong, name, "must be a valid email address");
    }
    match EmailAddress::parse(&fields.from_email) {
        Ok(email) if found.is_empty() => Ok(email),
        Ok(_) | Err(_) => Err(found.into()),
    }
}

/// All senders, oldest first; `lastSeenID` starts after one, `id` picks one.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Results<Vec<ShownSender>>>, Rejection> {
    let (limit, last_seen, only) = query.checked(|query| {
        let limit = query.limit(500, 500);
        let mut id = |name| {
            let number = query.number(name);
            number.map(|n| i64::try_from(n).unwrap_or(i64::MAX))
        };
        (limit, id("lastSeenID").unwrap_or(0), id("id"))
    })?;
    let all = app.store.senders(caller.id()).await?.into_iter();
    let wanted = all.filter(|s| s.id > last_seen && only.is_none_or(|id| s.id == id));
    Ok(Json(Results {
        results: wanted.take(limit).map(ShownSender::from).collect(),
    }))
}

pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    if !app.store.delete_sender(caller.id(), number(&id)?).await? {
        return Err(Rejection::not_found());
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Mailbox services whose DMARC policy rejects or quarantines mail that others send in their name.
pub(crate) async fn domains() -> Json<Results<Failures>> {
    Json(Results {
        results: Failures {
            soft_failures: vec![
                "gmail.com",
                "hotmail.com",
                "icloud.com",
                "live.com",
                "outlook.com",
            ],
            hard_failures: vec!["aol.com", "yahoo.com"],
        },
    })
}

/// Whether the account has any way to send yet.
pub(crate) async fn steps_completed(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Results<Steps>>, Rejection> {
    let senders = app.store.senders(caller.id()).await?;
    let mut domains = app.store.domains(caller.id()).await?;
    domains.extend(app.store.borrowed_domains(caller.id()).await?);
    Ok(Json(Results {
        results: Steps {
            sender_verified: senders.iter().any(|sender| sender.verified),
            domain_verified: domains.iter().any(Domain::is_valid),
        },
    }))
}
