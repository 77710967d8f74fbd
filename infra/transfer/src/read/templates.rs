//! Reads templates with the texts of their versions; those that have not changed since the last run are not read
//! again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::bounds::{ENDLESS, ListInMemory, PageEnd};
use super::{AccountReader, in_path, in_query, list_in, text_in};
use crate::digest::digest;
use crate::folder::{LONGEST_LINE, LineWriter, Lines};
use crate::part::AccountPart;
use crate::source::ReadFault;

/// The key of the digest of a template as its list shows it.
const HEADS: &str = "template_heads";

/// Versions of a template that are read: three times as many as one has (API facts, "Templates").
const MOST_VERSIONS: usize = 1_000;

/// Bytes of the versions of a template; what belongs to the template itself fits beside them into a line.
const MOST_BYTES: usize = LONGEST_LINE - (1 << 20);

impl AccountReader<'_> {
    pub(super) async fn read_templates(&mut self) -> Result<(), ReadFault> {
        let part = AccountPart::Templates;
        let mut heads = self.template_heads().await?;
        heads.sort_by(|a, b| text_in(a, "id").cmp(&text_in(b, "id")));
        let name = format!("{}{HEADS}", self.prefix);
        let (file, draft) = (self.folder.file(part), self.folder.draft(part));
        let stored = index(&file)?;
        // What a run that was stopped had read already.
        let drafted = index(&draft)?;
        let whole = drafted.values().map(|place| place.end).max().unwrap_or(0);
        let mut out = LineWriter::after(&draft, whole)?;
        let total = heads.len();
        for (count, head) in heads.iter().enumerate() {
            let Some(id) = text_in(head, "id") else {
                continue;
            };
            if drafted.contains_key(id) {
                continue;
            }
            let own = digest(head.to_string().as_bytes());
            if let Some(place) = stored.get(id).filter(|_| self.journal.has(&name, id, &own)) {
                out.push_raw(&read_at(&file, place)?)?;
                continue;
            }
            if count % 25 == 0 {
                let progress = self.source.progress();
                progress.say(format!("templates: {count} of {total}"));
            }
            match self.template(id).await {
                Ok((template, is_whole)) => {
                    out.push(&template)?;
                    out.flush()?;
                    if is_whole {
                        self.journal.note_item(&name, id, &own)?;
                    }
                }
                Err(fault @ (ReadFault::Refused(..) | ReadFault::Broken(_))) => {
                    self.report.refuse_item(part, id, fault.to_string());
                }
                Err(fault) => return Err(fault),
            }
        }
        out.flush()?;
        drop(out);
        fs::rename(draft, file)?;
        Ok(())
    }

    /// The list, page by page: `_metadata.next` leads on (API facts, "Templates"). Older services give all at once.
    async fn template_heads(&mut self) -> Result<Vec<Value>, ReadFault> {
        const FIRST: &str = "/v3/templates?generations=legacy%2Cdynamic&page_size=200";
        let mut all = ListInMemory::default();
        let mut path = FIRST.to_owned();
        loop {
            let found = self.source.value(&path).await?;
            let bytes = self.source.last_bytes();
            if found.get("result").is_none() {
                all.add(list_in(&found, "templates").to_vec(), bytes);
                return Ok(all.items);
            }
            let end = all.add(list_in(&found, "result").to_vec(), bytes);
            let next = found.pointer("/_metadata/next").and_then(Value::as_str);
            match (end, next.and_then(page_token)) {
                (PageEnd::More, Some(token)) => {
                    path = format!("{FIRST}&page_token={}", in_query(&token));
                }
                (PageEnd::Endless, _) => return Ok(self.cut_off(AccountPart::Templates, all)),
                (PageEnd::More | PageEnd::Last, _) => return Ok(all.items),
            }
        }
    }

    /// A template with its versions in full, and whether all of them could be read.
    async fn template(&mut self, id: &str) -> Result<(Value, bool), ReadFault> {
        let path = format!("/v3/templates/{}", in_path(id));
        let mut template = self.source.value(&path).await?;
        let mut versions = Vec::new();
        let (mut is_whole, mut bytes) = (true, 0);
        for (number, head) in list_in(&template, "versions").iter().enumerate() {
            let Some(version) = text_in(head, "id") else {
                continue;
            };
            if number >= MOST_VERSIONS {
                let what = format!("templates: versions of {id} after the first {number}");
                self.report.refuse(what, ENDLESS);
                break;
            }
            let path = format!("{path}/versions/{}", in_path(version));
            match self.source.value(&path).await {
                Ok(read) => {
                    let size = read.to_string().len();
                    if bytes + size > MOST_BYTES {
                        let what = format!("templates: version {version} of {id}");
                        let why = format!("the template exceeds {MOST_BYTES} bytes");
                        self.report.refuse(what, why);
                        continue;
                    }
                    bytes += size;
                    versions.push(read);
                }
                Err(fault @ (ReadFault::Refused(..) | ReadFault::Broken(_))) => {
                    is_whole = false;
                    let what = format!("templates: version {version} of {id}");
                    self.report.refuse(what, fault.to_string());
                }
                Err(fault) => return Err(fault),
            }
        }
        // What the service adds to a template beside these is not known here.
        if let Some(template) = template.as_object_mut() {
            const NAMES: [&str; 4] = ["id", "name", "generation", "updated_at"];
            template.retain(|name, _| NAMES.contains(&name.as_str()));
            template.insert("versions".to_owned(), Value::Array(versions));
        }
        Ok((template, is_whole))
    }
}

/// The token of the page that an address leads to; it may have no host.
fn page_token(address: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find_map(|(name, token)| (name == "page_token").then(|| token.into_owned()))
}

/// Where a line lies in a file.
struct LinePlace {
    start: u64,
    end: u64,
}

/// The lines of a file by the ids of their items.
fn index(path: &Path) -> io::Result<HashMap<String, LinePlace>> {
    let (mut found, mut start) = (HashMap::new(), 0);
    for line in Lines::open(path)? {
        let line = line?;
        let is_whole = line.end - start == line.bytes.len() as u64 + 1;
        let Some(item) = line.value().ok().filter(|_| is_whole) else {
            break;
        };
        if let Some(id) = text_in(&item, "id") {
            let end = line.end;
            found.insert(id.to_owned(), LinePlace { start, end });
        }
        start = line.end;
    }
    Ok(found)
}

/// A line, without its end.
fn read_at(path: &Path, place: &LinePlace) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(place.start))?;
    let length = place.end - place.start - 1;
    let mut line = Vec::new();
    file.take(length).read_to_end(&mut line)?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_the_next_page_is_in_an_address_with_or_without_a_host() {
        for (address, want) in [
            (
                "https://api.sendgrid.com/v3/templates?page_token=a%2Bb&page_size=1",
                Some("a+b"),
            ),
            ("/v3/templates?page_size=1&page_token=MTc5", Some("MTc5")),
            ("/v3/templates?page_size=1", None),
            ("/v3/templates", None),
        ] {
            assert_eq!(page_token(address).as_deref(), want, "{address}");
        }
    }
}
