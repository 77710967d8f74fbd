//! A private DynamoDB: embedded, in memory, reached by the SDK over loopback.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use posthaste_store::Store;
use tokio::net::TcpListener;

/// The name of the table that [`table`] makes.
pub const TABLE: &str = "posthaste";

/// A fresh, empty table. It lives as long as the test's runtime.
///
/// # Panics
/// When no embedded DynamoDB can be started.
pub async fn table() -> Store {
    let store = Store::open(&dynamodb().await, TABLE);
    store.create_table().await.expect("a table can be made");
    store
}

/// A fresh DynamoDB without tables, and the configuration that reaches it.
///
/// # Panics
/// When it cannot be started.
pub async fn dynamodb() -> SdkConfig {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound port has an address");
    let database = dynoxide::Database::memory().expect("a database in memory");
    tokio::spawn(async move {
        let forever = std::future::pending();
        // Ends with the runtime of the test; an error has no receiver.
        let _ = dynoxide::server::serve_with_shutdown(listener, database, forever).await;
    });
    let credentials = Credentials::new("test", "test", None, None, "testkit");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .endpoint_url(format!("http://{address}"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}
