//! What the API reference says of these routes.

mod alerts;

use posthaste_store::{AccountSettings, KEPT_DAYS};
use posthaste_testkit::reference::{Operation, Reference, SchemaOf, schema_of, values};
use serde_json::{Map, Value, json};

use alerts::alerts;

use crate::endpoints::SettingList;
use crate::field::Slot;
use crate::table::{ENFORCED_TLS, MAIL, Setting, TRACKING};
use crate::teammates::{SubuserAccess, TeammateDetail, TeammateList};
use crate::user::{AccountView, CostView, CreditsView, FIELDS, LONGEST, SendingLimitsView};
use crate::{App, routes};

/// Of what has no type: texts under these names.
fn texts(names: impl IntoIterator<Item = &'static str>, required: bool) -> SchemaOf {
    let names: Vec<_> = names.into_iter().collect();
    let text = |name: &&str| ((*name).to_owned(), json!({"type": "string"}));
    let properties: Map<_, _> = names.iter().map(text).collect();
    let required = if required { names } else { Vec::new() };
    SchemaOf::Given(json!({"type": "object", "required": required, "properties": properties}))
}

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    let reference = Reference::new(
        "account-settings",
        "Settings",
        "Settings for all mail of an account, which a mail's own settings override, and the account itself.",
    );
    let reference = [("mail_settings", MAIL), ("tracking_settings", TRACKING)]
        .into_iter()
        .fold(reference, settings);
    let reference = calls(reference, ENFORCED_TLS, |change| {
        change.about(
            "With either of them on, mail leaves only over a connection that is encrypted with TLS 1.2 or newer; \
             anything else blocks it, with the reason `TLS required but not supported`. The connection is that to the \
             relay, or SES's own to the recipient's server; SES checks no certificates, so that `require_valid_cert` is \
             refused there.",
        )
    });
    let link = |operation: Operation| {
        operation
            .extension()
            .answers_text(200, "A page.", "text/html")
            .answers_text(404, "The link does not work any more.", "text/html")
    };
    teammates(alerts(user(reference)))
        .on(
            "GET /forwards/confirm/{token}",
            link(Operation::new(
                "Shows the page behind a mailed link of a forwarding address",
            )),
        )
        .on(
            "POST /forwards/confirm/{token}",
            link(Operation::new(
                "Confirms a forwarding address by the button of that page",
            )),
        )
}

fn teammates(reference: Reference) -> Reference {
    const OWNER: &str =
        "An account has one, its owner; each person and program that works with it has an API key.";
    let one = |operation: Operation| operation.path("username", "The user name of the account.");
    let token = |operation: Operation| {
        operation
            .path("token", "No invitation has one.")
            .refuses(404)
    };
    let owner_only = |about: &'static str| {
        one(Operation::new(about))
            .about("It is refused: the owner of an account cannot be changed or removed.")
            .refuses(403)
            .refuses(404)
    };
    reference
        .on(
            "GET /v3/teammates",
            Operation::new("Lists the teammates of the account")
                .about(OWNER)
                .paged(500, "How many; 500 when it is left out.")
                .answers::<TeammateList>(200, "The owner."),
        )
        .on(
            "POST /v3/teammates",
            Operation::new("Invites a teammate")
                .about("It is refused: give each person a key with the scopes that they need.")
                .refuses(403),
        )
        .on(
            "GET /v3/teammates/pending",
            Operation::new("Lists the invitations of the account: there are none")
                .answers::<TeammateList>(200, "An empty list."),
        )
        .on(
            "DELETE /v3/teammates/pending/{token}",
            token(Operation::new(
                "Withdraws an invitation, of which there are none",
            )),
        )
        .on(
            "POST /v3/teammates/pending/{token}/resend",
            token(Operation::new(
                "Sends an invitation again, of which there are none",
            )),
        )
        .on(
            "GET /v3/teammates/{username}",
            one(Operation::new("Shows the owner of the account"))
                .answers::<TeammateDetail>(200, "The owner.")
                .refuses(404),
        )
        .on(
            "PATCH /v3/teammates/{username}",
            owner_only("Changes a teammate"),
        )
        .on(
            "DELETE /v3/teammates/{username}",
            owner_only("Removes a teammate"),
        )
        .on(
            "GET /v3/teammates/{username}/subuser_access",
            one(Operation::new(
                "Shows the subusers that a teammate is restricted to",
            ))
            .answers::<SubuserAccess>(200, "None: the owner is not restricted.")
            .refuses(404),
        )
}

