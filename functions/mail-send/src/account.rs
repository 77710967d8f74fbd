//! Stage 3: the checks that depend on the account.

use posthaste_http::{Caller, Rejection};
use posthaste_model::{Mail, Problems};

use crate::App;

/// Checks sender identity, template, batch and groups against the account. A sender that is not the
/// account's is rejected alone, with its own status; all other problems are reported at once.
pub(crate) async fn check(app: &App, caller: &Caller, mail: &Mail) -> Result<(), Rejection> {
    crate::senders::check(app, caller, mail).await?;
    let mut found = Problems::default();
    crate::template::check(app, caller, mail, &mut found).await?;
    batch(app, caller, mail, &mut found).await?;
    let noted = groups(app, caller, mail, &mut found).await?;
    found.into_result()?;
    if !crate::template::fits(app, caller, mail).await? {
        return Err(posthaste_http::too_large());
    }
    if let Some(id) = noted {
        let now = app.clock.now();
        app.store.note_group_mailed(caller.id(), id, now).await?;
    }
    Ok(())
}

async fn batch(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<(), Rejection> {
    let Some(batch) = &mail.batch_id else {
        return Ok(());
    };
    let now = app.clock.now();
    let known = app.store.batch_exists(caller.id(), batch, now).await?;
    let message = "The batch_id must be a valid batch id for your account.";
    found.unless(known, "batch_id", message);
    Ok(())
}

/// The group of the mail and those it displays must be the account's own (API facts 2.3). Use of a
/// group is recorded once a day, since a group in use must not be deleted: returns the group that
/// is still to be recorded.
async fn groups(
    app: &App,
    caller: &Caller,
    mail: &Mail,
    found: &mut Problems,
) -> Result<Option<i64>, Rejection> {
    let Some(asm) = &mail.asm else {
        return Ok(None);
    };
    let mut wanted = asm.groups_to_display.clone();
    wanted.push(asm.group_id);
    let known = app.store.known_groups(caller.id(), &wanted).await?;
    let is_known = |id: &i64| known.iter().any(|group| group.id == *id);
    if !is_known(&asm.group_id) {
        let message = format!(
            "The ASM group ID must be a valid Group ID on your account. You provided [{}].",
            asm.group_id
        );
        found.add("asm.group_id", message);
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
        found.add("asm.groups_to_display", message);
    }
    let now = app.clock.now();
    let own = known.iter().find(|group| group.id == asm.group_id);
    Ok(own
        .filter(|group| !group.is_noted(now))
        .map(|group| group.id))
}
