//! Storage of large bodies and raw inbound mail: S3 in the cloud, a folder locally.
//!
//! Callers choose the names, `<kind>/<account>/<id>`, which never contain external input.

use std::path::Path as FsPath;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};

/// The blob storage. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blob(Arc<Backend>);

/// The client of a bucket, or which of its settings cannot be read.
type BucketClient = Result<AmazonS3, String>;

#[derive(Debug)]
enum Backend {
    Open(Box<dyn ObjectStore>),
    /// Lazy: the client reads the system's certificates, which takes longer than a function needs
    /// to start, and most requests never use it.
    Bucket(LazyLock<BucketClient, Box<dyn FnOnce() -> BucketClient + Send>>),
}

/// The blob could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no blob {0}")]
    Missing(String),
    #[error("blobs cannot be reached: {0}")]
    Unreachable(String),
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { path, .. } => Self::Missing(path),
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl Blob {
    /// A folder, created if it is missing; stored blobs are synced to disk.
    pub fn folder(root: &FsPath) -> Result<Self, BlobError> {
        let unreachable = |e: std::io::Error| BlobError::Unreachable(e.to_string());
        std::fs::create_dir_all(root).map_err(unreachable)?;
        let folder = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
        Ok(Self::open(folder))
    }

    /// Memory only, for tests and `--memory`.
    pub fn memory() -> Self {
        Self::open(object_store::memory::InMemory::new())
    }

    fn open(store: impl ObjectStore) -> Self {
        Self(Arc::new(Backend::Open(Box::new(store))))
    }

    fn store(&self) -> Result<&dyn ObjectStore, BlobError> {
        match &*self.0 {
            Backend::Open(store) => Ok(store.as_ref()),
            Backend::Bucket(bucket) => match &**bucket {
                Ok(bucket) => Ok(bucket),
                Err(why) => Err(BlobError::Unreachable(why.clone())),
            },
        }
    }

    /// An S3 bucket, connected on first use. `setting` returns the AWS settings by their variables'
    /// names (`AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, …); one that cannot be read
    /// makes every call fail.
    pub fn bucket(bucket: &str, setting: impl Fn(&str) -> Option<String>) -> Self {
        // If a bucket hangs, a function must have the time to report it: it is cut off at 29
        // seconds.
        let timeouts = ClientOptions::new()
            .with_connect_timeout(Duration::from_secs(3))
            .with_read_timeout(Duration::from_secs(10))
            .with_timeout(Duration::from_secs(20));
        let retries = RetryConfig {
            retry_timeout: Duration::from_secs(12),
            ..RetryConfig::default()
        };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_client_options(timeouts.clone())
            .with_retry(retries);
        if let Some(region) = setting("AWS_REGION") {
            builder = builder.with_region(region);
        }
        if let (Some(id), Some(secret)) = (
            setting("AWS_ACCESS_KEY_ID"),
            setting("AWS_SECRET_ACCESS_KEY"),
        ) {
            builder = builder
                .with_access_key_id(id)
                .with_secret_access_key(secret);
        }
        if let Some(token) = setting("AWS_SESSION_TOKEN") {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) =
            setting("AWS_ENDPOINT_URL_S3").or_else(|| setting("AWS_ENDPOINT_URL"))
        {
            // Only emulators have an endpoint setting, and they may use plain HTTP.
            builder = builder
                .with_endpoint(endpoint)
                .with_client_options(timeouts.with_allow_http(true));
        }
        let make = move || builder.build().map_err(|e| e.to_string());
        Self(Arc::new(Backend::Bucket(LazyLock::new(Box::new(make)))))
    }

    /// Stores bytes under a name; durable once this returns.
    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<(), BlobError> {
        self.store()?.put(&Path::from(name), bytes.into()).await?;
        Ok(())
    }

    /// The bytes stored under a name.
    ///
    /// # Errors
    /// When there are none, or the storage cannot be reached.
    pub async fn get(&self, name: &str) -> Result<Bytes, BlobError> {
        Ok(self.store()?.get(&Path::from(name)).await?.bytes().await?)
    }

    /// Whether anything is stored under a name.
    pub async fn has(&self, name: &str) -> Result<bool, BlobError> {
        match self.store()?.head(&Path::from(name)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// The first names within a folder (`waiting/relay`) in their order, at most `most`.
    pub async fn list(&self, folder: &str, most: usize) -> Result<Vec<String>, BlobError> {
        let listed = self.store()?.list(Some(&Path::from(folder)));
        let listed = match &*self.0 {
            // In order, and each thousand costs a call.
            Backend::Bucket(_) => listed.take(most),
            Backend::Open(_) => listed.take(usize::MAX),
        };
        let names = listed.map_ok(|found| found.location.to_string());
        let mut names: Vec<String> = names.try_collect().await?;
        names.sort_unstable();
        names.truncate(most);
        Ok(names)
    }

    /// The names of the folders directly within a folder, in their order: `relay` for the folder `waiting` of the name
    /// `waiting/relay/1`.
    pub async fn folders(&self, folder: &str) -> Result<Vec<String>, BlobError> {
        let path = Path::from(folder);
        let listed = self.store()?.list_with_delimiter(Some(&path)).await?;
        let names = listed.common_prefixes.iter();
        let names = names.filter_map(|path| path.parts().next_back());
        let mut names: Vec<String> = names.map(|part| part.as_ref().to_owned()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Deletes a name; a no-op when it does not exist.
    pub async fn delete(&self, name: &str) -> Result<(), BlobError> {
        match self.store()?.delete(&Path::from(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_kept_is_found_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        for blob in [Blob::folder(folder.path()).unwrap(), Blob::memory()] {
            blob.put("mail/abcdefghij/x", Bytes::from_static(b"body"))
                .await
                .unwrap();
            assert_eq!(blob.get("mail/abcdefghij/x").await.unwrap(), "body");
            assert!(blob.has("mail/abcdefghij/x").await.unwrap());
            assert!(!blob.has("mail/abcdefghij/y").await.unwrap());
            blob.delete("mail/abcdefghij/x").await.unwrap();
            blob.delete("mail/abcdefghij/x").await.unwrap();
            assert!(matches!(
                blob.get("mail/abcdefghij/x").await,
                Err(BlobError::Missing(_))
            ));
        }
    }

    #[tokio::test]
    async fn a_folder_lists_its_own_names_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for blob in [Blob::folder(folder.path()).unwrap(), Blob::memory()] {
            let listed = async |most| blob.list("waiting/a", most).await.unwrap();
            assert!(listed(10).await.is_empty());
            for name in ["waiting/a/2", "waiting/a/1", "waiting/ab/3", "mail/a/4"] {
                blob.put(name, Bytes::new()).await.unwrap();
            }
            assert_eq!(listed(10).await, ["waiting/a/1", "waiting/a/2"]);
            assert_eq!(blob.folders("waiting").await.unwrap(), ["a", "ab"]);
            assert!(blob.folders("mail/a").await.unwrap().is_empty());
            assert!(blob.folders("none").await.unwrap().is_empty());
            assert_eq!(listed(1).await, ["waiting/a/1"]);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Blob::folder(&file.path().join("under")).is_err());
    }
}
