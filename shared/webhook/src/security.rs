//! What secures the posts to a receiver: a signature of each, a token of the receiver's OAuth server,
//! or both. Event webhooks and security policies store it alike.

use http::HeaderMap;
use posthaste_model::{AccountId, Timestamp};

use crate::{
    OauthCredentials, Post, PostOutcome, Sealer, Tokens, Unopened, WebhookClient, WebhookKeyPair,
    oauth_place, signing_place,
};

/// The stored credentials for a token URL.
#[derive(Clone, Copy)]
pub struct SealedOauth<'a> {
    pub client_id: &'a str,
    /// Sealed; `None` where the owner set none.
    pub client_secret: Option<&'a str>,
    pub token_url: &'a str,
    pub scopes: &'a [String],
}

/// The stored security of an event webhook or a security policy.
#[derive(Clone, Copy)]
pub struct SealedSecurity<'a> {
    pub account: &'a AccountId,
    /// Of the webhook or policy: the secrets are sealed for it.
    pub id: &'a str,
    /// Sealed; `None` where posts are not signed.
    pub private_key: Option<&'a str>,
    /// `None` where posts carry no token.
    pub oauth: Option<SealedOauth<'a>>,
}

/// Why posts cannot be secured as their owner asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableSecurity {
    #[error(transparent)]
    Secret(#[from] Unopened),
    #[error("the token URL cannot be read: {0}")]
    TokenUrl(#[from] url::ParseError),
}

/// The opened security of one receiver's posts. Prints no secret.
#[derive(Clone, Debug)]
pub struct PostSecurity {
    id: String,
    signer: Option<WebhookKeyPair>,
    credentials: Option<OauthCredentials>,
}

impl PostSecurity {
    /// Opens what is stored.
    pub fn open(sealer: &Sealer, sealed: SealedSecurity<'_>) -> Result<Self, UnusableSecurity> {
        let SealedSecurity { account, id, .. } = sealed;
        let signer = sealed
            .private_key
            .map(|key| sealer.open_pair(&signing_place(account, &id), key));
        let credentials = sealed.oauth.map(|oauth| {
            let open = |secret| sealer.open_text(&oauth_place(account, &id), secret);
            let secret = oauth.client_secret.map(open).transpose()?;
            Ok::<_, UnusableSecurity>(OauthCredentials {
                client_id: oauth.client_id.to_owned(),
                client_secret: secret.unwrap_or_default(),
                token_url: oauth.token_url.parse()?,
                scopes: oauth.scopes.to_vec(),
            })
        });
        Ok(Self {
            id: id.to_owned(),
            signer: signer.transpose()?,
            credentials: credentials.transpose()?,
        })
    }

    /// The key pair, where posts are signed.
    pub fn signer(&self) -> Option<&WebhookKeyPair> {
        self.signer.as_ref()
    }

    /// Adds the signature of `body` at `now` to the headers of a post, where posts are signed.
    pub fn sign(&self, headers: &mut HeaderMap, now: Timestamp, body: &[u8]) {
        if let Some(pair) = &self.signer {
            pair.put_signature(headers, now, body);
        }
    }

    /// Makes one attempt, with a token where the receiver wants one.
    pub async fn post(&self, client: &WebhookClient, tokens: &Tokens, post: Post) -> PostOutcome {
        match &self.credentials {
            None => client.post(post).await,
            Some(credentials) => tokens.post(client, &self.id, credentials, post).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::Entropy;

    use super::*;
    use crate::{SIGNATURE, TIMESTAMP};

    fn sealer() -> Sealer {
        let secret = "1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE";
        secret.parse().unwrap()
    }

    #[test]
    fn what_is_stored_opens_for_its_own_id_alone_and_signs_at_the_time_of_the_attempt() {
        let entropy = Entropy::counting();
        let account = entropy.account_id();
        let (id, pair) = ("policy", WebhookKeyPair::generate(&entropy).unwrap());
        let place = signing_place(&account, &id);
        let key = sealer().seal(&entropy, &place, &pair.to_bytes()).unwrap();
        let place = oauth_place(&account, &id);
        let secret = sealer().seal(&entropy, &place, b"hush").unwrap();
        let sealed = SealedSecurity {
            account: &account,
            id,
            private_key: Some(&key),
            oauth: Some(SealedOauth {
                client_id: "client",
                client_secret: Some(&secret),
                token_url: "https://auth.example/token",
                scopes: &["a".to_owned()],
            }),
        };
        let open = PostSecurity::open(&sealer(), sealed).unwrap();
        assert!(!format!("{open:?}").contains("hush"));
        let credentials = open.credentials.clone().unwrap();
        assert_eq!(credentials.client_secret, "hush");
        let mut first = HeaderMap::new();
        open.sign(&mut first, Timestamp(7), b"body");
        assert_eq!(first[SIGNATURE], pair.sign("7", b"body"));
        let mut again = HeaderMap::new();
        open.sign(&mut again, Timestamp(8), b"body");
        assert_eq!(again[TIMESTAMP], "8");
        assert_ne!(first[SIGNATURE], again[SIGNATURE]);

        for (private_key, oauth) in [(Some(&*key), None), (None, sealed.oauth)] {
            let moved = SealedSecurity {
                id: "another",
                private_key,
                oauth,
                ..sealed
            };
            let error = PostSecurity::open(&sealer(), moved).unwrap_err();
            assert_eq!(error, UnusableSecurity::Secret(Unopened));
        }
        let none = SealedSecurity {
            private_key: None,
            oauth: None,
            ..sealed
        };
        let open = PostSecurity::open(&sealer(), none).unwrap();
        let mut headers = HeaderMap::new();
        open.sign(&mut headers, Timestamp(7), b"body");
        assert!(headers.is_empty() && open.signer().is_none());
    }
}