fn settings(reference: Reference, (list, all): (&str, &'static [Setting])) -> Reference {
    let path = format!("/v3/{list}");
    let kind = list.replace('_', " ");
    let reference = reference.on(
        format!("GET {path}"),
        Operation::new(format!("Lists the {kind}"))
            .paged(i64::MAX, "How many; all of them when it is left out.")
            .answers_as(
                200,
                "Each setting and whether it is on.",
                schema_of::<SettingList>(),
            ),
    );
    all.iter().fold(reference, |reference, setting| {
        calls(reference, setting, |change| change)
    })
}

/// The two calls of a setting.
fn calls(
    reference: Reference,
    setting: &Setting,
    more: impl FnOnce(Operation) -> Operation,
) -> Reference {
    let title = setting.name.replace('_', " ");
    let marked = |operation: Operation| {
        match setting.name {
        "kept_mail" => operation.extension().about(
            "The mail of each copy is stored as it was composed, for so many days, and deleted when its recipient is \
             erased: `GET /v3/messages/{msg_id}/content` shows it, and `POST …/send_again` sends it again. A changed \
             setting is that of mail sent from then on.",
        ),
        _ => operation,
    }
    };
    let mut change = Operation::new(format!("Changes the setting {title}"))
        .about("What is left out stays. Takes effect within ten seconds.")
        .body_as(SchemaOf::Given(schema(setting, Side::Body)))
        .answers_as(
            200,
            "The setting.",
            SchemaOf::Given(schema(setting, Side::Answer)),
        );
    if setting.forward.is_some() {
        change = change
            .about("Nothing is forwarded before the address is confirmed by a mailed link.")
            .limit("5 such mails in 24 hours for an account with its subusers, 2 to an address.");
    }
    reference
        .on(
            format!("GET {}", setting.path),
            marked(
                Operation::new(format!("Shows the setting {title}")).answers_as(
                    200,
                    "The setting.",
                    SchemaOf::Given(schema(setting, Side::Answer)),
                ),
            ),
        )
        .on(format!("PATCH {}", setting.path), marked(more(change)))
}

/// Where a setting is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Body,
    Answer,
}

/// The schema of a setting by its table.
fn schema(setting: &Setting, side: Side) -> Value {
    let mut all = AccountSettings::default();
    let fields = setting.fields.iter().map(|(name, slot)| {
        let slot = slot(&mut all);
        let value = match side {
            Side::Body => slot.body(),
            Side::Answer => slot.answer(),
        };
        ((*name).to_owned(), value)
    });
    let properties: Map<_, _> = fields.collect();
    let names: Vec<_> = match side {
        Side::Body => Vec::new(),
        Side::Answer => properties.keys().cloned().collect(),
    };
    json!({"type": "object", "required": names, "properties": properties})
}

impl Slot<'_> {
    fn answer(self) -> Value {
        match self {
            Self::Flag(_) | Self::OptionalFlag(_) => values::flag(),
            Self::Text(_, most) | Self::OptionalText(_, most) => json!({
                "type": "string",
                "description": format!("At most {most} bytes."),
            }),
            Self::Days(_) => json!({"type": ["integer", "null"], "minimum": 1, "maximum": 3650}),
            Self::KeptDays(_) => json!({"type": "integer", "enum": KEPT_DAYS}),
            Self::Score(_) => values::integer(1, 10),
            Self::Entries(_) => values::texts(),
            Self::Address(_) => json!({"type": ["string", "null"]}),
            Self::LegacyAddress(_) => values::text(),
            Self::TlsVersion(_) => json!({"type": "number", "enum": [1.1, 1.2, 1.3]}),
            Self::Addresses(_) => json!({
                "type": "string",
                "description": "Email addresses with a comma between them, at most 10.",
            }),
        }
    }

    /// `null` is accepted everywhere.
    fn body(self) -> Value {
        let mut value = self.answer();
        if let Value::String(one) = &value["type"] {
            value["type"] = json!([one, "null"]);
        }
        value
    }
}

