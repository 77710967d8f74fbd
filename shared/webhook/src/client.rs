//! The HTTP client: one POST, limited in time and in the bytes read back.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::link::{UrlProblem, judge_host};
use crate::resolve::Judged;
use crate::{Guard, HttpAnswer, Names, PostOutcome, Refusal, RequestStage, RetryAfter};

/// Bounds of a request. `ClientConfig::default()` has those of SPEC.md's webhooks.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub guard: Guard,
    /// Look-up, TCP and TLS together.
    pub connect: Duration,
    /// From the start to the answer's head, sending included.
    pub total: Duration,
    /// How long the answer's body may take after its head.
    pub body: Duration,
    /// How many bytes of the answer's body are read.
    pub body_cap: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            guard: Guard::default(),
            connect: Duration::from_secs(5),
            total: Duration::from_secs(10),
            body: Duration::from_secs(2),
            // A token answer is the longest body that is used.
            body_cap: 16 * 1024,
        }
    }
}

/// The client could not be created: TLS has no root certificates, or the system no resources.
#[derive(Debug, thiserror::Error)]
#[error("the webhook client could not be made")]
pub struct ClientError(#[from] reqwest::Error);

/// One request to make. Does not print: the URL and the headers may hold secrets.
#[derive(Clone)]
pub struct Post {
    /// Read by [`crate::check_url`]; its `user:password@` becomes HTTP Basic.
    pub url: Url,
    /// An `Authorization` here overrides the one of the URL.
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Post({} bytes)", self.body.len())
    }
}

/// Makes requests. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct WebhookClient {
    http: reqwest::Client,
    guard: Arc<Guard>,
    total: Duration,
    body: Duration,
    body_cap: usize,
}

/// The head of a page's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHead {
    pub status: StatusCode,
    /// Where a redirect leads, as the answer has it. It is not followed.
    pub location: Option<String>,
}

impl WebhookClient {
    /// A client that resolves names with the system's resolver.
    pub fn open(config: ClientConfig) -> Result<Self, ClientError> {
        Self::with_names(config, Names::system())
    }

    /// A client that resolves names with `names`.
    pub fn with_names(config: ClientConfig, names: Names) -> Result<Self, ClientError> {
        let guard = Arc::new(config.guard);
        let judged = Judged {
            names,
            guard: guard.clone(),
        };
        let http = reqwest::Client::builder()
            .dns_resolver(judged)
            // A redirect or a proxy would connect to an address that the guard has not checked.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            // Nothing is decompressed, so a small body cannot become a large one.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .http1_only()
            // As SendGrid spells them: some receivers look headers up by letter case.
            .http1_title_case_headers()
            .tcp_nodelay(true)
            .connect_timeout(config.connect)
            // A function that sleeps between events resumes with dead connections.
            .pool_idle_timeout(Duration::from_secs(20))
            .pool_max_idle_per_host(8)
            .build()?;
        Ok(Self {
            http,
            guard,
            total: config.total,
            body: config.body,
            body_cap: config.body_cap,
        })
    }

    /// The guard in force, for [`crate::check_url`].
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Makes one attempt. Never waits longer than the configured times together.
    pub async fn post(&self, post: Post) -> PostOutcome {
        let start = Instant::now();
        let request = self.http.post(post.url.clone());
        let request = request.headers(post.headers).body(post.body);
        match self.send(&post.url, request).await {
            Err(outcome) => outcome,
            Ok(response) => PostOutcome::Answered(self.read(response, start).await),
        }
    }

    /// Asks for the head of a page (HEAD), under the same guard and within the same time.
    ///
    /// # Errors
    /// The outcome of a request without an answer; never [`PostOutcome::Answered`].
    pub async fn head(&self, url: Url, headers: HeaderMap) -> Result<PageHead, PostOutcome> {
        let request = self.http.head(url.clone()).headers(headers);
        let response = self.send(&url, request).await?;
        let location = response.headers().get(LOCATION);
        let location = location.and_then(|value| value.to_str().ok());
        Ok(PageHead {
            status: response.status(),
            location: location.map(str::to_owned),
        })
    }

    /// Sends a request to a URL that the guard permits; the error is the outcome without an answer.
    async fn send(
        &self,
        url: &Url,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, PostOutcome> {
        // A host given as an address never reaches the resolver, so it is checked here, each time.
        match judge_host(url, &self.guard) {
            Ok(()) => {}
            Err(UrlProblem::Address(refusal)) => return Err(PostOutcome::Refused(refusal)),
            Err(problem) => {
                return Err(PostOutcome::Unreachable {
                    stage: RequestStage::Name,
                    detail: problem.to_string(),
                });
            }
        }
        match tokio::time::timeout(self.total, request.send()).await {
            Err(_) => Err(PostOutcome::TimedOut),
            Ok(sent) => sent.map_err(failed),
        }
    }

    /// The status is final once the head arrives; a body that stalls or breaks changes nothing.
    async fn read(&self, mut response: reqwest::Response, start: Instant) -> HttpAnswer {
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| RetryAfter::read(value.to_str().ok()?));
        let status = response.status();
        let mut head = BytesMut::new();
        let fill = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                let room = self.body_cap.saturating_sub(head.len());
                head.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
                if chunk.len() >= room {
                    break;
                }
            }
        };
        // A timeout counts as the end of the body: the bytes so far are returned.
        let _late = tokio::time::timeout(self.body, fill).await;
        HttpAnswer {
            status,
            retry_after,
            body_head: head.freeze(),
            took_ms: start.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        }
    }
}

/// Classifies a failure of the HTTP client by where it happened.
fn failed(error: reqwest::Error) -> PostOutcome {
    // The URL may hold credentials.
    let error = error.without_url();
    if let Some(refusal) = causes(&error).find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return PostOutcome::Refused(*refusal);
    }
    if error.is_timeout() {
        return PostOutcome::TimedOut;
    }
    let stage = match () {
        () if error.is_dns() => RequestStage::Name,
        () if error.is_connect() => RequestStage::Connect,
        () => RequestStage::Exchange,
    };
    let detail = causes(&error).last().map(ToString::to_string);
    PostOutcome::Unreachable {
        stage,
        detail: detail.unwrap_or_else(|| error.to_string()),
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}
