//! `/v3/templates…`: templates of both generations, their versions, and a preview by the renderer
//! that sends.

mod check;
mod page;
#[cfg(test)]
mod reference;
mod template;
mod version;
mod wire;

use http::{Method, StatusCode};
use posthaste_http::{Access, Authorizer, Caller, Rejection, Routes, Takeover};
use posthaste_model::{Clock, Entropy, TemplateId, VersionId};
use posthaste_runtime::{Error, Platform};
use posthaste_store::{Placed, Store, Template, Version};

/// How many templates and versions an account may hold together (API facts, section 1).
pub const LIMIT: i64 = 300;

/// The same where the operator takes over what another service held, which may allow more. Further ones are created
/// again once there are fewer than [`LIMIT`].
pub const TAKEOVER_LIMIT: i64 = 10_000;

/// How many the account may hold after a request.
pub(crate) fn limit_of(takeover: &Takeover) -> i64 {
    if takeover.by_operator {
        TAKEOVER_LIMIT
    } else {
        LIMIT
    }
}

/// An id that was taken over is free, or else the request changes nothing.
pub(crate) fn id_taken() -> Rejection {
    Rejection::plain(StatusCode::CONFLICT, "the id is in use")
}

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl App {
    /// Reads `TABLE_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
        })
    }

    /// The caller's template with this id.
    pub(crate) async fn template(&self, caller: &Caller, id: &str) -> Result<Template, Rejection> {
        let id = TemplateId::parse(id).map_err(|_| Rejection::not_found())?;
        let found = self.store.template(caller.id(), &id).await?;
        found.ok_or_else(Rejection::not_found)
    }

    /// The caller's version with these ids, and the template it belongs to.
    pub(crate) async fn version(
        &self,
        caller: &Caller,
        (template, version): (&str, &str),
    ) -> Result<(Template, Version), Rejection> {
        let template = self.template(caller, template).await?;
        let id = VersionId::parse(version).map_err(|_| Rejection::not_found())?;
        let version = template.version(&id).cloned();
        Ok((template, version.ok_or_else(Rejection::not_found)?))
    }
}

/// The stored template or version; if the store did not place it, the request is rejected.
pub(crate) fn placed<T>(placed: Placed<T>) -> Result<T, Rejection> {
    match placed {
        Placed::Done(value) => Ok(value),
        Placed::Full => Err(Rejection::bad(format!(
            "an account holds at most {LIMIT} templates and versions"
        ))),
        Placed::TooLong => Err(Rejection::bad(
            "the names and subjects of the template's versions are too long together",
        )),
        Placed::Missing => Err(Rejection::not_found()),
    }
}

/// The routes of this function. The preview is an extension of the v3 API.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const ALL: &str = "/v3/templates";
    const ONE: &str = "/v3/templates/{template_id}";
    const VERSIONS: &str = "/v3/templates/{template_id}/versions";
    const VERSION: &str = "/v3/templates/{template_id}/versions/{version_id}";
    const ACTIVATE: &str = "/v3/templates/{template_id}/versions/{version_id}/activate";
    const PREVIEW: &str = "/v3/templates/{template_id}/versions/{version_id}/preview";
    let read = Access::Scope("templates.read");
    let create = Access::Scope("templates.create");
    let update = Access::Scope("templates.update");
    let delete = Access::Scope("templates.delete");
    let version_read = Access::Scope("templates.versions.read");
    let version_create = Access::Scope("templates.versions.create");
    let version_update = Access::Scope("templates.versions.update");
    let version_delete = Access::Scope("templates.versions.delete");
    let activate = Access::Scope("templates.versions.activate.create");
    Routes::new(gate)
        .at(Method::POST, ALL, create, template::create)
        .at(Method::GET, ALL, read, template::list)
        .at(Method::GET, ONE, read, template::one)
        .at(Method::POST, ONE, create, template::duplicate)
        .at(Method::PATCH, ONE, update, template::rename)
        .at(Method::DELETE, ONE, delete, template::delete)
        .at(Method::POST, VERSIONS, version_create, version::create)
        .at(Method::GET, VERSION, version_read, version::one)
        .at(Method::PATCH, VERSION, version_update, version::update)
        .at(Method::DELETE, VERSION, version_delete, version::delete)
        .at(Method::POST, ACTIVATE, activate, version::activate)
        .at(Method::GET, PREVIEW, version_read, version::preview_stored)
        .at(Method::POST, PREVIEW, version_read, version::preview)
        .with_state(app)
}
