//! A compiled Handlebars text.

/// One piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(Box<str>),
    /// `{{value}}`, or `{{{value}}}` when `raw`.
    Value {
        value: Expr,
        raw: bool,
    },
    /// The body of the first arm whose condition holds, or else `otherwise`.
    If {
        arms: Vec<Arm>,
        otherwise: Vec<Node>,
    },
    /// `{{#each list}}`.
    Each(Scoped),
    /// `{{#with value}}`.
    With(Scoped),
    /// `{{#value}}`: a loop over a list, a block for anything else that is true.
    Section(Scoped),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    pub(crate) condition: Condition,
    pub(crate) body: Vec<Node>,
}

/// A block that sets what `this` is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scoped {
    pub(crate) value: Expr,
    /// `as |item key|`.
    pub(crate) names: Vec<String>,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    True(Expr),
    False(Expr),
    /// `if` or `unless` with `includeZero=`: where that is true, the number 0 is too.
    Zero {
        value: Expr,
        zero: Expr,
        negated: bool,
    },
    Equals(Expr, Expr),
    NotEquals(Expr, Expr),
    Greater(Expr, Expr),
    Less(Expr, Expr),
    All(Vec<Expr>),
    Any(Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Path(DataPath),
    Text(String),
    /// With its spelling: `-0800` may be an offset rather than a number.
    Number {
        value: f64,
        text: String,
    },
    Bool(bool),
    Null,
    Length(Box<Expr>),
    /// `lookup from key`.
    Lookup {
        from: Box<Expr>,
        key: Box<Expr>,
    },
    Insert {
        value: Box<Expr>,
        default: Box<Expr>,
    },
    FormatDate {
        at: Box<Expr>,
        form: Option<Box<Expr>>,
        offset: Option<Box<Expr>>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DataPath {
    pub(crate) start: Start,
    pub(crate) segments: Vec<String>,
    /// As it was written.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// `this`, and one block further out for each `../`.
    Here {
        up: usize,
    },
    Root,
    /// `@index`, `@key`, `@first`, `@last`.
    Local {
        name: String,
        up: usize,
    },
}
