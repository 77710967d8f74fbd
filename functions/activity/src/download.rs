//! `POST /v3/messages/download` and `GET /v3/messages/download/{download_uuid}`: the events of the
//! mails that match a query, as comma-separated values.
//!
//! A request stores its query for three days. The file is written when a link to it is opened, which
//! is signed, works for an hour, and needs no key: it is opened by a browser. Where SendGrid mails
//! that the file is ready, the answer here says so at once.
//!
//! A function answers with 6 MB at most, so a file has a limit; the `Link` header of one that reached
//! it leads to the next part.

mod file;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use posthaste_http::{
    AllowList, Caller, ClientIp, GatewayName, PathParams, Query as Parameters, Rejection,
};
use posthaste_model::{AccountId, DownloadId, Problem, Timestamp};
use posthaste_store::{Download, RateWindow};
use serde::Serialize;
use sha2::Sha256;

use crate::App;
use crate::look_up::check_searches;
use crate::query::{FieldSet, Query};
use crate::search::{INCOMPLETE, query_of};
use file::{CsvPart, write};

/// Where the file is. Not below `/v3`, where every path needs a key.
pub(crate) const FILE: &str = "/downloads/messages/{download_uuid}";

/// Seconds for which a request is stored (API facts, appendix A: "the link will expire in 3 days").
const LIFE: i64 = 3 * 86_400;

/// Seconds for which a link works.
const LINK_LIFE: i64 = 3_600;

/// How many downloads an account may request in half a day: each is a row of up to 9 KB.
const MOST: u32 = 100;

/// Seconds of the period that requests are counted in.
const PERIOD: i64 = 43_200;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Requested {
    /// The only status that the v3 API documents.
    status: &'static str,
    message: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileLink {
    presigned_url: String,
}

/// Stores a request.
pub(crate) async fn request(
    State(app): State<App>,
    caller: Caller,
    gateway: GatewayName,
    parameters: Parameters,
) -> Result<(StatusCode, [(HeaderName, String); 1], Json<Requested>), Rejection> {
    check_searches(&app)?;
    let query = parameters.checked(|parameters| {
        let _checked = query_of(parameters);
        parameters.text("query").unwrap_or_default().to_owned()
    })?;
    let base = base(&app, &gateway)?;
    let now = app.clock.now();
    count(&app, caller.id(), now).await?;
    let (id, until) = (app.entropy.download_id(), now.plus(LIFE));
    let download = Download {
        query,
        secret: URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>()),
        until,
    };
    app.store.put_download(caller.id(), &id, &download).await?;
    let path = format!("/v3/messages/download/{id}");
    let requested = Requested {
        status: "pending",
        message: format!(
            "The CSV can be downloaded until {}: GET {base}{path} answers with a link to it.",
            until.iso()
        ),
    };
    let location = [(header::LOCATION, path)];
    Ok((StatusCode::ACCEPTED, location, Json(requested)))
}

/// Counts a request of the account.
async fn count(app: &App, account: &AccountId, now: Timestamp) -> Result<(), Rejection> {
    let number = now.0.div_euclid(PERIOD);
    let end = Timestamp((number + 1) * PERIOD);
    let window = RateWindow {
        account,
        endpoint: "downloads of messages",
        number,
        end,
    };
    if app.store.lease(window, 1).await? > i64::from(MOST) {
        return Err(Rejection::too_many(MOST, end, now));
    }
    Ok(())
}

/// Answers with a link to the file.
pub(crate) async fn link(
    State(app): State<App>,
    caller: Caller,
    gateway: GatewayName,
    PathParams(id): PathParams<String>,
) -> Result<Json<FileLink>, Rejection> {
    let id = DownloadId::parse(&id).map_err(|_| gone())?;
    let download = app.store.download(caller.id(), &id).await?;
    let download = download.ok_or_else(gone)?;
    let link = PartLink {
        account: caller.id().clone(),
        id,
        until: app.clock.now().plus(LINK_LIFE).min(download.until),
        part: 1,
        after: String::new(),
    };
    Ok(Json(FileLink {
        presigned_url: link.url(&base(&app, &gateway)?, &download)?,
    }))
}

