//! The sentences of the mails: for each language two sets that share no wording.

use std::collections::HashMap;

/// What a mail is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    SignIn,
    SignUp,
    Reset,
}

impl Purpose {
    pub(super) const ALL: [Self; 3] = [Self::SignIn, Self::SignUp, Self::Reset];

    fn prefix(self) -> &'static str {
        match self {
            Self::SignIn => "in",
            Self::SignUp => "up",
            Self::Reset => "re",
        }
    }
}

/// One set of sentences. In each, `#` stands for any digit.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) language: &'static str,
    /// Whether the extractor was written without looking at how it does on this set.
    pub(super) is_held_out: bool,
    sentences: HashMap<&'static str, &'static str>,
}

impl Words {
    pub(super) fn get(&self, name: &str) -> &'static str {
        let found = self.sentences.get(name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.language))
    }

    /// `subject`, `code`, `link` or `button` of a purpose.
    pub(super) fn of(&self, purpose: Purpose, name: &str) -> &'static str {
        self.get(&format!("{}.{name}", purpose.prefix()))
    }
}

macro_rules! language {
    ($code:literal) => {
        ($code, include_str!(concat!("words/", $code, ".txt")))
    };
}

/// Both sets of all ten languages.
pub(super) fn all() -> Vec<Words> {
    let files = [
        language!("en"),
        language!("de"),
        language!("fr"),
        language!("es"),
        language!("it"),
        language!("pt"),
        language!("pl"),
        language!("ru"),
        language!("ja"),
        language!("zh"),
    ];
    files.into_iter().flat_map(read).collect()
}

/// `[seen]` and `[held]`, each followed by lines `name: sentence`.
fn read((language, text): (&'static str, &'static str)) -> Vec<Words> {
    let mut sets = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            sets.push(Words {
                language,
                is_held_out: line == "[held]",
                sentences: HashMap::new(),
            });
        } else {
            let (name, sentence) = line.split_once(": ").expect("name: sentence");
            let set = sets.last_mut().expect("a set before its first sentence");
            set.sentences.insert(name, sentence);
        }
    }
    sets
}
