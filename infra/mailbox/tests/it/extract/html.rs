//! The forms of the mails in HTML.

use super::layouts::{anchor, escaped};
use super::mails::Content;

fn footer(content: &Content<'_>) -> String {
    let style = "color:#8898aa;font-size:12px";
    let words = content.words;
    let links = ["notyou", "help", "privacy", "unsubscribe"]
        .map(|name| anchor(words.get(name), content.url(name), style))
        .join(" &middot; ");
    let lines: Vec<_> = content
        .small_print
        .iter()
        .map(|line| format!("<p style=\"{style}\">{}</p>", escaped(line)))
        .collect();
    let social = content
        .others
        .iter()
        .filter(|other| matches!(other.label.as_str(), "Instagram" | "App Store"))
        .map(|other| {
            format!(
                "<a href=\"{}\"><img src=\"https://cdn.lumen.example/i/204816.png\" alt=\"{}\" width=\"24\"></a>",
                escaped(&other.url),
                other.label
            )
        })
        .collect::<String>();
    format!("<div>{}{links}<br>{social}</div>", lines.join("\n"))
}

pub(super) fn card(content: &Content<'_>) -> String {
    let words = content.words;
    let mut body = format!(
        "<!DOCTYPE html>\n<html><head><title>{0}</title><style>.c {{ color: #112233; }}</style></head>\n\
         <body bgcolor=\"#F6F9FC\">\n<div style=\"max-width:600px;margin:0 auto\">\n\
         <a href=\"{2}\"><img src=\"https://cdn.lumen.example/logo-123456.png\" alt=\"Lumen\" width=\"120\"></a>\n\
         <h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(content.lead("subject")),
        escaped(words.get("hello")),
        escaped(&content.others[0].url),
    );
    if let Some(code) = content.shown() {
        body += &format!(
            "<p>{}</p>\n<div style=\"font-size:32px;letter-spacing:8px;background:#eef0f2\">{code}</div>\n<p>{}</p>\n",
            escaped(content.lead("code")),
            escaped(words.get("expires")),
        );
    }
    if let Some(link) = &content.link {
        body += &format!(
            "<p>{}</p>\n<p>{}</p>\n<p>{}<br>\n{}</p>\n",
            escaped(content.lead("link")),
            anchor(
                content.lead("button"),
                link,
                "background:#635bff;color:#ffffff;padding:12px 24px"
            ),
            escaped(words.get("fallback")),
            anchor(link, link, "color:#635bff"),
        );
    }
    body += &format!(
        "<p>{}</p>\n{}\n</div></body></html>",
        escaped(words.get("ignore")),
        footer(content)
    );
    body
}

fn row(cells: &str) -> String {
    format!("<tr><td align=\"center\" style=\"padding:0 48px\">{cells}</td></tr>\n")
}

pub(super) fn table(content: &Content<'_>) -> String {
    let words = content.words;
    let mut rows = row(&anchor(
        words.get("view"),
        content.url("view"),
        "font-size:10px",
    ));
    rows += &row(&format!("<h2>{}</h2>", escaped(content.lead("subject"))));
    if let Some(code) = content.shown() {
        rows += &row(&escaped(content.lead("code")));
        rows += &row(&format!(
            "<table bgcolor=\"#000000\"><tr><td><b>&nbsp;{code}&nbsp;</b></td></tr></table>"
        ));
        rows += &row(&escaped(words.get("expires")));
    }
    if let Some(link) = &content.link {
        rows += &row(&escaped(content.lead("link")));
        rows += &row(&anchor(
            content.lead("button"),
            link,
            "display:inline-block",
        ));
    }
    rows += &row(&escaped(words.get("ignore")));
    rows += &row(&footer(content));
    format!("<html><body><table width=\"600\" cellpadding=\"0\">\n{rows}</table></body></html>")
}

pub(super) fn preheader(content: &Content<'_>) -> String {
    let words = content.words;
    let hidden = match content.shown() {
        Some(code) => content.inline(code),
        None => content.lead("link").to_owned(),
    };
    let mut body = format!(
        "<html><body><div style=\"display:none;max-height:0\">{}&#847;&zwnj;&nbsp;&#847;&zwnj;&nbsp;</div>\n\
         <p>{}</p>",
        escaped(&hidden),
        escaped(words.get("hello"))
    );
    if let Some(code) = content.shown() {
        body += &format!("<p>{}</p><h3>{code}</h3>", escaped(content.lead("code")));
    }
    if let Some(link) = &content.link {
        let label = format!("{} →", content.lead("button"));
        body += &format!(
            "<p>{}</p>{}",
            escaped(content.lead("link")),
            anchor(&label, link, "color:#123456")
        );
    }
    body + &format!(
        "<p>{}</p>{}</body></html>",
        escaped(words.get("bye")),
        footer(content)
    )
}

