//! The sources of the pages: English texts are in one place, `src/texts` and what stands in the templates; and no form sends
//! anything by itself but what it says.

use std::fs;
use std::path::Path;

/// Names, commands and members of the API, which are no texts.
const NO_TEXTS: [&str; 26] = [
    "Android",
    "Chrome",
    "Edge",
    "Firefox",
    "Go",
    "Java",
    "Linux",
    "Node",
    "Opera",
    "Python",
    "Ruby",
    "Safari",
    "Windows",
    "Mac OS X",
    "npm install @sendgrid/mail",
    "pip install sendgrid",
    "composer require sendgrid/sendgrid",
    "go get github.com/sendgrid/sendgrid-go",
    "gem install sendgrid-ruby",
    "dotnet add package SendGrid",
    "email created",
    "email created ip",
    "email created reason",
    "email created reason status",
    "let in",
    "not found",
];

/// Whether it is a word with a capital letter, or has two words beside each other.
fn is_english(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(char::is_alphabetic);
    let words: Vec<_> = text.split(' ').collect();
    let is_title = words.len() == 1
        && is_word(text)
        && text.starts_with(char::is_uppercase)
        && text.ends_with(char::is_lowercase);
    let is_sentence = words
        .windows(2)
        .any(|two| two.iter().all(|word| is_word(word)));
    (is_title || is_sentence) && !NO_TEXTS.contains(&text)
}

/// The texts between quotation marks of the sources in a folder, apart from those of tests and of the log.
fn literals(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
        if path.is_dir() && name != "texts" {
            literals(&path, found);
        } else if path.is_file() && !["texts", "reference"].contains(&name) {
            let source = fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().map(str::trim);
            let lines = lines.filter(|line| {
                !["//", "#[", "reason ="]
                    .iter()
                    .any(|start| line.starts_with(start))
                    && !line.contains("tracing::")
            });
            for line in lines {
                found.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
}

#[test]
fn no_other_source_has_texts() {
    let mut found = Vec::new();
    literals(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.len() > 500, "{}", found.len());
    found.retain(|text| is_english(text));
    assert_eq!(found, [""; 0]);
    assert!(is_english("Day") && is_english("All mail of the account."));
    assert!(!is_english("/v3/stats") && !is_english("aggregated_by") && !is_english("GET"));
}

#[test]
fn a_form_without_its_script_sends_nothing_but_a_search_or_a_sign_in() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut seen = 0;
    for entry in fs::read_dir(templates).unwrap() {
        let html = fs::read_to_string(entry.unwrap().path()).unwrap();
        for form in html.split("<form").skip(1) {
            let tag = form.split('\n').next().unwrap();
            let calls = tag.contains(r#"method="dialog""#);
            let goes = [
                r#"method="get""#,
                r#"action="/console/sign-"#,
                r#"action="/console/act-for""#,
            ];
            let goes = goes.iter().any(|goes| tag.contains(goes));
            assert!(calls != goes, "{tag}");
            assert!(calls || !tag.contains("data-call"), "{tag}");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}
