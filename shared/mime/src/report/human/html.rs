//! The text of an HTML part.

/// The text of an HTML part: each tag is a space or a line end, styles and scripts are left out.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (shown, tag) = rest.split_at(at);
        text.push_str(shown);
        let name = tag.trim_start_matches(['<', '/']);
        let is = |names: &[&str]| {
            let same = |n: &&str| {
                name.get(..n.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(n))
            };
            names.iter().any(same)
        };
        let hidden = if is(&["style"]) {
            "</style"
        } else {
            "</script"
        };
        let from = if is(&["style", "script"]) && !tag.starts_with("</") {
            tag.find(hidden)
                .or_else(|| tag.find(&hidden.to_uppercase()))
        } else {
            Some(0)
        };
        let inline = is(&[
            "a ", "a>", "b>", "i>", "u>", "span", "font", "strong", "em>",
        ]);
        text.push(if inline { ' ' } else { '\n' });
        let Some(close) = from
            .and_then(|from| tag.get(from..))
            .and_then(|tag| tag.split_once('>'))
        else {
            return text;
        };
        rest = close.1;
    }
    text.push_str(rest);
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ];
    let text = named
        .iter()
        .fold(text, |text, (name, c)| text.replace(name, c));
    text.replace("&amp;", "&")
}
