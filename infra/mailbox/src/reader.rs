//! What the page shows of the open message.

use posthaste_mime::read::ParsedMail;

use crate::ApiAddress;
use crate::copies::DeliveryStatus;
use crate::events::{CopyFacts, EventLines, LatestEvent, PostForms};
use crate::frame::document_of;
use crate::list::Pill;
use crate::look::Look;
use crate::mail::{head, header_fields};
use crate::message::{File, Full};
use crate::params::Params;
use crate::rows::{self, ListRow};
use crate::schedule::{Wait, WaitingParts};
use crate::store::StoredMail;

/// Bytes of source shown on the page; the rest is a download.
const SHOWN: usize = 256 * 1024;

/// The open message, shown by the template of the page.
pub(crate) struct MessageView {
    pub id: String,
    pub subject: String,
    /// Header fields with the people of the mail, in order.
    pub people: Vec<(&'static str, Vec<String>)>,
    pub at: String,
    pub date: String,
    pub size: String,
    pub message_id: String,
    pub sender: String,
    pub recipients: Vec<String>,
    pub peer: String,
    pub is_recorded: bool,
    pub status: LatestEvent,
    /// What became of the copy, if that is more than its delivery to this mailbox.
    pub standing: Option<Pill>,
    pub reason: String,
    /// What to know about this state.
    pub note: String,
    /// How scheduled mail waits.
    pub wait: Option<Wait>,
    /// The copies of the same request, if there are others.
    pub request: Option<String>,
    pub tabs: Vec<Tab>,
    pub panel: Panel,
}

/// What the sources say about a copy.
pub(crate) struct CopySources {
    pub facts: CopyFacts,
    pub waiting: WaitingParts,
    /// The relay that takes the mails.
    pub relay: Option<String>,
    /// Where forms ask to post events again.
    pub forms: PostForms,
}

/// One way to look at the message.
pub(crate) struct Tab {
    pub name: &'static str,
    pub href: String,
    pub current: bool,
    /// How many things it shows; 0 when they are not counted.
    pub count: usize,
}

/// The content of the chosen tab.
pub(crate) enum Panel {
    Html(Frame),
    Source(Source),
    Headers(Vec<(String, String)>),
    Files(Vec<Attached>),
    Events(EventLines),
}

pub(crate) struct Frame {
    pub src: String,
    /// Whether the mail references remote pictures.
    pub remote: bool,
    pub images: bool,
    pub phone: bool,
    pub dark: bool,
    /// The same page with the other choice of pictures, of width, and of colours.
    pub images_href: String,
    pub width_href: String,
    pub dark_href: String,
}

pub(crate) struct Source {
    pub text: String,
    /// The link to the full text, when it was cut.
    pub whole: Option<String>,
    /// Lines of prose wrap, lines of source do not.
    pub prose: bool,
}

pub(crate) struct Attached {
    pub href: String,
    pub name: String,
    pub kind: String,
    pub size: String,
    pub picture: bool,
    pub note: &'static str,
}

const VIEWS: [(&str, &str); 7] = [
    ("html", "HTML"),
    ("text", "Text"),
    ("source", "HTML source"),
    ("headers", "Headers"),
    ("raw", "Raw"),
    ("files", "Attachments"),
    ("events", "Events"),
];

impl MessageView {
    /// Reads the mail of a row.
    pub(crate) fn new(
        row: &ListRow,
        mail: &StoredMail,
        about: &CopySources,
        params: &Params,
    ) -> Self {
        let CopySources { facts, waiting, .. } = about;
        let full = Full::of(mail);
        let view = chosen(row, &full, &params.view);
        let is_delivered = row.status == DeliveryStatus::Delivered && row.is_recorded;
        let shown = |list: &[ApiAddress]| list.iter().map(ApiAddress::shown).collect::<Vec<_>>();
        let people = [
            ("From", shown(std::slice::from_ref(&full.from))),
            ("To", shown(&full.to)),
            ("Cc", shown(&full.cc)),
            ("Bcc", shown(&full.bcc)),
            ("Reply to", shown(&full.reply_to)),
        ];
        Self {
            id: full.id.clone(),
            subject: full.subject.clone(),
            people: people
                .into_iter()
                .filter(|(_, shown)| !shown.concat().is_empty())
                .collect(),
            at: mail.summary.created.clone(),
            date: full.date.clone(),
            size: rows::size(full.size),
            message_id: full.message_id.clone(),
            sender: mail.envelope.from.clone(),
            recipients: mail.envelope.to.clone(),
            peer: mail.envelope.peer.clone(),
            is_recorded: row.is_recorded,
            status: LatestEvent::of(facts),
            standing: (!is_delivered).then(|| Pill::of(row, waiting)),
            reason: row.reason.clone(),
            note: note_of(row, about.relay.as_deref()),
            wait: Wait::of(row, waiting),
            request: row.request.as_ref().map(|request| {
                let all = Params {
                    query: format!("request:{request}"),
                    base: params.base.clone(),
                    ..Params::default()
                };
                all.link("/", 0, &[])
            }),
            tabs: tabs(row, &full, facts, params, view),
            panel: Panel::new(mail, &full, about, params, view),
        }
    }
}

/// What the state of a copy means, in a sentence.
fn note_of(row: &ListRow, relay: Option<&str>) -> String {
    let relay = relay.filter(|_| !row.is_recorded);
    let note = match (row.status, relay) {
        (DeliveryStatus::Queued | DeliveryStatus::Processed, _) => {
            "Accepted, and not handed over yet."
        }
        (DeliveryStatus::Sandboxed, _) => {
            "The request enabled sandbox mode: it was checked, and nothing leaves."
        }
        (DeliveryStatus::Dropped, _) => "Not handed to the relay.",
        (DeliveryStatus::Deferred, _) => "The relay refused it for the moment; it is tried again.",
        (DeliveryStatus::Bounced, None) => "Refused.",
        (DeliveryStatus::Delivered, Some(relay)) => return format!("Handed to {relay}."),
        (DeliveryStatus::Bounced, Some(relay)) => {
            return format!("Handed to {relay}, and refused.");
        }
        (DeliveryStatus::Scheduled | DeliveryStatus::Delivered, _) => "",
    };
    note.to_owned()
}

/// The requested view, or the best available one.
fn chosen(row: &ListRow, full: &Full, wanted: &str) -> &'static str {
    let known = VIEWS.iter().find(|(view, _)| *view == wanted);
    match known {
        Some((view, _)) if offered(row, full, view) => view,
        Some(_) | None if !row.is_recorded => "events",
        Some(_) | None if full.html.is_empty() => "text",
        Some(_) | None => "html",
    }
}

