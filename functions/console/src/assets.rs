//! The stylesheet, the script and the icon: part of the program, each at an address that changes with its bytes, so that
//! browsers may hold it for good.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

const STYLE: &str = concat!(
    include_str!("../../../shared/http/ui/base.css"),
    include_str!("../ui/console.css")
);
const SCRIPT: &str = concat!(
    include_str!("../../../shared/http/ui/base.js"),
    include_str!("../ui/words.js"),
    include_str!("../ui/console.js"),
    include_str!("../ui/csv.js"),
    include_str!("../ui/template.js")
);
const ICON: &str = include_str!("../../../infra/mailbox/ui/icon.svg");

/// How long a browser may hold what is at an address: a year, the most that caches honour (RFC 9111).
const FOREVER: &str = "public, max-age=31536000, immutable";

/// A file that pages name.
pub(crate) struct Asset {
    /// Its name in the address, with a part of its hash.
    pub(crate) name: String,
    media: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(stem: &str, extension: &str, media: &'static str, text: &'static str) -> Self {
        let mut name = format!("{stem}-");
        for byte in Sha256::digest(text).iter().take(8) {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name.push('.');
        name.push_str(extension);
        Self { name, media, text }
    }
}

/// All of them.
pub(crate) struct Assets {
    pub(crate) style: Asset,
    pub(crate) script: Asset,
    pub(crate) icon: Asset,
}

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new("style", "css", "text/css; charset=utf-8", STYLE),
    script: Asset::new("script", "js", "text/javascript; charset=utf-8", SCRIPT),
    icon: Asset::new("icon", "svg", "image/svg+xml", ICON),
});

/// The file of this name.
pub(crate) fn named(name: &str) -> Option<Response> {
    let all = [&ASSETS.style, &ASSETS.script, &ASSETS.icon];
    let asset = all.into_iter().find(|asset| asset.name == name)?;
    let headers = [
        (header::CONTENT_TYPE, asset.media),
        (header::CACHE_CONTROL, FOREVER),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ];
    Some((headers, asset.text).into_response())
}
