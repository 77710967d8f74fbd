//! The types of the fields of settings: how a value is shown, and which values are accepted.

use posthaste_model::{EmailAddress, Problems, TlsVersion};
use posthaste_store::KEPT_DAYS;
use serde_json::Value;

/// Entries of the address whitelist.
const ENTRIES: usize = 500;

/// Bytes of all entries together.
const ENTRIES_TOGETHER: usize = 50_000;

/// Addresses of one setting that spam reports are forwarded to.
const ADDRESSES: usize = 10;

/// Where a value is stored, and its type.
pub(crate) enum Slot<'a> {
    Flag(&'a mut bool),
    /// Shown as false while it is not set.
    OptionalFlag(&'a mut Option<bool>),
    /// A text of at most so many bytes.
    Text(&'a mut String, usize),
    /// The same; an empty text is stored as none.
    OptionalText(&'a mut Option<String>, usize),
    /// 1 to 3650 days, or none.
    Days(&'a mut Option<u16>),
    /// One of [`KEPT_DAYS`].
    KeptDays(&'a mut u16),
    /// 1 to 10.
    Score(&'a mut u8),
    /// Addresses and domains, stored as they compare.
    Entries(&'a mut Vec<String>),
    /// One email address, or none: `null`.
    Address(&'a mut Option<String>),
    /// One email address, or none, which is shown as an empty text.
    LegacyAddress(&'a mut Option<String>),
    /// Email addresses with a comma between them, or none, which is shown as an empty text.
    Addresses(&'a mut Option<String>),
    /// A number: 1.1, 1.2 or 1.3.
    TlsVersion(&'a mut TlsVersion),
}

impl Slot<'_> {
    /// The value as the API shows it.
    pub(crate) fn shown(self) -> Value {
        match self {
            Self::Flag(own) => (*own).into(),
            Self::OptionalFlag(own) => own.unwrap_or_default().into(),
            Self::Text(own, _) => own.as_str().into(),
            Self::OptionalText(own, _) | Self::LegacyAddress(own) | Self::Addresses(own) => {
                own.as_deref().unwrap_or_default().into()
            }
            Self::Days(own) => (*own).into(),
            Self::KeptDays(own) => (*own).into(),
            Self::Score(own) => (*own).into(),
            Self::Entries(own) => own.as_slice().into(),
            Self::Address(own) => own.as_deref().into(),
            Self::TlsVersion(own) => number_of(*own).into(),
        }
    }

    /// Stores a value of the body, or reports what is wrong with it. `null` removes days and
    /// addresses, and leaves a value of any other type unchanged.
    pub(crate) fn change(self, name: &str, value: &Value, found: &mut Problems) {
        if value.is_null() {
            return self.clear();
        }
        if let Err(message) = self.set(name, value, found) {
            found.add(name, format!("{name} {message}"));
        }
    }

    fn clear(self) {
        match self {
            Self::Days(own) => *own = None,
            Self::Address(own) | Self::LegacyAddress(own) | Self::Addresses(own) => *own = None,
            Self::Flag(_)
            | Self::OptionalFlag(_)
            | Self::Text(..)
            | Self::OptionalText(..)
            | Self::KeptDays(_)
            | Self::Score(_)
            | Self::Entries(_)
            | Self::TlsVersion(_) => {}
        }
    }

    fn set(self, name: &str, value: &Value, found: &mut Problems) -> Result<(), String> {
        match self {
            Self::Flag(own) => *own = flag(value)?,
            Self::OptionalFlag(own) => *own = Some(flag(value)?),
            Self::Text(own, most) => *own = text(value, most)?,
            Self::OptionalText(own, most) => {
                *own = Some(text(value, most)?).filter(|text| !text.is_empty());
            }
            Self::Days(own) => *own = Some(number(value, 3650, " days")?),
            Self::KeptDays(own) => {
                let is_it = |days: &_| value.as_u64() == Some(u64::from(*days));
                let days = KEPT_DAYS.into_iter().find(is_it);
                *own = days.ok_or("must be 1, 3, 7, 14 or 30")?;
            }
            Self::Score(own) => *own = number(value, 10, "")?,
            Self::Entries(own) => {
                let list = value.as_array().ok_or("must be a list")?;
                *own = entries(name, list, found)?;
            }
            Self::Address(own) | Self::LegacyAddress(own) => *own = addresses(value, 1)?,
            Self::Addresses(own) => *own = addresses(value, ADDRESSES)?,
            Self::TlsVersion(own) => {
                let number = value.as_f64().ok_or("must be 1.1, 1.2 or 1.3")?;
                let named = |of: &TlsVersion| (number - number_of(*of)).abs() < f64::EPSILON;
                let version = TLS_VERSIONS.into_iter().find(named);
                *own = version.ok_or("must be 1.1, 1.2 or 1.3")?;
            }
        }
        Ok(())
    }
}

const TLS_VERSIONS: [TlsVersion; 3] = [TlsVersion::V1_1, TlsVersion::V1_2, TlsVersion::V1_3];

/// A version as the API writes it.
fn number_of(version: TlsVersion) -> f64 {
    match version {
        TlsVersion::V1_1 => 1.1,
        TlsVersion::V1_2 => 1.2,
        TlsVersion::V1_3 => 1.3,
    }
}

fn flag(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| "must be a boolean".to_owned())
}

fn text(value: &Value, most: usize) -> Result<String, String> {
    match value.as_str() {
        None => Err("must be a string".to_owned()),
        Some(text) if text.len() > most => Err(format!("exceeds {most} bytes")),
        Some(text) => Ok(text.to_owned()),
    }
}

/// A whole number from 1 to `most`.
fn number<T: TryFrom<u64>>(value: &Value, most: u64, unit: &str) -> Result<T, String> {
    let number = value.as_u64().filter(|n| (1..=most).contains(n));
    let number = number.and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| format!("must be 1 to {most}{unit}"))
}

/// Email addresses with a comma between them, at most `most`; `None` when there are none.
fn addresses(value: &Value, most: usize) -> Result<Option<String>, String> {
    let text = value.as_str().ok_or("must be a string")?;
    let all = text.split(',').map(str::trim);
    let all: Vec<_> = all.filter(|one| !one.is_empty()).collect();
    if all.len() > most {
        return Err(match most {
            1 => "must be one email address".to_owned(),
            most => format!("holds more than {most} addresses"),
        });
    }
    if all.iter().all(|one| EmailAddress::parse(one).is_ok()) {
        Ok(Some(all.join(", ")).filter(|text| !text.is_empty()))
    } else {
        Err("is an invalid email address".to_owned())
    }
}

/// Entries of the whitelist in their normalized form, sorted; each wrong one is reported.
fn entries(name: &str, list: &[Value], found: &mut Problems) -> Result<Vec<String>, String> {
    if list.len() > ENTRIES {
        return Err(format!("holds more than {ENTRIES} entries"));
    }
    let mut own = Vec::with_capacity(list.len());
    for (i, entry) in list.iter().enumerate() {
        match entry.as_str().and_then(comparable) {
            Some(entry) => own.push(entry),
            None => found.add(format!("{name}.{i}"), "neither an address nor a domain"),
        }
    }
    own.sort_unstable();
    own.dedup();
    let bytes: usize = own.iter().map(String::len).sum();
    if bytes <= ENTRIES_TOGETHER {
        Ok(own)
    } else {
        Err(format!("exceeds {ENTRIES_TOGETHER} bytes in all"))
    }
}

/// The normalized form of an address or a domain.
fn comparable(entry: &str) -> Option<String> {
    let entry = entry.trim();
    if entry.contains('@') {
        return EmailAddress::parse(entry).ok().map(|email| email.folded());
    }
    let any = EmailAddress::parse(&format!("any@{entry}")).ok()?;
    Some(any.ascii_domain())
}
