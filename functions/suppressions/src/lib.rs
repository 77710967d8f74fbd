//! `/v3/suppression/…` and `/v3/asm/…`: who is not written to, and the unsubscribe groups; and
//! `/v3/validations/email`: whether an address can get mail.

mod app;
mod everywhere;
mod groups;
mod kind;
mod lists;
mod members;
#[cfg(test)]
mod reference;
mod validation;
mod wire;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};

pub use app::{AddressDns, App, MOST};
use kind::{Blocks, Bounces, InvalidEmails, ListKind, SpamReports, Unsubscribes};

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let routes = Routes::new(gate);
    let routes = list::<Bounces>(
        routes,
        ["/v3/suppression/bounces", "/v3/suppression/bounces/{email}"],
        ["suppression.bounces.read", "suppression.bounces.delete"],
    );
    let routes = list::<Blocks>(
        routes,
        ["/v3/suppression/blocks", "/v3/suppression/blocks/{email}"],
        ["suppression.blocks.read", "suppression.blocks.delete"],
    );
    let routes = list::<InvalidEmails>(
        routes,
        [
            "/v3/suppression/invalid_emails",
            "/v3/suppression/invalid_emails/{email}",
        ],
        [
            "suppression.invalid_emails.read",
            "suppression.invalid_emails.delete",
        ],
    );
    let routes = list::<SpamReports>(
        routes,
        [
            "/v3/suppression/spam_reports",
            "/v3/suppression/spam_reports/{email}",
        ],
        [
            "suppression.spam_reports.read",
            "suppression.spam_reports.delete",
        ],
    );
    let routes = list::<Unsubscribes>(
        routes,
        [
            "/v3/suppression/unsubscribes",
            "/v3/suppression/unsubscribes/{email}",
        ],
        [
            "suppression.unsubscribes.read",
            "suppression.unsubscribes.delete",
        ],
    );
    asm(routes)
        .at(
            Method::POST,
            "/v3/validations/email",
            Access::Scope("validations.email.create"),
            validation::validate,
        )
        .with_state(app)
}

/// The four routes of one list: the whole, and one address. A key for all lists opens each.
fn list<K: ListKind>(
    routes: Routes<App>,
    [all, one]: [&'static str; 2],
    [read, delete]: [&'static str; 2],
) -> Routes<App> {
    let read = Access::Either(read, "suppression.read");
    let delete = Access::Either(delete, "suppression.delete");
    routes
        .at(Method::GET, all, read, lists::page::<K>)
        .at(Method::DELETE, all, delete, lists::clear::<K>)
        .at(Method::GET, one, read, lists::one::<K>)
        .at(Method::DELETE, one, delete, lists::remove::<K>)
}

/// Groups, who left them, and who left everything.
fn asm(routes: Routes<App>) -> Routes<App> {
    const GROUPS: &str = "/v3/asm/groups";
    const GROUP: &str = "/v3/asm/groups/{group_id}";
    const MEMBERS: &str = "/v3/asm/groups/{group_id}/suppressions";
    const SEARCH: &str = "/v3/asm/groups/{group_id}/suppressions/search";
    const MEMBER: &str = "/v3/asm/groups/{group_id}/suppressions/{email}";
    const ALL: &str = "/v3/asm/suppressions";
    const OF_ONE: &str = "/v3/asm/suppressions/{email}";
    const GLOBAL: &str = "/v3/asm/suppressions/global";
    const GLOBAL_ONE: &str = "/v3/asm/suppressions/global/{email}";
    let scope = Access::Scope;
    let (read, update) = (scope("asm.groups.read"), scope("asm.groups.update"));
    let (create, delete) = (scope("asm.groups.create"), scope("asm.groups.delete"));
    let look = scope("asm.groups.suppressions.read");
    let add = scope("asm.groups.suppressions.create");
    let remove = scope("asm.groups.suppressions.delete");
    let look_all = scope("asm.suppressions.read");
    let look_global = scope("asm.suppressions.global.read");
    let add_global = scope("asm.suppressions.global.create");
    let remove_global = scope("asm.suppressions.global.delete");
    routes
        .at(Method::POST, GROUPS, create, groups::create)
        .at(Method::GET, GROUPS, read, groups::list)
        .at(Method::GET, GROUP, read, groups::one)
        .at(Method::PATCH, GROUP, update, groups::update)
        .at(Method::DELETE, GROUP, delete, groups::delete)
        .at(Method::POST, MEMBERS, add, members::add)
        .at(Method::GET, MEMBERS, look, members::list)
        .at(Method::POST, SEARCH, look, members::search)
        .at(Method::DELETE, MEMBER, remove, members::remove)
        .at(Method::GET, ALL, look_all, everywhere::all)
        .at(Method::GET, OF_ONE, look_all, everywhere::of_one)
        .at(Method::POST, GLOBAL, add_global, everywhere::add)
        .at(Method::GET, GLOBAL_ONE, look_global, everywhere::one)
        .at(
            Method::DELETE,
            GLOBAL_ONE,
            remove_global,
            everywhere::remove,
        )
}
