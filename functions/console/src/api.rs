//! What the pages read: answers of `/v3` to the reader of the page, without a way through the network.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use posthaste_http::BrowserRequest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tower::ServiceExt as _;
use url::form_urlencoded;

use crate::texts;

/// The longest answer that a page reads. The longest of a list has 1,000 mails of some hundred bytes each.
const LONGEST_ANSWER: usize = 8 << 20;

/// The calls of the API, behind their guards.
#[derive(Clone)]
pub(crate) struct ApiRouter(Router);

impl ApiRouter {
    pub(crate) fn new(router: Router) -> Self {
        Self(router)
    }

    /// Reads as the caller of this request.
    pub(crate) fn for_reader(&self, request: BrowserRequest) -> ApiReader {
        ApiReader {
            router: self.0.clone(),
            request: Arc::new(request),
        }
    }
}

/// The API as one caller is answered.
#[derive(Clone)]
pub(crate) struct ApiReader {
    router: Router,
    request: Arc<BrowserRequest>,
}

/// Why a page cannot show an answer.
#[derive(Clone, Debug)]
pub(crate) struct ReadError {
    pub(crate) status: StatusCode,
    /// In the API's own words.
    pub(crate) message: String,
}

/// A text in the path of an address.
pub(crate) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

impl ReadError {
    /// Whether the key lacks the scope of the call: who gets to a page at all is not suspended and on the allow list.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.status == StatusCode::FORBIDDEN
    }

    /// Why there is no answer; of a call that the key may not make, which scope it lacks.
    pub(crate) fn without(self, scope: &str) -> String {
        if self.is_forbidden() {
            texts::missing_scope(scope)
        } else {
            self.message
        }
    }

    fn broken() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: texts::UNREADABLE.to_owned(),
        }
    }
}

/// The place in the `Link` header to the next page.
pub(crate) fn next_place(headers: &HeaderMap) -> Option<String> {
    let link = headers.get(header::LINK)?.to_str().ok()?;
    let (address, _) = link.strip_prefix('<')?.split_once(">; rel=\"next\"")?;
    let (_, query) = address.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, after) = pairs.find(|(name, _)| name == "after")?;
    Some(after.into_owned())
}

#[derive(Deserialize)]
struct ErrorAnswer {
    errors: Vec<ErrorMessage>,
}

#[derive(Deserialize)]
struct ErrorMessage {
    message: String,
}

impl ApiReader {
    /// What `GET` of this path answers.
    ///
    /// # Errors
    /// The API's refusal.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ReadError> {
        self.get_with_headers(path).await.map(|(_, answer)| answer)
    }

    /// The same with the headers of the answer.
    pub(crate) async fn get_with_headers<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<(HeaderMap, T), ReadError> {
        let request = self.request.read(path);
        self.answer_to(request).await
    }

    /// What `POST` of this JSON answers, for a call that renders and changes nothing.
    ///
    /// # Errors
    /// The API's refusal; also where the form was one of another origin.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        json: &str,
    ) -> Result<T, ReadError> {
        let request = self.request.post(path, json.to_owned());
        self.answer_to(request).await.map(|(_, answer)| answer)
    }

    /// The bytes that `GET` of this path answers.
    ///
    /// # Errors
    /// The API's refusal.
    pub(crate) async fn get_bytes(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let request = self.request.read(path);
        self.body_of_answer(request).await.map(|(_, body)| body)
    }

    async fn answer_to<T: DeserializeOwned>(
        &self,
        request: Option<Request>,
    ) -> Result<(HeaderMap, T), ReadError> {
        let (headers, body) = self.body_of_answer(request).await?;
        match serde_json::from_slice(&body) {
            Ok(answer) => Ok((headers, answer)),
            Err(error) => {
                tracing::error!(%error, "a page cannot read an answer of the API: {error}");
                Err(ReadError::broken())
            }
        }
    }

    async fn body_of_answer(
        &self,
        request: Option<Request>,
    ) -> Result<(HeaderMap, Vec<u8>), ReadError> {
        let request = request.ok_or_else(ReadError::broken)?;
        let Ok(answer) = self.router.clone().oneshot(request).await;
        let status = answer.status();
        let headers = answer.headers().clone();
        let body = body_of(answer).await?;
        if status.is_success() {
            return Ok((headers, body));
        }
        let said: Option<ErrorAnswer> = serde_json::from_slice(&body).ok();
        let messages = said.into_iter().flat_map(|said| said.errors);
        let messages: Vec<String> = messages.map(|error| error.message).collect();
        Err(ReadError {
            status,
            message: messages.join("; "),
        })
    }
}

async fn body_of(answer: Response) -> Result<Vec<u8>, ReadError> {
    match to_bytes(answer.into_body(), LONGEST_ANSWER).await {
        Ok(body) => Ok(body.into()),
        Err(error) => {
            tracing::error!(%error, "an answer of the API is cut off: {error}");
            Err(ReadError::broken())
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_link_to_the_next_page_has_its_place() {
        let next = |link: &'static str| {
            let link = (header::LINK, HeaderValue::from_static(link));
            next_place(&HeaderMap::from_iter([link]))
        };
        let link =
            r#"<http://h/v3/x?email=a%2Cb&limit=50&after=0123456789%23a%2Bb%40c.de>; rel="next""#;
        assert_eq!(next(link).as_deref(), Some("0123456789#a+b@c.de"));
        assert_eq!(
            next(r#"<http://h/v3/x?limit=50&offset=9>; rel="next""#),
            None
        );
        assert_eq!(next(r#"<http://h/v3/x?after=9>; rel="last""#), None);
        assert_eq!(next_place(&HeaderMap::new()), None);
    }
}
