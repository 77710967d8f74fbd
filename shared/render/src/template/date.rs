//! `{{formatDate time "MMMM D, YYYY" "-0800"}}`.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{Timestamp, Zoned};

use super::value::TemplateValue;

/// Numbers from here on are milliseconds: as seconds they would lie beyond the year 5000.
const MILLISECONDS_FROM: f64 = 1e11;

/// `at` in the given format; UTC unless there is an offset. A value that is not a time is
/// unchanged.
pub(crate) fn format(
    at: &TemplateValue<'_>,
    form: Option<&TemplateValue<'_>>,
    offset: Option<&TemplateValue<'_>>,
) -> String {
    let text = at.text();
    let Some(time) = at.as_number().map_or_else(|| read(text.trim()), epoch) else {
        return text.into_owned();
    };
    let offset = offset.and_then(|offset| read_offset(offset.text().trim()));
    let zoned = time.to_zoned(offset.unwrap_or(Offset::UTC).to_time_zone());
    match form {
        Some(form) if form.is_true() => write(&zoned, &form.text()),
        Some(_) | None if zoned.offset() == Offset::UTC => {
            write(&zoned, "YYYY-MM-DD[T]HH:mm:ss.SSS[Z]")
        }
        Some(_) | None => write(&zoned, "YYYY-MM-DD[T]HH:mm:ss.SSSZ"),
    }
}

fn epoch(number: f64) -> Option<Timestamp> {
    let milliseconds = if number.abs() >= MILLISECONDS_FROM {
        number
    } else {
        number * 1000.0
    };
    // Out of range for the calendar is out of range for the conversion too.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and is refused below"
    )]
    Timestamp::from_millisecond(milliseconds as i64).ok()
}

/// ISO 8601: with its own offset, or without one in UTC; a date alone is its midnight.
fn read(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = text.parse::<DateTime>().ok()?;
    civil
        .to_zoned(jiff::tz::TimeZone::UTC)
        .ok()
        .map(|z| z.timestamp())
}

/// `-0800`, `-08:00`, `+1`, `Z`.
fn read_offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("-", rest) => (-1, rest),
        ("+", rest) => (1, rest),
        _ => (1, text),
    };
    let digits = digits.replace(':', "");
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = match digits.len() {
        1 | 2 => (number, 0),
        _ => (number / 100, number % 100),
    };
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// The tokens of API facts 2.7, the longest first; milliseconds for the form of our own above.
const TOKENS: [&str; 23] = [
    "YYYY", "MMMM", "dddd", "MMM", "ddd", "SSS", "YY", "MM", "DD", "hh", "HH", "mm", "ss", "ZZ",
    "M", "D", "h", "H", "m", "s", "A", "a", "Z",
];

fn write(time: &Zoned, form: &str) -> String {
    let mut out = String::new();
    let mut rest = form;
    // Where the last bracket closes: none that opens behind it is searched for its end.
    let last = form.rfind(']').map_or(0, |at| form.len() - at);
    while let Some(c) = rest.chars().next() {
        let opened = rest
            .strip_prefix('[')
            .filter(|rest| rest.len() >= last && last > 0);
        if let Some((literal, after)) = opened.and_then(|rest| rest.split_once(']')) {
            out.push_str(literal);
            rest = after;
        } else if let Some(token) = TOKENS.iter().find(|token| rest.starts_with(**token)) {
            out.push_str(&part(time, token));
            rest = rest.get(token.len()..).unwrap_or_default();
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

fn part(time: &Zoned, token: &str) -> String {
    let hour = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    match token {
        "YYYY" => format!("{:04}", time.year()),
        "YY" => format!("{:02}", time.year().rem_euclid(100)),
        "MMMM" => time.strftime("%B").to_string(),
        "MMM" => time.strftime("%b").to_string(),
        "MM" => format!("{:02}", time.month()),
        "M" => time.month().to_string(),
        "DD" => format!("{:02}", time.day()),
        "D" => time.day().to_string(),
        "dddd" => time.strftime("%A").to_string(),
        "ddd" => time.strftime("%a").to_string(),
        "hh" => format!("{hour:02}"),
        "h" => hour.to_string(),
        "HH" => format!("{:02}", time.hour()),
        "H" => time.hour().to_string(),
        "mm" => format!("{:02}", time.minute()),
        "m" => time.minute().to_string(),
        "ss" => format!("{:02}", time.second()),
        "s" => time.second().to_string(),
        "SSS" => format!("{:03}", time.millisecond()),
        "A" => if time.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        "a" => if time.hour() < 12 { "am" } else { "pm" }.to_owned(),
        "ZZ" => offset_text(time.offset(), ""),
        _ => offset_text(time.offset(), ":"),
    }
}

fn offset_text(offset: Offset, between: &str) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
}
