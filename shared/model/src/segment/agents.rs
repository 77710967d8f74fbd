//! Mail clients, devices and browsers by the words in their user agents.
//!
//! A rule is a word that an agent contains, in the order of the table: each agent names its ancestors too, so the
//! narrowest comes first. A general parser would add versions and models, which no statistic shows, for 0.1 seconds
//! and 27 MB at the start of each process (`ua-parser` with its 210 KB of rules).

/// The bytes of a user agent that are looked at.
const LONGEST: usize = 512;

/// The types of mail clients in `/v3/clients/{client_type}/stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientType {
    Phone,
    Tablet,
    Webmail,
    Desktop,
}

impl ClientType {
    /// The type of this name in the path.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "phone" => Some(Self::Phone),
            "tablet" => Some(Self::Tablet),
            "webmail" => Some(Self::Webmail),
            "desktop" => Some(Self::Desktop),
            _ => None,
        }
    }

    /// The device that clients of the type run on.
    fn device(self) -> (&'static str, &'static str) {
        let [desktop, webmail, phone, tablet] = DEVICES;
        match self {
            Self::Desktop => desktop,
            Self::Webmail => webmail,
            Self::Phone => phone,
            Self::Tablet => tablet,
        }
    }
}

/// The devices that the v3 API has beside `Other`.
pub(super) const DEVICES: [(&str, &str); 4] = [
    ("de", "Desktop"),
    ("we", "Webmail"),
    ("ph", "Phone"),
    ("ta", "Tablet"),
];

/// A mail client, and the words one of which its user agent has.
struct MailClient {
    code: &'static str,
    name: &'static str,
    kind: Option<ClientType>,
    words: &'static [&'static str],
}

const fn named(
    code: &'static str,
    name: &'static str,
    kind: ClientType,
    words: &'static [&'static str],
) -> MailClient {
    MailClient {
        code,
        name,
        kind: Some(kind),
        words,
    }
}

/// Clients that name themselves: the proxies of Gmail and Yahoo, which fetch pictures for web pages and apps alike, and
/// programs.
const NAMED: &[MailClient] = &[
    named(
        "gm",
        "Gmail",
        ClientType::Webmail,
        &["googleimageproxy", "ggpht.com"],
    ),
    named("yh", "Yahoo Mail", ClientType::Webmail, &["yahoomailproxy"]),
    named(
        "om",
        "Outlook Mobile",
        ClientType::Phone,
        &["outlook-ios", "outlook-android", "outlookmobile"],
    ),
    named(
        "ou",
        "Outlook",
        ClientType::Desktop,
        &["outlook", "ms-office", "msoffice"],
    ),
    named("tb", "Thunderbird", ClientType::Desktop, &["thunderbird"]),
    named("ai", "Airmail", ClientType::Desktop, &["airmail"]),
    named(
        "nt",
        "Notes",
        ClientType::Desktop,
        &["lotus-notes", "lotus notes", "hcl notes"],
    ),
];

const ANDROID: MailClient = named("an", "Android", ClientType::Phone, &[]);
const ANDROID_TABLET: MailClient = named("at", "Android Tablet", ClientType::Tablet, &[]);
const IPHONE: MailClient = named("ip", "Apple iPhone", ClientType::Phone, &[]);
const IPAD: MailClient = named("ia", "Apple iPad", ClientType::Tablet, &[]);
const APPLE_MAIL: MailClient = named("am", "Apple Mail", ClientType::Desktop, &[]);
/// Apple's proxy, which fetches the pictures of every mail and says nothing of the device.
const APPLE_PRIVACY: MailClient = MailClient {
    code: "pr",
    name: "Apple Mail Privacy Protection",
    kind: None,
    words: &[],
};
/// A web page in a browser: whose page it is, its user agent does not say.
const WEB_BROWSER: MailClient = named("wb", "Web Browser", ClientType::Webmail, &[]);

/// Clients that are known by what their user agent lacks.
const INFERRED: [MailClient; 7] = [
    ANDROID,
    ANDROID_TABLET,
    IPHONE,
    IPAD,
    APPLE_MAIL,
    APPLE_PRIVACY,
    WEB_BROWSER,
];