/// Writes the file, or the part of it that the link is about.
pub(crate) async fn open(
    State(app): State<App>,
    ClientIp(ip): ClientIp,
    gateway: GatewayName,
    PathParams(id): PathParams<String>,
    parameters: Parameters,
) -> Result<Response, Rejection> {
    let (link, signature) = PartLink::read(&id, &parameters).ok_or_else(gone)?;
    let download = app.store.download(&link.account, &link.id).await?;
    let download = download.ok_or_else(gone)?;
    let is_ours = link.mac(&download)?.verify_slice(&signature).is_ok();
    if !is_ours || link.until <= app.clock.now() {
        return Err(gone());
    }
    // The file is the account's data, which only these addresses may read.
    let entries = app.store.allowed_ips(&link.account).await?;
    if !AllowList::new(entries.into_iter().map(|entry| entry.net)).lets_in(ip) {
        return Err(Rejection::forbidden());
    }
    // A release may have changed the language.
    let query = Query::read(&download.query, FieldSet::Messages).map_err(|_| gone())?;
    let after = Some(link.after.clone()).filter(|after| !after.is_empty());
    let CsvPart { text, next } = write(&app, &link.account, &query, after).await?;
    let mut headers = HeaderMap::new();
    let is_whole = link.part == 1 && next.is_none();
    let name = if is_whole {
        "messages.csv".to_owned()
    } else {
        format!("messages-{}.csv", link.part)
    };
    let next = next.map(|after| {
        let part = link.part.saturating_add(1);
        let next = PartLink {
            part,
            after,
            ..link
        };
        let url = next.url(&base(&app, &gateway)?, &download)?;
        Ok::<_, Rejection>(format!("<{url}>; rel=\"next\""))
    });
    let values = [
        (
            header::CONTENT_TYPE,
            Some("text/csv; charset=utf-8".to_owned()),
        ),
        (
            header::CONTENT_DISPOSITION,
            Some(format!("attachment; filename=\"{name}\"")),
        ),
        (header::CACHE_CONTROL, Some("no-store".to_owned())),
        (header::X_CONTENT_TYPE_OPTIONS, Some("nosniff".to_owned())),
        (header::REFERRER_POLICY, Some("no-referrer".to_owned())),
        (INCOMPLETE, Some(next.is_some().to_string())),
        (header::LINK, next.transpose()?),
    ];
    for (name, value) in values {
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            headers.insert(name, value);
        }
    }
    Ok((headers, text).into_response())
}

/// What the v3 API answers about a download that does not exist, and one that has expired.
fn gone() -> Rejection {
    Rejection::unknown_id([Problem::on("", "download token is invalid or expired")])
}

/// The URL of this installation.
fn base(app: &App, gateway: &GatewayName) -> Result<String, Rejection> {
    let base = gateway.base(app.public_url.as_ref());
    base.ok_or_else(|| Rejection::internal(&"PUBLIC_URL is not set"))
}

/// What a link says.
struct PartLink {
    account: AccountId,
    id: DownloadId,
    until: Timestamp,
    /// The number of the part, from 1.
    part: u32,
    /// The place of the last mail of the part before; empty for the first.
    after: String,
}

impl PartLink {
    /// Reads what [`PartLink::url`] wrote, and the signature, which is not yet verified.
    fn read(id: &str, parameters: &Parameters) -> Option<(Self, Vec<u8>)> {
        let text = |name| parameters.text(name);
        let bytes = |name| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        let link = Self {
            account: AccountId::parse(text("account")?).ok()?,
            id: DownloadId::parse(id).ok()?,
            until: Timestamp(text("expires")?.parse().ok()?),
            part: text("part")?.parse().ok()?,
            after: String::from_utf8(bytes("after")?).ok()?,
        };
        Some((link, bytes("signature")?))
    }

    fn mac(&self, download: &Download) -> Result<Hmac<Sha256>, Rejection> {
        let Self {
            account,
            id,
            until,
            part,
            after,
        } = self;
        let signed = format!("{account}\n{id}\n{}\n{part}\n{after}", until.0);
        let secret = download.secret.as_bytes();
        let mac = Hmac::new_from_slice(secret).map_err(|e| Rejection::internal(&e))?;
        Ok(mac.chain_update(signed))
    }

    fn url(&self, base: &str, download: &Download) -> Result<String, Rejection> {
        let signature = self.mac(download)?.finalize().into_bytes();
        Ok(format!(
            "{base}{path}?account={account}&expires={until}&part={part}&after={after}&signature={signature}",
            path = FILE.replace("{download_uuid}", self.id.as_str()),
            account = self.account,
            until = self.until.0,
            part = self.part,
            after = URL_SAFE_NO_PAD.encode(&self.after),
            signature = URL_SAFE_NO_PAD.encode(signature),
        ))
    }
}
