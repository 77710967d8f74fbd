//! What the pages of this function show.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::page;

/// What is left by the button.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<p>Do you want <b>{{ email }}</b> to get no more mail
{%- if let Some(group) = group %} of the kind “{{ group }}”{% endif %}?</p>
<form method="post"><button>Unsubscribe</button></form>"#
)]
pub(crate) struct UnsubscribePage<'a> {
    pub email: &'a str,
    /// The name of the group; `None` when everything is left.
    pub group: Option<&'a str>,
}

/// After an unsubscribe.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<p><b>{{ email }}</b> is unsubscribed.</p>
{%- if let Some(url) = next %}
<p><a href="{{ url }}">Continue</a></p>
{%- endif %}"#
)]
pub(crate) struct DonePage<'a> {
    pub email: &'a str,
    /// Where the account leads the reader.
    pub next: Option<&'a str>,
}

/// The groups that the sender shows.
#[derive(Template)]
#[template(path = "preferences.html")]
pub(crate) struct PreferencesPage<'a> {
    pub email: &'a str,
    pub groups: Vec<GroupChoice<'a>>,
    /// Whether the address left everything.
    pub off: bool,
    /// Whether the page answers a form that was stored.
    pub is_saved: bool,
}

/// One group and whether its box is ticked.
pub(crate) struct GroupChoice<'a> {
    pub id: i64,
    pub name: &'a str,
    pub about: &'a str,
    pub is_ticked: bool,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = "<p>It may have been cut short on its way. Please use the link in the mail itself.</p>"
)]
struct BrokenLinkPage;

/// The answer to a link that is not ours.
pub(crate) fn gone() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "This link does not work",
        &BrokenLinkPage,
    )
}
