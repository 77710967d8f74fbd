//! Five hundred sign-in, sign-up and reset mails, the same in every run: what they hold beside the sentences.

use super::layouts;
use super::words::{self, Purpose, Words};

/// Mails of one set of words.
const OF_A_SET: usize = 25;

/// A mail, and what a reader takes from it.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) is_held_out: bool,
    pub(super) raw: Vec<u8>,
    pub(super) code: Option<String>,
    pub(super) link: Option<String>,
}

/// `SplitMix64`: the same numbers for the same seed, everywhere.
pub(super) struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    pub(super) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }

    /// The sentence with digits for its `#`.
    pub(super) fn filled(&mut self, sentence: &str) -> String {
        let fill = |c: char| {
            if c == '#' {
                char::from_digit(u32::try_from(self.below(10)).unwrap(), 10).unwrap()
            } else {
                c
            }
        };
        sentence.chars().map(fill).collect()
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A code as the mail shows it, and as it is typed in.
#[derive(Clone, Debug)]
pub(super) struct ShownCode {
    pub(super) shown: String,
    pub(super) typed: String,
}

impl ShownCode {
    fn new(dice: &mut Dice, shape: usize) -> Self {
        const DIGITS: &str = "0123456789";
        const UPPER: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ";
        const LOWER: &str = "abcdefghjkmnpqrstuvwxyz";
        // Each holds a letter and a digit, which random characters might not.
        let mixed = |dice: &mut Dice, letters: &str| {
            let three = dice.text(letters, 3);
            let (a, b) = (dice.text(DIGITS, 1), dice.text(DIGITS, 2));
            let (head, tail) = three.split_at(1);
            format!("{head}{a}{tail}{b}")
        };
        let digits = |dice: &mut Dice, n| dice.text(DIGITS, n);
        let same = |code: String| Self {
            shown: code.clone(),
            typed: code,
        };
        let parted = |by: &str, halves: [String; 2]| Self {
            shown: halves.join(by),
            typed: halves.concat(),
        };
        match shape % 12 {
            0..=2 => same(digits(dice, 6)),
            3 => parted(" ", [digits(dice, 3), digits(dice, 3)]),
            4 => parted("-", [digits(dice, 3), digits(dice, 3)]),
            5 => same(digits(dice, 4)),
            // As years look.
            6 => same(format!("20{}", digits(dice, 2))),
            7 => same(digits(dice, 8)),
            8 => same(digits(dice, 5)),
            9 => same(mixed(dice, UPPER)),
            10 => same(format!("{}-{}", dice.text(UPPER, 4), dice.text(UPPER, 4))),
            _ => same(mixed(dice, LOWER)),
        }
    }
}

/// A link beside the one that the mail is about.
pub(super) struct OtherLink {
    pub(super) label: String,
    pub(super) url: String,
}

/// What a layout arranges.
pub(super) struct Content<'a> {
    pub(super) words: &'a Words,
    pub(super) purpose: Purpose,
    pub(super) code: Option<ShownCode>,
    pub(super) link: Option<String>,
    /// Home page, view in browser, "not you?", help, privacy, unsubscribe, and others.
    pub(super) others: Vec<OtherLink>,
    /// Lines with numbers that are no codes.
    pub(super) small_print: Vec<String>,
    pub(super) subject: String,
}

impl Content<'_> {
    pub(super) fn label(&self, name: &str) -> &OtherLink {
        let label = self.words.get(name);
        let found = self.others.iter().find(|other| other.label == label);
        found.expect("each mail has this link")
    }
}

fn action_link(dice: &mut Dice, shape: usize, is_tracked: bool) -> String {
    const HEX: &str = "0123456789abcdef";
    const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if is_tracked {
        let token = dice.text(BASE62, 90);
        return format!("https://click.lumen-mail.example/ls/click?upn={token}");
    }
    let hex = dice.text(HEX, 40);
    match shape % 6 {
        0 => format!("https://app.lumen.example/verify?token={hex}&email=ann%40x.example"),
        1 => format!("https://lumen.example/auth/magic/{}", dice.text(BASE62, 32)),
        2 => format!("https://lumen.example/users/confirm_email/{hex}"),
        3 => format!("https://lumen.example/r/{}", dice.text(BASE62, 7)),
        4 => format!(
            "https://accounts.lumen.example/__/auth/action?mode=resetPassword&oobCode={}&lang=de\
             &continueUrl=https%3A%2F%2Flumen.example%2F",
            dice.text(BASE62, 54)
        ),
        _ => format!("https://lumen.example/login/callback#access_token={hex}&type=recovery"),
    }
}

