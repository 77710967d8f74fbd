//! Stage 3: what only the account can tell. One rule, one call; the first that fails answers.

use posthaste_http::{Caller, Rejection};
use posthaste_model::Mail;

use crate::App;

/// Checks sender identity, template, groups and batch against the account.
pub(crate) async fn check(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    crate::senders::check(app, caller, mail).await?;
    crate::template::check(app, caller, mail).await?;
    if let Some(batch) = &mail.batch_id {
        let now = app.clock.now();
        if !app.store.batch_exists(caller.id(), batch, now).await? {
            return Err(Rejection::on(
                "batch_id",
                "The batch_id must be a valid batch id for your account.",
            ));
        }
    }
    Ok(())
}
