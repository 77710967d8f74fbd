//! The leaves of a MIME tree, numbered as Mailpit numbers them.

use posthaste_mime::read::{Disposition, MailPart, ParsedMail};

/// The role of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A file attachment.
    Attachment,
    /// A picture or the like that the HTML shows.
    Inline,
    /// A further form of the body (AMP, calendar).
    Alternative,
}

/// A part that has no parts of its own.
pub(crate) struct Leaf<'m, 'a> {
    /// `0` for a mail of one part, else `1`, `2`, `2.1` …
    pub id: String,
    pub role: Role,
    pub part: &'m MailPart<'a>,
}

impl Leaf<'_, '_> {
    /// The file name in the mail, else the content id; may be empty, and may hold anything.
    pub(crate) fn name(&self) -> &str {
        let name = self.part.filename.as_deref();
        name.unwrap_or_else(|| self.content_id())
    }

    /// The content id without angle brackets; empty when there is none.
    pub(crate) fn content_id(&self) -> &str {
        self.part.content_id.as_deref().unwrap_or_default()
    }
}

/// Every leaf beside the body, in the order of the mail.
pub(crate) fn files<'m, 'a>(mail: &'m ParsedMail<'a>) -> Vec<Leaf<'m, 'a>> {
    let mut leaves = leaves(mail);
    leaves.retain(|leaf| leaf.part.body_kind.is_none());
    leaves
}

/// The leaf of this number, whatever its role.
pub(crate) fn find<'m, 'a>(mail: &'m ParsedMail<'a>, id: &str) -> Option<Leaf<'m, 'a>> {
    leaves(mail).into_iter().find(|leaf| leaf.id == id)
}

fn leaves<'m, 'a>(mail: &'m ParsedMail<'a>) -> Vec<Leaf<'m, 'a>> {
    let parts = mail.parts();
    // A parent comes before its children, so its number is known when theirs is made.
    let mut ids: Vec<String> = Vec::with_capacity(parts.len());
    let mut leaves = Vec::new();
    for part in parts {
        let above = part.parent.and_then(|at| ids.get(at));
        let id = match above.map(String::as_str) {
            None => "0".to_owned(),
            Some("0") => part.number.to_string(),
            Some(above) => format!("{above}.{}", part.number),
        };
        if !part.is_multipart {
            let parent = part.parent.and_then(|at| parts.get(at));
            leaves.push(Leaf {
                id: id.clone(),
                role: role(part, parent),
                part,
            });
        }
        ids.push(id);
    }
    leaves
}

fn role(part: &MailPart<'_>, parent: Option<&MailPart<'_>>) -> Role {
    match (part.disposition, parent.map(|p| p.media_type.as_str())) {
        (Disposition::Attachment, _) => Role::Attachment,
        (Disposition::Inline, _) => Role::Inline,
        (Disposition::Unset, Some("multipart/alternative")) if part.filename.is_none() => {
            Role::Alternative
        }
        (Disposition::Unset, Some("multipart/related")) => Role::Inline,
        (Disposition::Unset, _) if part.content_id.is_some() => Role::Inline,
        (Disposition::Unset, _) => Role::Attachment,
    }
}