fn user(reference: Reference) -> Reference {
    let profile = |required| texts(FIELDS.map(|(name, _)| name), required);
    let no_log_in = || {
        Operation::new("Always refuses: API keys are the only credentials")
            .about("There is no password and no second factor. Keys are made at `/v3/api_keys`.")
    };
    let one = |name| texts([name], true);
    let named = SchemaOf::Given(json!({
        "type": "object",
        "required": ["username", "user_id"],
        "properties": {"username": {"type": "string"}, "user_id": {"type": "integer"}},
    }));
    let timezone = || {
        Operation::new("Stores the time zone of the account")
            .about("Statistics and dates are in UTC whatever it is.")
            .body_as(one("timezone"))
            .answers_as(200, "The name of the time zone.", one("timezone"))
    };
    reference
        .on(
            "GET /v3/user/profile",
            Operation::new("Shows the profile of the account").answers_as(
                200,
                "The profile.",
                profile(true),
            ),
        )
        .on(
            "PATCH /v3/user/profile",
            Operation::new("Changes the profile of the account")
                .about("What is left out stays.")
                .limit(format!("A text has at most {LONGEST} bytes."))
                .body_as(profile(false))
                .answers_as(200, "The profile.", profile(true)),
        )
        .on(
            "GET /v3/user/account",
            Operation::new("Shows the kind and the reputation of the account")
                .answers::<AccountView>(200, "Kind and reputation."),
        )
        .on(
            "GET /v3/user/credits",
            Operation::new("Shows how much the account may send")
                .about("Without an allowance it is shown 2,147,483,647 credits a month.")
                .answers::<CreditsView>(200, "The allowance."),
        )
        .on(
            "GET /v3/user/cost",
            Operation::new("Estimates what the mail of the account costs")
                .about("At the prices of the service and of its relay that the operator has configured.")
                .extension()
                .query("start_date", values::day(), "The first day; the first of this month when it is left out.")
                .query("end_date", values::day(), "The last day; today when it is left out.")
                .limit("At most 400 days.")
                .answers::<CostView>(200, "Amounts in US dollars, as texts."),
        )
        .on(
            "GET /v3/user/sending_limits",
            Operation::new("Shows how much the relay takes")
                .about("The figures of Amazon SES, at most ten seconds old.")
                .extension()
                .answers::<SendingLimitsView>(200, "The limits."),
        )
        .on(
            "GET /v3/user/email",
            Operation::new("Shows the email address of the account").answers_as(
                200,
                "The address.",
                one("email"),
            ),
        )
        .on(
            "PUT /v3/user/email",
            Operation::new("Changes the email address of the account")
                .body_as(one("email"))
                .answers_as(200, "The address.", one("email")),
        )
        .on(
            "GET /v3/user/username",
            Operation::new("Shows the user name of the account").answers_as(
                200,
                "The name and the number.",
                named,
            ),
        )
        .on(
            "PUT /v3/user/username",
            Operation::new("Changes the user name of the account")
                .about("`on-behalf-of` names a subuser by it, from then on by the new one.")
                .body_as(one("username"))
                .answers_as(200, "The name.", one("username")),
        )
        .on(
            "GET /v3/user/timezone",
            Operation::new("Shows the time zone of the account").answers_as(
                200,
                "The name of the time zone.",
                one("timezone"),
            ),
        )
        .on_all(
            ["PUT /v3/user/timezone", "PATCH /v3/user/timezone"],
            timezone(),
        )
        .on_all(
            [
                "PUT /v3/user/password",
                "GET /v3/user/multifactor_authentication",
                "POST /v3/user/multifactor_authentication",
                "PATCH /v3/user/multifactor_authentication",
                "DELETE /v3/user/multifactor_authentication",
            ],
            no_log_in(),
        )
}
