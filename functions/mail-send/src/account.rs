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
    groups(app, caller, mail).await
}

/// The group of the mail and those it shows must be the account's own (API facts 2.3). That a
/// group is written to is noted once a day, for it must not be deleted while people can leave it.
async fn groups(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    let Some(asm) = &mail.asm else { return Ok(()) };
    let mut wanted = asm.groups_to_display.clone();
    wanted.push(asm.group_id);
    let known = app.store.known_groups(caller.id(), &wanted).await?;
    let is_known = |id: &i64| known.iter().any(|group| group.id == *id);
    if !is_known(&asm.group_id) {
        let message = format!(
            "The ASM group ID must be a valid Group ID on your account. You provided [{}].",
            asm.group_id
        );
        return Err(Rejection::on("asm.group_id", message));
    }
    let shown = &asm.groups_to_display;
    let unknown: Vec<String> = shown
        .iter()
        .filter(|id| !is_known(id))
        .map(i64::to_string)
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "All ASM groups to display must be valid ASM groups IDs on your account. You provided {}.",
            unknown.join(", ")
        );
        return Err(Rejection::on("asm.groups_to_display", message));
    }
    let now = app.clock.now();
    let own = known.iter().find(|group| group.id == asm.group_id);
    if own.is_some_and(|group| !group.is_noted(now)) {
        app.store
            .note_group_mailed(caller.id(), asm.group_id, now)
            .await?;
    }
    Ok(())
}