/// Browsers: code, name, and the words one of which the user agent has.
const BROWSERS: [(&str, &str, &[&str]); 11] = [
    ("ed", "Edge", &["edg/", "edge/", "edga/", "edgios/"]),
    ("op", "Opera", &["opr/", "opt/", "opera", "opios/"]),
    ("sa", "Samsung Internet", &["samsungbrowser/"]),
    ("vi", "Vivaldi", &["vivaldi/"]),
    ("ya", "Yandex", &["yabrowser/"]),
    ("uc", "UC Browser", &["ucbrowser/"]),
    ("dd", "DuckDuckGo", &["duckduckgo/", "ddg/"]),
    ("ff", "Firefox", &["firefox/", "fxios/"]),
    ("ch", "Chrome", &["chrome/", "chromium/", "crios/"]),
    ("ie", "Internet Explorer", &["msie ", "trident/"]),
    ("sf", "Safari", &["safari/"]),
];

/// Words in the user agents of programs that fetch pictures for people: privacy proxies and
/// scanners. Apple's proxy sends the bare first word of a browser.
const MACHINES: [&str; 8] = [
    "googleimageproxy",
    "yahoomailproxy",
    "bot",
    "crawler",
    "spider",
    "scanner",
    "preview",
    "curl/",
];

/// What Apple's proxy sends.
const BARE: &str = "mozilla/5.0";

pub(super) fn client_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    clients().map(|client| (client.code, client.name))
}

pub(super) fn browser_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    BROWSERS.into_iter().map(|(code, name, _)| (code, name))
}

fn clients() -> impl Iterator<Item = &'static MailClient> {
    NAMED.iter().chain(&INFERRED)
}

pub(super) fn type_of_client(code: &str) -> Option<ClientType> {
    clients().find(|client| client.code == code)?.kind
}

/// Whether a program, not a person, opened the mail or followed the link.
pub fn is_machine(agent: &str) -> bool {
    let agent = agent.to_ascii_lowercase();
    agent.is_empty() || agent == BARE || MACHINES.iter().any(|word| agent.contains(word))
}

pub(super) fn client(agent: &str) -> Option<(&'static str, &'static str)> {
    found_client(&read(agent)).map(|client| (client.code, client.name))
}

/// A client in a browser runs on what the browser runs on; on a computer that is a web page.
pub(super) fn device(agent: &str) -> Option<(&'static str, &'static str)> {
    let agent = read(agent);
    let client = found_client(&agent)?;
    let kind = match client.code {
        "wb" => handheld(&agent).or(client.kind),
        _ => client.kind,
    };
    kind.map(ClientType::device)
}

pub(super) fn browser(agent: &str) -> Option<(&'static str, &'static str)> {
    let agent = read(agent);
    if is_machine(&agent) {
        return None;
    }
    found_browser(&agent)
}

/// The beginning of a user agent, in lower case.
fn read(agent: &str) -> String {
    let mut end = agent.len().min(LONGEST);
    while !agent.is_char_boundary(end) {
        end -= 1;
    }
    agent.get(..end).unwrap_or_default().to_ascii_lowercase()
}

fn has(agent: &str, words: &[&str]) -> bool {
    words.iter().any(|word| agent.contains(word))
}

fn found_browser(agent: &str) -> Option<(&'static str, &'static str)> {
    let mut known = BROWSERS.into_iter();
    let known = known.find(|(_, _, words)| has(agent, words));
    known.map(|(code, name, _)| (code, name))
}

fn handheld(agent: &str) -> Option<ClientType> {
    if has(agent, &["iphone", "ipod"]) {
        return Some(ClientType::Phone);
    }
    if agent.contains("ipad") {
        return Some(ClientType::Tablet);
    }
    // Chrome on Android says "Mobile" on phones only.
    match (agent.contains("android"), agent.contains("mobile")) {
        (true, true) => Some(ClientType::Phone),
        (true, false) => Some(ClientType::Tablet),
        (false, _) => None,
    }
}

fn found_client(agent: &str) -> Option<&'static MailClient> {
    if agent == BARE {
        return Some(&APPLE_PRIVACY);
    }
    if let Some(client) = NAMED.iter().find(|client| has(agent, client.words)) {
        return Some(client);
    }
    if is_machine(agent) {
        return None;
    }
    // A view of the system within an app: the app of a mail client has no name of its own there.
    let is_view = if agent.contains("android") {
        agent.contains("; wv)")
    } else {
        agent.contains("applewebkit/") && found_browser(agent).is_none()
    };
    if !is_view {
        return found_browser(agent).map(|_| &WEB_BROWSER);
    }
    match handheld(agent) {
        Some(ClientType::Phone) if agent.contains("android") => Some(&ANDROID),
        Some(ClientType::Tablet) if agent.contains("android") => Some(&ANDROID_TABLET),
        Some(ClientType::Phone) => Some(&IPHONE),
        Some(ClientType::Tablet) => Some(&IPAD),
        _ => agent.contains("macintosh").then_some(&APPLE_MAIL),
    }
}

#[cfg(test)]
mod tests;
