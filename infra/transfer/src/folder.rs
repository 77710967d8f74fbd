//! The folder of an export, or of what an import has read: one file of JSON lines for each part of an account.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::json_text;
use crate::part::AccountPart;

/// Bytes of a line: a template with all its versions.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// Bytes of a longer line that are kept, for its name.
const HEAD: usize = 4 << 10;

/// A folder with the parts of one account.
#[derive(Clone, Debug)]
pub(crate) struct AccountFolder {
    path: PathBuf,
}

impl AccountFolder {
    /// A folder that exists.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Makes the folder, which only its owner can read: addresses and their reasons are in it. One that is there
    /// stays as it is.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)?;
        Ok(Self { path })
    }

    /// Takes others' rights off a folder that was there before.
    pub(crate) fn protect(&self) -> io::Result<()> {
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a part.
    pub(crate) fn file(&self, part: AccountPart) -> PathBuf {
        self.path.join(format!("{}.jsonl", part.name()))
    }

    /// The file that a part is written to before it takes the place of the one above.
    pub(crate) fn draft(&self, part: AccountPart) -> PathBuf {
        self.path.join(format!("{}.jsonl.part", part.name()))
    }

    /// The folder of a subuser, whose name has been checked.
    pub(crate) fn subuser(&self, username: &str) -> PathBuf {
        self.path.join("subusers").join(username)
    }
}

/// Appends lines to a file.
pub(crate) struct LineWriter {
    out: BufWriter<File>,
    bytes: u64,
}

impl LineWriter {
    /// Appends after the first `bytes` bytes; what follows them is cut off.
    pub(crate) fn after(path: &Path, bytes: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)?;
        file.set_len(bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            out: BufWriter::with_capacity(1 << 16, file),
            bytes,
        })
    }

    pub(crate) fn push(&mut self, item: &Value) -> io::Result<()> {
        self.push_raw(item.to_string().as_bytes())
    }

    /// Appends a line that is JSON already.
    pub(crate) fn push_raw(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.bytes += line.len() as u64 + 1;
        Ok(())
    }

    /// Hands everything to the system; how many bytes the file has.
    pub(crate) fn flush(&mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.bytes)
    }

    /// Cuts off what follows the first `bytes` bytes.
    pub(crate) fn rewind(&mut self, bytes: u64) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_mut();
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes))?;
        self.bytes = bytes;
        Ok(())
    }
}

/// A line of a file.
pub(crate) struct Line {
    /// Without its end.
    pub(crate) bytes: Vec<u8>,
    /// Where the next one begins.
    pub(crate) end: u64,
    /// Whether it has an end.
    pub(crate) is_ended: bool,
    /// Whether `bytes` are only its first ones.
    is_cut: bool,
}

/// Why a line has no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    #[error("it is not JSON")]
    NotJson,
    #[error("it is not UTF-8")]
    NotText,
    #[error("it exceeds {LONGEST_LINE} bytes")]
    TooLong,
}

impl Line {
    pub(crate) fn value(&self) -> Result<Value, LineFault> {
        if self.is_cut {
            return Err(LineFault::TooLong);
        }
        let item = json_text::parse(&self.bytes).ok_or(LineFault::NotJson)?;
        if item.is_mended && std::str::from_utf8(&self.bytes).is_err() {
            return Err(LineFault::NotText);
        }
        Ok(item.value)
    }

    /// What a report calls the line: its number, and the first of these names that its beginning has.
    pub(crate) fn label(&self, number: usize) -> String {
        const NAMES: [&str; 5] = ["email", "name", "id", "url", "hostname"];
        const LONGEST: usize = 100;
        let head = self.bytes.get(..self.bytes.len().min(HEAD));
        let head = String::from_utf8_lossy(head.unwrap_or_default());
        let named = NAMES.iter().filter_map(|name| {
            let (before, value) = head.split_once(&format!("\"{name}\""))?;
            let value = value.trim_start().strip_prefix(':')?.trim_start();
            let (value, _) = value.strip_prefix('"')?.split_once('"')?;
            (!value.is_empty()).then_some((before.len(), value))
        });
        let named = named
            .min()
            .map(|(_, name)| posthaste_model::cut(name, LONGEST));
        match named {
            Some(named) => format!("line {number} ({named})"),
            None => format!("line {number}"),
        }
    }
}

/// The lines of a file, one in memory at a time.
pub(crate) struct Lines {
    reader: BufReader<File>,
    at: u64,
}

impl Lines {
    /// The lines of a file; none of a file that is not there.
    pub(crate) fn open(path: &Path) -> io::Result<LinesOrNone> {
        match File::open(path) {
            Ok(file) => Ok(LinesOrNone(Some(Self {
                reader: BufReader::with_capacity(1 << 16, file),
                at: 0,
            }))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LinesOrNone(None)),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        let (mut bytes, mut is_cut, mut is_ended) = (Vec::new(), false, false);
        let start = self.at;
        while !is_ended {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            if !is_cut {
                let line = buffer.get(..end.unwrap_or(taken)).unwrap_or_default();
                bytes.extend_from_slice(line);
            }
            self.reader.consume(taken);
            self.at += taken as u64;
            if bytes.len() > LONGEST_LINE {
                bytes.truncate(HEAD);
                bytes.shrink_to_fit();
                is_cut = true;
            }
            is_ended = end.is_some();
        }
        // A last line without an end counts: an editor may have cut it off.
        let end = self.at;
        Ok((end > start).then_some(Line {
            bytes,
            end,
            is_ended,
            is_cut,
        }))
    }
}

/// The lines of a file that may not be there.
pub(crate) struct LinesOrNone(Option<Lines>);

impl Iterator for LinesOrNone {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.as_mut()?.read().transpose()
    }
}
