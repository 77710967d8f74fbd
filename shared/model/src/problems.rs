//! Why a request is refused: every reason at once, each with its field.

/// One reason a request is refused, and the field it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The JSON path of the field, with indexes (`personalizations.0.to`); `None` for the whole request.
    pub field: Option<String>,
    /// The message for the caller.
    pub message: String,
    /// A pointer to further help, as text; only mail/send shows it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem of one field.
    pub fn on(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            message: message.into(),
            help: None,
        }
    }

    /// A problem of the request as a whole.
    pub fn plain(message: impl Into<String>) -> Self {
        Self {
            field: None,
            message: message.into(),
            help: None,
        }
    }
}

/// Every problem found; rules add to it, and the caller checks once at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem of `field`.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem::on(field, message));
    }

    /// Adds a problem unless the rule holds.
    pub fn unless(&mut self, holds: bool, field: &str, message: &str) {
        if !holds {
            self.add(field, message);
        }
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether no problem was found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems in the order they were found.
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }

    /// `Ok` when there are none.
    ///
    /// # Errors
    /// All problems, when there is at least one.
    pub fn into_result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}
