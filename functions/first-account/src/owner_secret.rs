//! The secret of the owner, in JSON: `api_key`, and `console_link`, which opens one session of the console.

use posthaste_model::Entropy;
use posthaste_store::{ConsoleToken, Secret};
use serde::{Deserialize, Serialize};

/// What the owner of a new stack gets in, with.
pub(crate) struct OwnerSecret {
    pub(crate) key: Secret,
    /// The token of the link; none in a secret that is a key alone.
    pub(crate) link: Option<ConsoleToken>,
}

/// The members of the JSON.
#[derive(Deserialize, Serialize)]
struct OwnerSecretText {
    api_key: String,
    console_link: String,
}

impl OwnerSecret {
    /// A new key, and a link of an account that does not exist yet.
    pub(crate) fn generate(entropy: &Entropy) -> Self {
        Self {
            key: Secret::generate(entropy),
            link: Some(ConsoleToken::generate(&entropy.account_id(), entropy)),
        }
    }

    /// What is written into the secret, for a service at this address.
    pub(crate) fn text(&self, base: &str) -> String {
        let link = self.link.as_ref();
        let text = OwnerSecretText {
            api_key: self.key.expose().to_owned(),
            console_link: link.map(|link| link.link(base)).unwrap_or_default(),
        };
        // Two texts are always JSON.
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// Reads what is in the secret: the JSON, or a key alone, as an operator may write it. `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(key) = Secret::parse(text) {
            return Some(Self { key, link: None });
        }
        let held: OwnerSecretText = serde_json::from_str(text).ok()?;
        let (_, token) = held.console_link.rsplit_once('=')?;
        Some(Self {
            key: Secret::parse(&held.api_key)?,
            link: Some(ConsoleToken::parse(token)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let new = OwnerSecret::generate(&Entropy::counting());
        let text = new.text("https://post.example/");
        let begin = r#""console_link":"https://post.example/console/sign-in?token="#;
        assert!(text.contains(begin), "{text}");
        let read = OwnerSecret::parse(&text).unwrap();
        assert_eq!(read.key.expose(), new.key.expose());
        let token = |secret: &OwnerSecret| secret.link.as_ref().unwrap().expose().to_owned();
        assert_eq!(token(&read), token(&new));
        let alone = OwnerSecret::parse(new.key.expose()).unwrap();
        assert!(alone.link.is_none());
        let broken = text.replace("token=", "token=x");
        for other in ["", "{}", "hello", &broken, &text[1..]] {
            assert!(OwnerSecret::parse(other).is_none(), "{other}");
        }
    }
}
