//! What a host stores beside the table and the bucket.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use posthaste_model::{AccountId, EmailAddress};

/// Erases an address of an account from what a host stores beside the table and the bucket, and returns how
/// much was erased: the mailbox of the local host.
#[derive(Clone)]
pub struct OtherStore(Arc<EraseAddress>);

type EraseAddress =
    dyn Fn(AccountId, EmailAddress) -> BoxFuture<'static, Result<usize, String>> + Send + Sync;

impl OtherStore {
    /// Wraps the function that erases. Its error is a sentence.
    pub fn new(
        erase: impl Fn(AccountId, EmailAddress) -> BoxFuture<'static, Result<usize, String>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(erase))
    }

    pub(crate) async fn erase(
        &self,
        account: &AccountId,
        address: EmailAddress,
    ) -> Result<usize, String> {
        (self.0)(account.clone(), address).await
    }
}

impl fmt::Debug for OtherStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtherStore(…)")
    }
}
