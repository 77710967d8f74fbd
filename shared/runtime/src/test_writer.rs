//! An in-memory writer, for tests of what is written.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;

#[derive(Clone, Default)]
pub(crate) struct TestWriter(Arc<Mutex<Vec<u8>>>);

impl TestWriter {
    /// What was written, line by line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Write for TestWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
