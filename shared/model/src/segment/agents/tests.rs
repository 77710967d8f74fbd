//! User agents as mail clients and browsers send them.

use super::*;

type Named = Option<&'static str>;

fn name(found: Option<(&'static str, &'static str)>) -> Named {
    found.map(|(_, name)| name)
}

/// A user agent, the client and the device that opened a mail with it, and the browser of a click.
const AGENTS: &[(&str, Named, Named, Named)] = &[
    (
        "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
        Some("Gmail"),
        Some("Webmail"),
        None,
    ),
    (
        "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
        Some("Yahoo Mail"),
        Some("Webmail"),
        None,
    ),
    (
        "Mozilla/5.0",
        Some("Apple Mail Privacy Protection"),
        None,
        None,
    ),
    (
        "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; ms-office; MSOffice 16)",
        Some("Outlook"),
        Some("Desktop"),
        Some("Internet Explorer"),
    ),
    (
        "Outlook-iOS/709.2226530.prod.iphone (3.24.0)",
        Some("Outlook Mobile"),
        Some("Phone"),
        None,
    ),
    (
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0",
        Some("Thunderbird"),
        Some("Desktop"),
        None,
    ),
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
        Some("Apple iPhone"),
        Some("Phone"),
        None,
    ),
    (
        "Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
        Some("Apple iPad"),
        Some("Tablet"),
        None,
    ),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
        Some("Apple Mail"),
        Some("Desktop"),
        None,
    ),
    (
        "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Mobile Safari/537.36",
        Some("Android"),
        Some("Phone"),
        Some("Chrome"),
    ),
    (
        "Mozilla/5.0 (Linux; Android 14; SM-X710; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Safari/537.36",
        Some("Android Tablet"),
        Some("Tablet"),
        Some("Chrome"),
    ),
    (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Mobile Safari/537.36",
        Some("Web Browser"),
        Some("Phone"),
        Some("Chrome"),
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36",
        Some("Web Browser"),
        Some("Webmail"),
        Some("Chrome"),
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36 Edg/128.0.0.0",
        Some("Web Browser"),
        Some("Webmail"),
        Some("Edge"),
    ),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
        Some("Web Browser"),
        Some("Webmail"),
        Some("Safari"),
    ),
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.0.0 Mobile/15E148 Safari/604.1",
        Some("Web Browser"),
        Some("Phone"),
        Some("Chrome"),
    ),
    (
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        Some("Web Browser"),
        Some("Webmail"),
        Some("Firefox"),
    ),
    (
        "Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
        Some("Web Browser"),
        Some("Phone"),
        Some("Samsung Internet"),
    ),
    (
        "Mozilla/5.0 (compatible; bingbot/2.0) Chrome/103.0 Safari/537.36",
        None,
        None,
        None,
    ),
    ("curl/8.5.0", None, None, None),
    ("", None, None, None),
];

#[test]
fn agents_have_the_client_device_and_browser_that_send_them() {
    for (agent, of_open, of_device, of_click) in AGENTS {
        assert_eq!(name(client(agent)), *of_open, "client of {agent}");
        assert_eq!(name(device(agent)), *of_device, "device of {agent}");
        assert_eq!(name(browser(agent)), *of_click, "browser of {agent}");
        let upper = agent.to_ascii_uppercase();
        assert_eq!(name(client(&upper)), *of_open, "client of {upper}");
    }
}

#[test]
fn every_name_of_a_client_is_that_of_an_agent_or_has_words() {
    let seen = |code: &str| {
        AGENTS
            .iter()
            .any(|(agent, ..)| client(agent).is_some_and(|one| one.0 == code))
    };
    for client in clients() {
        assert!(
            !client.words.is_empty() || seen(client.code),
            "{}",
            client.name
        );
    }
}

#[test]
fn an_agent_is_read_to_its_bound_and_no_further() {
    let after = |before: usize| format!("{}Thunderbird/1", "é".repeat(before / 2));
    let word = "thunderbird".len();
    let fits = (LONGEST - word) / 2 * 2;
    assert_eq!(name(client(&after(fits))), Some("Thunderbird"));
    assert_eq!(name(client(&after(fits + 2))), None);
}

#[test]
fn proxies_and_scanners_are_no_readers() {
    for agent in [
        "",
        "Mozilla/5.0",
        "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
        "YahooMailProxy; https://help.yahoo.com",
        "Mozilla/5.0 (compatible; bingbot/2.0)",
    ] {
        assert!(is_machine(agent), "{agent}");
    }
    for agent in [
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15",
    ] {
        assert!(!is_machine(agent), "{agent}");
    }
}