fn offered(row: &ListRow, full: &Full, view: &str) -> bool {
    match view {
        "events" => true,
        _ if !row.is_recorded => false,
        "html" | "source" => !full.html.is_empty(),
        "files" => !(full.attachments.is_empty() && full.inline.is_empty()),
        _ => true,
    }
}

fn tabs(row: &ListRow, full: &Full, facts: &CopyFacts, params: &Params, current: &str) -> Vec<Tab> {
    let count = |view: &str| match view {
        // As in the list: what the mail shows in its place is no attachment.
        "files" => full.attachments.len(),
        "events" => facts.events.len() + facts.webhooks.len(),
        _ => 0,
    };
    VIEWS
        .iter()
        .filter(|(view, _)| offered(row, full, view))
        .map(|(view, name)| Tab {
            name,
            href: here(full, params, &[("view", view)]),
            current: *view == current,
            count: count(view),
        })
        .collect()
}

fn here(full: &Full, params: &Params, more: &[(&str, &str)]) -> String {
    params.link(&format!("/message/{}", full.id), params.start, more)
}

impl Panel {
    fn new(
        mail: &StoredMail,
        full: &Full,
        about: &CopySources,
        params: &Params,
        view: &str,
    ) -> Self {
        let base = &params.base;
        let api = format!("{base}/api/v1/message/{}", full.id);
        let raw = format!("{api}/raw");
        match view {
            "html" => Self::Html(Frame::new(full, params)),
            "text" => {
                let whole = format!("{base}/view/{}.txt", full.id);
                Self::Source(Source::new(&full.text, whole, true))
            }
            "source" => Self::Source(Source::new(&full.html, raw, false)),
            "headers" => Self::Headers(shown_headers(mail)),
            "raw" => {
                let beginning = mail.raw.get(..SHOWN + 4).unwrap_or(&mail.raw);
                let text = String::from_utf8_lossy(beginning);
                Self::Source(Source::new(&text, raw, false))
            }
            "files" => {
                let files = full.attachments.iter().map(|f| (f, ""));
                let inline = full.inline.iter().map(|f| (f, note(f)));
                let all = files.chain(inline);
                Self::Files(all.map(|(f, note)| Attached::new(&api, f, note)).collect())
            }
            _ => Self::Events(EventLines::of(&about.facts, &about.forms)),
        }
    }
}

/// The header as far as the page shows it; the raw view and its download have all of it.
fn shown_headers(mail: &StoredMail) -> Vec<(String, String)> {
    let mut room = SHOWN;
    let mut shown = header_fields(&ParsedMail::read(&mail.raw));
    for (name, value) in &mut shown {
        for text in [name, value] {
            let cut = head(text, room).len();
            text.truncate(cut);
            room -= cut;
        }
    }
    shown
}

impl Frame {
    fn new(full: &Full, params: &Params) -> Self {
        let (images, phone, dark) = (params.images, params.width == "phone", params.dark);
        let href = |images: bool, phone: bool, dark: bool| {
            let images = images.then_some(("images", "1"));
            let width = phone.then_some(("width", "phone"));
            let dark = dark.then_some(("dark", "1"));
            let view = Some(("view", "html"));
            let more: Vec<_> = [view, images, width, dark].into_iter().flatten().collect();
            here(full, params, &more)
        };
        let remote = if images { "&images=1" } else { "" };
        let colours = if dark { "&dark=1" } else { "" };
        let base = &params.base;
        let look = Look { embed: true, dark };
        Self {
            src: format!("{base}/view/{}.html?embed=1{remote}{colours}", full.id),
            remote: document_of(full, base, look).remote,
            images,
            phone,
            dark,
            images_href: href(!images, phone, dark),
            width_href: href(images, !phone, dark),
            dark_href: href(images, phone, !dark),
        }
    }
}

impl Source {
    fn new(text: &str, whole: String, prose: bool) -> Self {
        let beginning = head(text, SHOWN);
        Self {
            whole: (beginning.len() < text.len()).then_some(whole),
            text: beginning.to_owned(),
            prose,
        }
    }
}

impl Attached {
    fn new(api: &str, file: &File, note: &'static str) -> Self {
        let shown = ["png", "jpeg", "gif", "webp", "avif", "bmp"];
        let subtype = file.content_type.strip_prefix("image/");
        Self {
            href: format!("{api}/part/{}", file.part_id),
            name: file.file_name.clone(),
            kind: file.content_type.clone(),
            size: rows::size(file.size),
            picture: subtype.is_some_and(|subtype| shown.contains(&subtype)),
            note,
        }
    }
}

fn note(file: &File) -> &'static str {
    if file.alternative {
        "another form of the body"
    } else {
        "inline"
    }
}
