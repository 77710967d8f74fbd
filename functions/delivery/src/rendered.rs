//! Renders a copy.

use posthaste_model::{DropReason, RecipientCopy};
use posthaste_render::{Compiled, Input, MAX_OUTPUT, Rendered};

use crate::App;
use crate::again;
use crate::context::JobContext;
use crate::cost::{Room, carried_size, rendered_size, texts_size};

/// Renders the copy once there is memory for it, which `room` holds until the copy is handed over.
pub(crate) async fn render_in_room(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
    room: &mut Option<Room>,
) -> Result<Rendered, DropReason> {
    let carried = carried_size(context.mail);
    let size = rendered_size(context, copy, template);
    let held = room.insert(app.memory.room(size.min(MAX_OUTPUT) + carried).await);
    let rendering = || render(app, context, copy, template);
    let rendered = posthaste_offload::run(size, rendering).await;
    held.shrink(rendered.as_ref().map_or(0, texts_size) + carried);
    rendered
}

fn render(
    app: &App,
    context: JobContext<'_>,
    copy: RecipientCopy<'_>,
    template: Option<&Compiled>,
) -> Result<Rendered, DropReason> {
    let mailbox = app.identity.leave_mailbox();
    // Where nothing is tracked there is none.
    let base = context.links.base(context.mail, copy);
    let links = base
        .as_ref()
        .map(|base| app.links(context.job, base, mailbox.as_deref()));
    let before = again::before(context.mail);
    let input = Input {
        mail: context.mail,
        copy,
        template,
        settings: context.effective,
        // A mail that is sent again has its links, and its offers to unsubscribe.
        links: links.filter(|_| before.is_none()),
    };
    let rendered = posthaste_render::render(&input);
    let mut rendered = rendered.map_err(|e| DropReason::Unsendable(e.to_string()))?;
    if let (Some(before), Some(links)) = (before, links) {
        again::relink_texts(&mut rendered, before, &links, copy.recipient);
    }
    Ok(rendered)
}
