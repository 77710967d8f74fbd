//! The folder of an export, or of what an import has read: one file of JSON lines for each part of an account.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::part::AccountPart;

/// Bytes of a line: a template with all its versions.
const LONGEST_LINE: usize = 64 << 20;

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

    /// Makes the folder, which only its owner can read: addresses and their reasons are in it.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)?;
        Ok(Self { path })
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
}

impl Line {
    pub(crate) fn value(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.bytes)
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
        let mut bytes = Vec::new();
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let line = buffer.get(..end.unwrap_or(taken)).unwrap_or_default();
            bytes.extend_from_slice(line);
            self.reader.consume(taken);
            self.at += taken as u64;
            if bytes.len() > LONGEST_LINE {
                let why = format!("a line exceeds {LONGEST_LINE} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            if end.is_some() {
                return Ok(Some(Line {
                    bytes,
                    end: self.at,
                }));
            }
        }
        // A last line without an end counts: an editor may have cut it off.
        let end = self.at;
        Ok((!bytes.is_empty()).then_some(Line { bytes, end }))
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
