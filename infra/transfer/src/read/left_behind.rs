//! What stays at the other service: counted, and listed with the reason.

use http::StatusCode;
use serde_json::Value;

use super::{AccountReader, list_in};
use crate::TransferError;
use crate::source::ReadFault;

/// A kind of things that stays.
struct LeftBehind {
    /// What they are called.
    what: &'static str,
    /// Where they are listed.
    path: &'static str,
    /// The keys that may hold the list; none where the answer is the list itself.
    lists: &'static [&'static str],
    /// A field and its value in what is listed with them and is none.
    except: Option<(&'static str, &'static str)>,
    reason: &'static str,
}

const MARKETING: &str = "marketing campaigns are not part of this service";

const LEFT_BEHIND: [LeftBehind; 11] = [
    LeftBehind {
        what: "teammates",
        path: "/v3/teammates?limit=500",
        // The schema has the one, its example the other (API facts, appendix A).
        lists: &["result", "results"],
        // The owner of the account is listed with them.
        except: Some(("user_type", "owner")),
        reason: "an account here has API keys only",
    },
    LeftBehind {
        what: "single sign-on integrations",
        path: "/v3/sso/integrations",
        lists: &[],
        except: None,
        reason: "an account here has API keys only",
    },
    LeftBehind {
        what: "IP addresses",
        path: "/v3/ips?limit=500",
        lists: &[],
        except: None,
        reason: "they belong to the service that they were leased from",
    },
    LeftBehind {
        what: "branded links",
        path: "/v3/whitelabel/links?limit=500",
        lists: &[],
        except: None,
        reason: "their records lead elsewhere: make them with POST /v3/whitelabel/links",
    },
    LeftBehind {
        what: "security policies of received mail",
        path: "/v3/user/webhooks/security/policies",
        lists: &["policies"],
        except: None,
        reason: "their secrets cannot be read: make them with POST /v3/user/webhooks/security/policies, and name them \
                 in the parse settings",
    },
    LeftBehind {
        what: "reverse DNS records",
        path: "/v3/whitelabel/ips?limit=500",
        lists: &[],
        except: None,
        reason: "they belong to the IP addresses",
    },
    LeftBehind {
        what: "entries of the IP allow list",
        path: "/v3/access_settings/whitelist",
        lists: &["result"],
        except: None,
        reason: "a wrong entry would lock the account out: add them by hand",
    },
    LeftBehind {
        what: "batches of scheduled mail that are paused or cancelled",
        path: "/v3/user/scheduled_sends",
        lists: &[],
        except: None,
        reason: "mail that is scheduled there is sent there",
    },
    LeftBehind {
        what: "marketing lists",
        path: "/v3/marketing/lists?page_size=500",
        lists: &["result"],
        except: None,
        reason: MARKETING,
    },
    LeftBehind {
        what: "marketing designs",
        path: "/v3/designs?page_size=100",
        lists: &["result"],
        except: None,
        reason: MARKETING,
    },
    LeftBehind {
        what: "single sends",
        path: "/v3/marketing/singlesends?page_size=100",
        lists: &["result"],
        except: None,
        reason: MARKETING,
    },
];

impl LeftBehind {
    /// How many the answer lists.
    fn count(&self, found: &Value) -> usize {
        let list = match found.as_array() {
            Some(list) if self.lists.is_empty() => list,
            _ => {
                let lists = self.lists.iter().map(|name| list_in(found, name));
                return lists.map(|list| self.count_in(list)).sum();
            }
        };
        self.count_in(list)
    }

    fn count_in(&self, list: &[Value]) -> usize {
        let is_one = |one: &&Value| self.except.is_none_or(|(name, value)| one[name] != value);
        list.iter().filter(is_one).count()
    }
}

impl AccountReader<'_> {
    /// Counts what stays at the other service.
    pub(super) async fn note_left_behind(&mut self) -> Result<(), TransferError> {
        for kind in &LEFT_BEHIND {
            let found = match self.source.value(kind.path).await {
                Ok(found) => found,
                Err(ReadFault::Folder(error)) => return Err(error.into()),
                // Not part of the plan, or of the key's scopes: whether there are any is unknown.
                Err(ReadFault::Refused(status, _)) if is_absent(status) => continue,
                Err(fault) => {
                    let why = format!("{} (not counted: {fault})", kind.reason);
                    self.report.refuse(kind.what, why);
                    continue;
                }
            };
            match kind.count(&found) {
                0 => {}
                count => {
                    let what = format!("{count} {}", kind.what);
                    self.report.refuse(what, kind.reason);
                }
            }
        }
        Ok(())
    }
}

fn is_absent(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND
            | StatusCode::FORBIDDEN
            | StatusCode::BAD_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_listed_is_counted_without_the_owner_of_the_account() {
        let kind = |what: &str| LEFT_BEHIND.iter().find(|kind| kind.what == what).unwrap();
        let owner = json!({"user_type": "owner"});
        let other = json!({"user_type": "teammate"});
        let policy = json!({"user_type": "owner"});
        for (what, found, want) in [
            ("teammates", json!({"result": [owner, other]}), 1),
            ("teammates", json!({"results": [other, owner, other]}), 2),
            ("teammates", json!([other]), 0),
            ("IP addresses", json!([{"ip": "192.0.2.1"}]), 1),
            ("IP addresses", json!({"result": [{}]}), 0),
            (
                "security policies of received mail",
                json!({"policies": [policy]}),
                1,
            ),
            ("marketing lists", json!(null), 0),
        ] {
            assert_eq!(kind(what).count(&found), want, "{what}: {found}");
        }
    }
}
