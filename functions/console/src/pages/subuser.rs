//! One subuser: what it may send, whether it may, and acting for it.

use askama::Template;
use serde::Deserialize;

use super::subusers::SubuserAnswer;
use crate::api::encoded;
use crate::content::{PageContent, PageResult};
use crate::visit::PageVisit;

#[derive(Template)]
#[template(path = "subuser.html")]
struct SubuserPage {
    username: String,
    email: String,
    is_disabled: bool,
    credits: Result<SubuserCreditsAnswer, String>,
    rights: SubuserRights,
}

/// What the reader may change.
struct SubuserRights {
    update: bool,
    delete: bool,
    credits: bool,
    adjust: bool,
}

/// What a subuser may send, as the API answers it.
#[derive(Deserialize)]
struct SubuserCreditsAnswer {
    #[serde(rename = "type")]
    kind: String,
    reset_frequency: Option<String>,
    remain: Option<i64>,
    total: Option<i64>,
    used: Option<i64>,
}

impl SubuserCreditsAnswer {
    fn is_unlimited(&self) -> bool {
        self.kind == "unlimited"
    }

    fn resets(&self, frequency: &str) -> bool {
        self.reset_frequency.as_deref() == Some(frequency)
    }
}

pub(crate) async fn show(visit: PageVisit, name: String) -> PageResult {
    let path = format!("/v3/subusers/{}", encoded(&name));
    let credits = format!("{path}/credits");
    let (subuser, credits) = futures_util::join!(
        visit.api.get::<SubuserAnswer>(&path),
        visit.api.get::<SubuserCreditsAnswer>(&credits),
    );
    let SubuserAnswer {
        username,
        email,
        disabled,
    } = subuser?;
    let key = &visit.caller.key;
    let page = SubuserPage {
        email,
        is_disabled: disabled,
        credits: credits.map_err(|error| error.without("subusers.credits.read")),
        rights: SubuserRights {
            update: key.holds("subusers.update"),
            delete: key.holds("subusers.delete"),
            credits: key.holds("subusers.credits.update"),
            adjust: key.holds("subusers.credits.remaining.update"),
        },
        username: username.clone(),
    };
    PageContent::of(&username, &page)
}
