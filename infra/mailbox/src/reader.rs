//! The open message beside the list.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use posthaste_mime::read::ParsedMail;
use serde::Serialize;

use crate::events::{EventLine, EventLines};
use crate::message::{File, Full};
use crate::params::Params;
use crate::refusal::Refusal;
use crate::routes::App;
use crate::sources::CopyFacts;
use crate::store::StoredMail;
use crate::{ApiAddress, headers, page, parse, view};

/// Bytes of source shown on the page; the rest is a download.
const SHOWN: usize = 256 * 1024;

/// What the page shows of one message.
#[derive(Serialize)]
pub(crate) struct MessageView {
    pub id: String,
    pub subject: String,
    /// Header fields with the people of the mail, in order.
    people: Vec<(&'static str, Vec<String>)>,
    at: String,
    date: String,
    size: String,
    message_id: String,
    sender: String,
    recipients: Vec<String>,
    peer: String,
    /// The latest event of this copy.
    status: Option<EventLine>,
    tabs: Vec<Tab>,
    panel: Panel,
}

/// One way to look at the message.
#[derive(Serialize)]
struct Tab {
    name: &'static str,
    href: String,
    current: bool,
    count: Option<usize>,
}

/// The content of the chosen tab; one of these is set.
#[derive(Default, Serialize)]
struct Panel {
    frame: Option<Frame>,
    source: Option<Source>,
    headers: Option<Vec<(String, String)>>,
    files: Option<Vec<Attached>>,
    told: Option<EventLines>,
}

#[derive(Serialize)]
struct Frame {
    src: String,
    remote: bool,
    images: bool,
    phone: bool,
    /// The same page with the other choice of pictures, and of width.
    images_href: String,
    width_href: String,
}

#[derive(Serialize)]
struct Source {
    text: String,
    /// The link to the full text, when it was cut.
    whole: Option<String>,
    /// Lines of prose wrap, lines of source do not.
    prose: bool,
}

#[derive(Serialize)]
struct Attached {
    href: String,
    name: String,
    kind: String,
    size: String,
    picture: bool,
    note: &'static str,
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

/// `GET /message/{id}`: the list with this message open, which marks it as read.
pub(crate) async fn open(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let row = app.mailbox.head(id).await?.ok_or(Refusal::NotFound)?;
    let kept = app.mailbox.load(row).await?.ok_or(Refusal::NotFound)?;
    app.mailbox.mark_read(&kept.summary.id).await?;
    let told = app.told(&kept.summary, &kept.envelope).await;
    let reader = {
        let params = params.clone();
        let read = move || MessageView::new(&kept, &told, &params);
        app.mailbox.apart("reader", read).await?
    };
    page::show(&app, &params, Some(reader)).await
}

/// `GET /message/{id}/told`: the latest events and answers of this copy. An open page requests it
/// repeatedly, so it leaves the mail unread.
pub(crate) async fn told(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let row = app.mailbox.head(id).await?.ok_or(Refusal::NotFound)?;
    let told = app.told(&row.summary, &row.envelope).await;
    app.render("fragment", EventLines::of(&told)).await
}

impl MessageView {
    fn new(kept: &StoredMail, told: &CopyFacts, params: &Params) -> Self {
        let full = Full::of(kept);
        let view = chosen(&full, &params.view);
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
            at: kept.summary.created.clone(),
            date: full.date.clone(),
            size: page::bytes(full.size),
            message_id: full.message_id.clone(),
            sender: kept.envelope.from.clone(),
            recipients: kept.envelope.to.clone(),
            peer: kept.envelope.peer.clone(),
            status: EventLines::of(told).status,
            tabs: tabs(&full, told, params, view),
            panel: Panel::new(kept, &full, told, params, view),
        }
    }
}

/// The requested view, or the best available one.
fn chosen(full: &Full, wanted: &str) -> &'static str {
    let known = VIEWS.iter().find(|(view, _)| *view == wanted);
    match known {
        Some((view, _)) if offered(full, view) => view,
        Some(_) | None if full.html.is_empty() => "text",
        Some(_) | None => "html",
    }
}

fn offered(full: &Full, view: &str) -> bool {
    match view {
        "html" | "source" => !full.html.is_empty(),
        "files" => !(full.attachments.is_empty() && full.inline.is_empty()),
        _ => true,
    }
}

fn tabs(full: &Full, told: &CopyFacts, params: &Params, current: &str) -> Vec<Tab> {
    let count = |view: &str| match view {
        "files" => Some(full.attachments.len() + full.inline.len()),
        "events" => Some(told.events.len() + told.webhooks.len()),
        _ => None,
    };
    VIEWS
        .iter()
        .filter(|(view, _)| offered(full, view))
        .map(|(view, name)| Tab {
            name,
            href: here(full, params, &[("view", view)]),
            current: *view == current,
            count: count(view),
        })
        .collect()
}

fn here(full: &Full, params: &Params, more: &[(&str, &str)]) -> String {
    format!("/message/{}{}", full.id, params.place(params.start, more))
}

impl Panel {
    fn new(kept: &StoredMail, full: &Full, told: &CopyFacts, params: &Params, view: &str) -> Self {
        let api = format!("/api/v1/message/{}", full.id);
        let mut panel = Self::default();
        match view {
            "html" => panel.frame = Some(Frame::new(full, params)),
            "text" => {
                let whole = format!("/view/{}.txt", full.id);
                panel.source = Some(Source::new(&full.text, whole, true));
            }
            "source" => panel.source = Some(Source::new(&full.html, format!("{api}/raw"), false)),
            "headers" => panel.headers = Some(shown_headers(kept)),
            "raw" => {
                let head = kept.raw.get(..SHOWN + 4).unwrap_or(&kept.raw);
                let text = String::from_utf8_lossy(head);
                panel.source = Some(Source::new(&text, format!("{api}/raw"), false));
            }
            "files" => {
                let files = full.attachments.iter().map(|f| (f, ""));
                let inline = full.inline.iter().map(|f| (f, note(f)));
                let all = files.chain(inline);
                panel.files = Some(all.map(|(f, note)| Attached::new(&api, f, note)).collect());
            }
            _ => panel.told = Some(EventLines::of(told)),
        }
        panel
    }
}

/// The header as far as the page shows it; the raw view and its download have all of it.
fn shown_headers(kept: &StoredMail) -> Vec<(String, String)> {
    let mut room = SHOWN;
    let mut shown = headers::all(&ParsedMail::read(&kept.raw));
    for (name, value) in &mut shown {
        for text in [name, value] {
            let cut = parse::head(text, room).len();
            text.truncate(cut);
            room -= cut;
        }
    }
    shown
}

impl Frame {
    fn new(full: &Full, params: &Params) -> Self {
        let (images, phone) = (params.images, params.width == "phone");
        let href = |images: bool, phone: bool| {
            let images = images.then_some(("images", "1"));
            let width = phone.then_some(("width", "phone"));
            let view = Some(("view", "html"));
            let more: Vec<_> = [view, images, width].into_iter().flatten().collect();
            here(full, params, &more)
        };
        let remote = if images { "&images=1" } else { "" };
        Self {
            src: format!("/view/{}.html?embed=1{remote}", full.id),
            remote: view::document(full, true).remote,
            images,
            phone,
            images_href: href(!images, phone),
            width_href: href(images, !phone),
        }
    }
}

impl Source {
    fn new(text: &str, whole: String, prose: bool) -> Self {
        let head = parse::head(text, SHOWN);
        Self {
            whole: (head.len() < text.len()).then_some(whole),
            text: head.to_owned(),
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
            size: page::bytes(file.size),
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
