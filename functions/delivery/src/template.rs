//! The template of a mail: its active version, compiled once and cached for a few seconds.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{AccountId, Millis, TemplateId};
use posthaste_render::{CompileError, Compiled, Generation, TemplateVersion};
use posthaste_store::{Store, StoreError};

/// Compiled templates by account and template id; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Templates(Arc<Cache<(AccountId, String), Arc<Compiled>>>);

/// Why a template is unavailable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTemplate {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The template was deleted after the mail was accepted. The text is for the dropped event.
    #[error("{0}")]
    Gone(String),
    /// Only templates that compile are stored: this release rejects what an earlier one accepted,
    /// and the mail waits for one that accepts it.
    #[error("template {0} was stored and cannot be compiled any more: {1}")]
    Uncompiled(String, CompileError),
}

impl Templates {
    /// The template of an account by its id.
    pub(crate) async fn compiled(
        &self,
        store: &Store,
        account: &AccountId,
        name: &str,
        now: Millis,
    ) -> Result<Arc<Compiled>, NoTemplate> {
        let asked = (account.clone(), name.to_owned());
        if let Some(known) = self.0.get(&asked, now) {
            return Ok(known);
        }
        let gone = |why: &str| NoTemplate::Gone(format!("template {name} {why}"));
        let id = TemplateId::parse(name).map_err(|_| gone("does not exist"))?;
        // A text may be replaced while it is read.
        let mut attempts = store.conflict_attempts();
        while attempts.next().await {
            let found = store.template(account, &id).await?;
            let template = found.ok_or_else(|| gone("does not exist any more"))?;
            let version = template.active();
            let version = version.ok_or_else(|| gone("has no active version any more"))?;
            let Some(texts) = store.texts(account, &version.texts).await? else {
                continue;
            };
            let size = texts.html_content.len() + texts.plain_content.len();
            let compiling = || {
                Compiled::compile(&TemplateVersion {
                    generation: Generation::of(&id),
                    subject: &version.subject,
                    html_content: &texts.html_content,
                    plain_content: &texts.plain_content,
                    generate_plain_content: version.generate_plain_content,
                })
            };
            let compiled = posthaste_offload::run(size, compiling).await;
            let compiled =
                Arc::new(compiled.map_err(|e| NoTemplate::Uncompiled(name.to_owned(), e))?);
            self.0.put_large(asked, Arc::clone(&compiled), size, now);
            return Ok(compiled);
        }
        Err(NoTemplate::Store(StoreError::Contended(name.to_owned())))
    }
}
