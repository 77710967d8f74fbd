//! Names of AWS's resources, checked before anything is asked for under them.

use std::str::FromStr;

/// Name of a table or a bucket. DynamoDB's rule; S3's allows less.
#[derive(Debug)]
pub(crate) struct ResourceName(String);

/// URL of a queue.
#[derive(Debug)]
pub(crate) struct QueueUrl(String);

impl ResourceName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl QueueUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ResourceName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        if (3..=255).contains(&text.len()) && text.bytes().all(legal) {
            return Ok(Self(text.to_owned()));
        }
        Err("it is a name of 3 to 255 letters, digits, `_`, `.` and `-`")
    }
}

impl FromStr for QueueUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = ["https://", "http://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme));
        let has_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
        // All of it in visible ASCII: a URL has no space and no line end.
        if rest.is_some_and(has_host) && text.bytes().all(|b| b.is_ascii_graphic()) {
            return Ok(Self(text.to_owned()));
        }
        Err("it is the URL of a queue, which begins with https:// or http://")
    }
}