fn other_links(dice: &mut Dice, words: &Words, is_tracked: bool) -> Vec<OtherLink> {
    let hex = dice.text("0123456789abcdef", 32);
    let mut links = Vec::new();
    let mut add = |label: &str, url: String| {
        links.push(OtherLink {
            label: label.to_owned(),
            url,
        });
    };
    add("Lumen", "https://lumen.example/".to_owned());
    add(
        words.get("view"),
        format!("https://view.lumen.example/?m={hex}"),
    );
    add(
        words.get("notyou"),
        format!("https://lumen.example/security/revoke?token={hex}"),
    );
    add(
        words.get("help"),
        "https://help.lumen.example/hc/articles/360012345678".to_owned(),
    );
    add(
        words.get("privacy"),
        "https://lumen.example/legal/privacy".to_owned(),
    );
    add(
        words.get("unsubscribe"),
        format!("https://lumen.example/email/unsubscribe?u={hex}&list=4821"),
    );
    add("Instagram", "https://www.instagram.com/lumen".to_owned());
    add(
        "App Store",
        "https://apps.apple.com/app/id1480923475".to_owned(),
    );
    if is_tracked {
        for link in &mut links {
            link.url = action_link(dice, 0, true);
        }
    }
    links
}

fn sample(words: &Words, number: usize, set: usize) -> Sample {
    let seed = (set * OF_A_SET + number) as u64;
    let dice = &mut Dice(seed.wrapping_mul(0xD134_2543_DE82_EF95));
    let purpose = Purpose::ALL[number % 3];
    let (has_code, has_link) = [(true, false), (false, true), (true, true)][number / 3 % 3];
    let is_tracked = dice.one_in(5);
    let code = has_code.then(|| ShownCode::new(dice, number + 5 * set));
    let link = has_link.then(|| action_link(dice, number + set, is_tracked));
    let mut small_print: Vec<String> = ["order", "device", "phone"]
        .into_iter()
        .filter(|_| !dice.one_in(3))
        .map(|name| words.get(name))
        .map(str::to_owned)
        .collect();
    if purpose == Purpose::SignUp && dice.one_in(2) {
        small_print.push(words.get("promo").to_owned());
    }
    small_print.push(words.get("address").to_owned());
    let small_print = small_print.iter().map(|line| dice.filled(line)).collect();
    let mut subject = words.of(purpose, "subject").to_owned();
    let in_subject = dice.one_in(3);
    if let Some(code) = code.as_ref().filter(|_| in_subject) {
        subject = words.get("subject_code").replace("{code}", &code.shown);
    } else if dice.one_in(4) {
        subject = dice.filled(&format!("[#4######] {subject}"));
    }
    let content = Content {
        words,
        purpose,
        others: other_links(dice, words, is_tracked),
        small_print,
        subject,
        code: code.clone(),
        link: link.clone(),
    };
    let layout = (number * 3 + set) % layouts::OF_A_SET;
    Sample {
        name: format!(
            "{} {} {number} layout {layout}",
            words.language,
            if words.is_held_out {
                "held out"
            } else {
                "seen"
            }
        ),
        is_held_out: words.is_held_out,
        raw: layouts::compose(&content, layout, dice),
        code: code.map(|code| code.typed),
        link,
    }
}

/// The mails of ten languages, each in two sets of words and layouts.
pub(super) fn all() -> Vec<Sample> {
    let mut all = Vec::new();
    for (set, words) in words::all().iter().enumerate() {
        all.extend((0..OF_A_SET).map(|number| sample(words, number, set)));
    }
    all
}