/// One cell for each character.
pub(super) fn cells(content: &Content<'_>) -> String {
    let words = content.words;
    let mut body = format!("<html><body><p>{}</p>\n", escaped(words.get("hello")));
    if let Some(code) = content.shown() {
        let cells: Vec<_> = code
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| format!("<td style=\"border:1px solid #333333\">{c}</td>"))
            .collect();
        body += &format!(
            "<p>{}</p>\n<table><tbody><tr>\n{}\n</tr></tbody></table>\n<p>{}</p>",
            escaped(content.lead("code")),
            cells.join("\n"),
            escaped(words.get("expires")),
        );
    }
    if let Some(link) = &content.link {
        body += &format!(
            "<p>{}</p>\n<center>{}</center>",
            escaped(content.lead("link")),
            anchor(content.lead("button"), link, "font-weight:600"),
        );
    }
    body + &format!(
        "<p>{}</p>{}</body></html>",
        escaped(words.get("ignore")),
        footer(content)
    )
}

pub(super) fn bold(content: &Content<'_>) -> String {
    let words = content.words;
    let mut body = format!("<html><body><p>{}</p><p>", escaped(words.get("hello")));
    if let Some(code) = content.shown() {
        let strong = format!("<strong>{code}</strong>");
        body += &format!(
            "{} {} ",
            content.inline(&strong),
            escaped(words.get("expires"))
        );
    }
    if let Some(link) = &content.link {
        body += &format!(
            "{} {}. {} <span>{}</span>",
            escaped(content.lead("link")),
            anchor(content.lead("button"), link, ""),
            escaped(words.get("fallback")),
            escaped(link),
        );
    }
    body + &format!(
        "</p><p>{}</p>{}</body></html>",
        escaped(words.get("ignore")),
        footer(content)
    )
}

pub(super) fn preformatted(content: &Content<'_>) -> String {
    let words = content.words;
    let mut body = format!(
        "<div class=\"mail\" id=\"m-204816\"><p>{}</p>",
        escaped(words.get("hello"))
    );
    if let Some(code) = content.shown() {
        body += &format!(
            "<div>{}</div><pre style=\"background:#f4f4f4\"><code>\n{code}\n</code></pre><div>{}</div>",
            escaped(content.lead("code")),
            escaped(words.get("expires")),
        );
    }
    if let Some(link) = &content.link {
        body += &format!(
            "<div>{}</div><div><a href='{}'><img alt='{}' src='https://cdn.lumen.example/b.png'></a></div>",
            escaped(content.lead("link")),
            escaped(link),
            content.lead("button").replace('\'', "&#39;"),
        );
    }
    body + &format!(
        "<div>{}</div>{}</div>",
        escaped(words.get("ignore")),
        footer(content)
    )
}

pub(super) fn minified(content: &Content<'_>) -> String {
    let words = content.words;
    let mut body = format!(
        "<!doctype html><html><head><meta name=x-apple-disable-message-reformatting><style>a{{color:#482910}}</style>\
         </head><body><!--[if mso]><table width=600><tr><td>482910<![endif]--><table role=presentation><tr><td>{}</td></tr>",
        escaped(words.get("hello"))
    );
    if let Some(code) = content.shown() {
        let middle = code.chars().count() / 2;
        let (left, right): (String, String) = (
            code.chars().take(middle).collect(),
            code.chars().skip(middle).collect(),
        );
        body += &format!(
            "<tr><td>{}</td></tr><tr><td><span>{left}</span><span>{right}</span></td></tr><tr><td>{}</td></tr>",
            escaped(content.lead("code")),
            escaped(words.get("expires")),
        );
    }
    if let Some(link) = &content.link {
        body += &format!(
            "<tr><td>{}</td></tr><tr><td><a href={}><b>{}</b></a></td></tr>",
            escaped(content.lead("link")),
            escaped(link),
            escaped(content.lead("button")),
        );
    }
    body + &format!(
        "<tr><td>{}</td></tr><tr><td>{}</td></tr></table></body></html>",
        escaped(words.get("ignore")),
        footer(content)
    )
}
