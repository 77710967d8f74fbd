//! Every REST call: its route with its handler, and what the document says of it.

use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post, put};

use crate::app::App;
use crate::{api, events_socket, wait};

/// Bytes of the body of a call, except for a mail that is to be recorded.
const LARGEST_BODY: usize = 2 << 20;

/// Bytes of the body of a mail that is to be recorded: 30 MB of files in base64.
const LARGEST_SEND: usize = 42 << 20;

/// A REST call.
pub(crate) struct Operation {
    pub method: &'static str,
    /// The path, as the document has it.
    pub path: &'static str,
    /// The route and its handler; `None` where another operation has them, or the host serves it beside the mailbox.
    pub handler: Option<(&'static str, MethodRouter<App>)>,
    pub summary: &'static str,
    /// Whether Mailpit has it too.
    pub is_mailpits: bool,
    pub query: Vec<QueryParameter>,
    /// The name of the body's definition.
    pub body: Option<&'static str>,
    pub answer: CallAnswer,
}

/// A parameter in the query.
pub(crate) struct QueryParameter {
    pub name: &'static str,
    pub kind: &'static str,
    pub is_required: bool,
    pub about: &'static str,
}

/// What a good answer holds.
pub(crate) enum CallAnswer {
    /// JSON of this definition.
    Json(&'static str),
    /// The text `ok`.
    Done,
    /// Text or bytes of this media type.
    Bytes(&'static str),
    /// Messages of a WebSocket, each of this definition.
    Socket(&'static str),
}

impl Operation {
    /// `call` is the method and the path.
    fn new(call: &'static str, handler: MethodRouter<App>, answer: CallAnswer) -> Self {
        let (method, path) = call.split_once(' ').unwrap_or_default();
        Self {
            method,
            path,
            handler: Some((path, handler.layer(DefaultBodyLimit::max(LARGEST_BODY)))),
            summary: "",
            is_mailpits: true,
            query: Vec::new(),
            body: None,
            answer,
        }
    }

    /// One that this crate has no handler for.
    fn elsewhere(call: &'static str, answer: CallAnswer) -> Self {
        Self {
            handler: None,
            ..Self::new(call, MethodRouter::new(), answer)
        }
    }

    fn about(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// One that Mailpit does not have.
    fn own(mut self) -> Self {
        self.is_mailpits = false;
        self
    }

    fn body(mut self, definition: &'static str) -> Self {
        self.body = Some(definition);
        self
    }

    fn query(mut self, parameters: impl IntoIterator<Item = QueryParameter>) -> Self {
        self.query.extend(parameters);
        self
    }

    /// What `latest` in place of an id takes.
    fn of_message(self) -> Self {
        self.query([
            optional(
                "query",
                "string",
                "with `latest`: the newest mail that matches this search",
            ),
            optional(
                "timeout",
                "string",
                "with `latest`: waits so long for a mail, such as 30s",
            ),
        ])
    }
}

fn optional(name: &'static str, kind: &'static str, about: &'static str) -> QueryParameter {
    QueryParameter {
        name,
        kind,
        is_required: false,
        about,
    }
}

fn search() -> [QueryParameter; 2] {
    let query = optional("query", "string", "words and field:value terms");
    [
        QueryParameter {
            is_required: true,
            ..query
        },
        zone(),
    ]
}

fn zone() -> QueryParameter {
    let about = "only UTC, where the search has before: or after:";
    optional("tz", "string", about)
}

fn page() -> [QueryParameter; 3] {
    [
        optional("start", "integer", "messages that are skipped [default: 0]"),
        optional(
            "limit",
            "integer",
            "messages of the answer, 0 for all [default: 50]",
        ),
        optional(
            "before",
            "string",
            "only messages that arrived before this time",
        ),
    ]
}

/// Every call, in the order of the document.
pub(crate) fn operations() -> Vec<Operation> {
    let mut all = of_mailbox();
    all.extend(of_message());
    all.extend(of_host());
    all
}

fn of_mailbox() -> Vec<Operation> {
    use CallAnswer::{Done, Json};
    vec![
        Operation::new("GET /api/v1/messages", get(api::list), Json("Messages"))
            .about("List messages, the newest first")
            .query(page()),
        Operation::new("PUT /api/v1/messages", put(api::mark), Done)
            .about("Mark messages as read or unread")
            .body("MarkBody")
            .query([zone()]),
        Operation::new("DELETE /api/v1/messages", delete(api::delete), Done)
            .about("Delete messages: those of IDs, or all")
            .body("DeleteBody"),
        Operation::new("GET /api/v1/search", get(api::search), Json("Messages"))
            .about("List the messages that match")
            .query(search())
            .query(page()),
        Operation::new("DELETE /api/v1/search", delete(api::delete_search), Done)
            .about("Delete the messages that match")
            .query(search()),
        Operation::new("GET /api/v1/tags", get(api::tags::list), Json("TagNames"))
            .about("List the tags in use"),
        Operation::new("PUT /api/v1/tags", put(api::tags::set), Done)
            .about("Replace the tags of messages")
            .body("TagsBody"),
        Operation::new("PUT /api/v1/tags/{tag}", put(api::tags::rename), Done)
            .about("Rename a tag")
            .body("NameBody"),
        Operation::new("DELETE /api/v1/tags/{tag}", delete(api::tags::delete), Done)
            .about("Take a tag off all messages"),
        Operation::new("GET /api/v1/wait", get(wait::wait), Json("AwaitedMessage"))
            .about("Wait for a message")
            .own()
            .query([
                optional("query", "string", "a search that the message matches"),
                optional(
                    "after",
                    "string",
                    "the ID of a message: only newer ones match",
                ),
                optional(
                    "timeout",
                    "string",
                    "500ms, 30s, 2m or seconds, at most 300s [default: 30s]",
                ),
            ]),
        send(),
    ]
}

fn send() -> Operation {
    // The inner of two limits counts.
    let handler = post(api::outgoing::send).layer(DefaultBodyLimit::max(LARGEST_SEND));
    Operation::new(
        "POST /api/v1/send",
        handler,
        CallAnswer::Json("SentMessage"),
    )
    .about("Record a message; it neither passes through the service nor leaves")
    .body("SendBody")
}

fn of_message() -> Vec<Operation> {
    use CallAnswer::{Bytes, Done, Json};
    let calls = vec![
        Operation::new(
            "GET /api/v1/message/{id}",
            get(api::message),
            Json("Message"),
        )
        .about("Read a message, which marks it as read"),
        Operation::new(
            "GET /api/v1/message/{id}/headers",
            get(api::heads),
            Json("Headers"),
        )
        .about("Read the headers, by name"),
        Operation::new(
            "GET /api/v1/message/{id}/raw",
            get(api::raw),
            Bytes("text/plain"),
        )
        .about("Read the source")
        .query([optional("dl", "string", "1: as a file")]),
        Operation::new(
            "GET /api/v1/message/{id}/part/{part}",
            get(api::part),
            Bytes("application/octet-stream"),
        )
        .about("Read an attachment, in its own media type"),
        Operation::new(
            "GET /api/v1/message/{id}/part/{part}/thumb",
            get(api::checks::thumb),
            Bytes("image/jpeg"),
        )
        .about("Read a small picture of an attachment, 180 by 120 pixels"),
        Operation::new(
            "POST /api/v1/message/{id}/release",
            post(api::outgoing::release),
            Done,
        )
        .about("Hand the message to the real relay")
        .body("ReleaseBody"),
        Operation::elsewhere("GET /view/{id}.html", Bytes("text/html"))
            .about("Render the HTML")
            .query([
                optional("embed", "string", "1: links open in a new window"),
                optional("images", "string", "1: remote pictures load"),
            ]),
        Operation::elsewhere("GET /view/{id}.txt", Bytes("text/plain")).about("Render the text"),
    ];
    let calls = calls.into_iter().chain(checks()).chain(own());
    calls.map(Operation::of_message).collect()
}

fn checks() -> Vec<Operation> {
    use CallAnswer::Json;
    vec![
        Operation::new(
            "GET /api/v1/message/{id}/html-check",
            get(api::checks::html),
            Json("HtmlCheck"),
        )
        .about("Check how mail clients support the HTML"),
        Operation::new(
            "GET /api/v1/message/{id}/link-check",
            get(api::checks::links),
            Json("LinkCheck"),
        )
        .about("Check what the links answer with")
        .query([optional(
            "follow",
            "string",
            "true: follow redirects [default: false]",
        )]),
        Operation::new(
            "GET /api/v1/message/{id}/sa-check",
            get(api::checks::spam),
            Json("SpamCheck"),
        )
        .about("Score the message with the host's spam filter"),
    ]
}

/// What a test takes from a message.
fn own() -> Vec<Operation> {
    use CallAnswer::Json;
    vec![
        Operation::new(
            "GET /api/v1/message/{id}/events",
            get(api::events),
            Json("MessageEvents"),
        )
        .about("Read the envelope, the events and the webhook posts of the copy")
        .own(),
        Operation::new(
            "GET /api/v1/message/{id}/codes",
            get(wait::message_codes),
            Json("Codes"),
        )
        .about("List the codes of a message, the likeliest first")
        .own(),
        Operation::new(
            "GET /api/v1/message/{id}/links",
            get(wait::message_links),
            Json("Links"),
        )
        .about("List the links of a message, those of its step first")
        .own(),
    ]
}

fn of_host() -> Vec<Operation> {
    use CallAnswer::{Json, Socket};
    vec![
        Operation::new("GET /api/v1/info", get(api::info), Json("Info"))
            .about("Read counts and the version"),
        Operation::new(
            "GET /api/v1/webui",
            get(api::configuration),
            Json("Configuration"),
        )
        .about("Read what the host is set up for"),
        Operation::new(
            "GET /api/v1/chaos",
            get(api::chaos::read),
            Json("ChaosTriggers"),
        )
        .about("Read how often SMTP sessions are refused"),
        Operation::new(
            "PUT /api/v1/chaos",
            put(api::chaos::set),
            Json("ChaosTriggers"),
        )
        .about("Set how often SMTP sessions are refused")
        .body("ChaosTriggers"),
        Operation::new(
            "GET /api/events",
            get(events_socket::open),
            Socket("ChangeMessage"),
        )
        .about("Watch the mailbox by a WebSocket"),
        Operation::elsewhere("GET /api/v1/clock", Json("Clock"))
            .about("Read a clock that is turned by hand")
            .own(),
        Operation::elsewhere("POST /api/v1/clock", Json("AdvancedClock"))
            .about("Advance a clock that is turned by hand")
            .own()
            .body("ClockBody"),
    ]
}
