//! Accepts mail for the bounce domain on the local host. In the cloud SES does.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use posthaste_queue::BounceMail;
use posthaste_runtime::WorkError;
use sha2::{Digest as _, Sha256};

use crate::App;

/// The role addresses of a domain (RFC 5321, section 4.5.1; RFC 2142, section 2), and the usual
/// address for complaint feedback.
const ROLES: [&str; 3] = ["postmaster", "abuse", "fbl"];

/// Those that take complaints.
const COMPLAINTS: [&str; 2] = ["abuse", "fbl"];

/// Whether mail to this address is accepted: `None` when it is not in the bounce domain, and
/// another component decides.
pub fn wants(app: &App, address: &str) -> Option<bool> {
    let local = app.local(address)?;
    let role = ROLES.iter().any(|role| role.eq_ignore_ascii_case(local));
    Some(role || crate::leave::is_meant(app, address) || app.copy(address).is_some())
}

/// Whether complaints are sent to this local part of the bounce domain.
pub(crate) fn is_for_complaints(local: &str) -> bool {
    COMPLAINTS
        .iter()
        .any(|role| role.eq_ignore_ascii_case(local))
}

/// Accepts a mail for addresses of the bounce domain. The mail is durable once this returns.
pub async fn accept(app: &App, from: &str, to: Vec<String>, raw: Bytes) -> Result<(), WorkError> {
    let name = posthaste_offload::run(raw.len(), || name(&to, &raw)).await;
    let job = BounceMail {
        v: 1,
        blob: format!("bounces/{name}"),
        from: from.to_owned(),
        to,
    };
    app.blob.put(&job.blob, raw).await?;
    Ok(app.feedback.send(job.to_text()?, Duration::ZERO).await?)
}

/// Includes the recipients: the same bytes may be sent to two addresses, and the blob is deleted
/// once the first is read.
fn name(to: &[String], raw: &[u8]) -> String {
    let mut hash = Sha256::new();
    for address in to {
        hash.update(address.as_bytes());
        // An address contains no NUL.
        hash.update([0]);
    }
    hash.update(raw);
    URL_SAFE_NO_PAD.encode(hash.finalize())
}
