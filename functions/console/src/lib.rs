//! The web console: pages in which the owner of an account signs in, makes the first key and sees what became of each
//! mail.
//!
//! Pages only read, and all that they show is what `/v3` answers their reader: each reads it in this process, as the
//! same caller, so that scopes, the allow list and rate limits apply as they do to a client. What a form changes, its
//! script sends to `/v3` by `fetch` (`ui/console.js`).
//!
//! # Adding a page
//!
//! 1. A file in `src/pages`: its template's struct, and `show(visit)`, which reads by `visit.api.get("/v3/…")`
//!    and returns its `PageContent`.
//! 2. Its template in `templates`, which is the inside of `<main>` and begins with `<h1>`. No `style` and no script in
//!    it: the policy of the pages forbids both.
//! 3. A line in `PAGES` (`src/pages.rs`): its name in the address, its label and its group in the navigation. With
//!    `one: MODULE` there is a page at `/console/NAME/ID` too, shown by `MODULE::show(visit, id)`.
//!
//! A form that changes something says so in attributes, and needs no code: `data-call="DELETE /v3/x/{id}"` is the call,
//! in which `{id}` is the field of that name; other fields are members of its JSON body. `ui/console.js` lists the
//! attributes. Its method is `dialog`: without its script it sends nothing, and nothing of it gets into an address. Then it
//! is left out, unless its class is `shows`: of such a form, which has what is stored, the buttons are. A section of the
//! class `acts` is left out with its form.

mod api;
mod app;
mod assets;
mod chart;
mod content;
mod frame;
mod mail_part;
mod pages;
#[cfg(test)]
mod reference;
mod serve;
mod sign_in;
mod template_part;
mod texts;
mod visit;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};

pub use app::App;

use app::AppState;

/// Where the console lies.
pub const CONSOLE_PATH: &str = "/console";

/// The routes of this function. Each page asks the guard itself: a browser without a session is led to the page to sign
/// in, where a client would get an error in JSON.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let open = Access::Public;
    let state = AppState::new(app, gate.clone());
    Routes::new(gate)
        .at(Method::GET, CONSOLE_PATH, open, serve::first_page)
        .at(Method::GET, "/console/{page}", open, serve::page)
        .at(
            Method::GET,
            "/console/{page}/{id}",
            open,
            serve::page_of_one,
        )
        .at(Method::POST, "/console/{page}", open, sign_in::post)
        .with_state(state)
}
