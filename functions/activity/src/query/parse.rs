//! Parses tokens into a tree. `NOT` binds before `AND`, `AND` before `OR`.

use posthaste_model::Timestamp;

use super::tokens::{QueryToken, tokens};
use super::{Comparison, InvalidQuery, Query, QueryField, QueryValue, folded};

/// Brackets and `NOT`s inside each other, at most.
const DEEPEST: u32 = 32;

/// Conditions in a query, and values in a list, at most.
const MOST: usize = 100;

pub(super) fn query(text: &str) -> Result<Query, InvalidQuery> {
    let mut reader = QueryParser {
        tokens: tokens(text)?,
        at: 0,
        conditions: 0,
    };
    let query = reader.any(0)?;
    match reader.next() {
        None => Ok(query),
        Some(token) => Err(unexpected(&token)),
    }
}

struct QueryParser {
    tokens: Vec<QueryToken>,
    at: usize,
    conditions: usize,
}

fn unexpected(token: &QueryToken) -> InvalidQuery {
    InvalidQuery(format!("unexpected '{}'", token.shown()))
}

fn ended() -> InvalidQuery {
    InvalidQuery("the query ends too early".to_owned())
}

impl QueryParser {
    fn next(&mut self) -> Option<QueryToken> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn need(&mut self) -> Result<QueryToken, InvalidQuery> {
        self.next().ok_or_else(ended)
    }

    /// Takes this word, whatever its letter case, if it comes next.
    fn takes(&mut self, word: &str) -> bool {
        let next = self.tokens.get(self.at);
        let is = matches!(next, Some(QueryToken::Word(own)) if own.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn takes_token(&mut self, token: &QueryToken) -> bool {
        let is = self.tokens.get(self.at) == Some(token);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self, depth: u32) -> Result<Query, InvalidQuery> {
        let mut any = vec![self.all(depth)?];
        while self.takes("OR") {
            any.push(self.all(depth)?);
        }
        Ok(match <[Query; 1]>::try_from(any) {
            Ok([one]) => one,
            Err(any) => Query::Any(any),
        })
    }

    fn all(&mut self, depth: u32) -> Result<Query, InvalidQuery> {
        let mut all = vec![self.one(depth)?];
        while self.takes("AND") {
            all.push(self.one(depth)?);
        }
        Ok(match <[Query; 1]>::try_from(all) {
            Ok([one]) => one,
            Err(all) => Query::All(all),
        })
    }

    fn one(&mut self, depth: u32) -> Result<Query, InvalidQuery> {
        if depth > DEEPEST {
            return Err(InvalidQuery("the query is too deep".to_owned()));
        }
        if self.takes("NOT") {
            return Ok(Query::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes_token(&QueryToken::Open) {
            let inner = self.any(depth + 1)?;
            return match self.need()? {
                QueryToken::Close => Ok(inner),
                other => Err(unexpected(&other)),
            };
        }
        self.condition()
    }

    fn condition(&mut self) -> Result<Query, InvalidQuery> {
        self.conditions += 1;
        if self.conditions > MOST {
            return Err(InvalidQuery(format!("more than {MOST} conditions")));
        }
        let field = match self.need()? {
            QueryToken::Word(name) => field(&name)?,
            other => return Err(unexpected(&other)),
        };
        if let Some(QueryToken::Sign(sign)) = self.tokens.get(self.at) {
            let how = comparison(sign);
            self.at += 1;
            let value = self.value(field)?;
            return compared(field, how, value);
        }
        if self.takes("IS") {
            let not = self.takes("NOT");
            if !self.takes("NULL") {
                return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
            }
            return Ok(negated(not, Query::IsNull(field)));
        }
        let not = self.takes("NOT");
        let condition = if self.takes("LIKE") {
            self.like(field)?
        } else if self.takes("IN") {
            self.among(field)?
        } else if self.takes("BETWEEN") {
            let from = compared(field, Comparison::AtLeast, self.value(field)?)?;
            if !self.takes("AND") {
                return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
            }
            let to = compared(field, Comparison::AtMost, self.value(field)?)?;
            Query::All(vec![from, to])
        } else {
            return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
        };
        Ok(negated(not, condition))
    }

    fn like(&mut self, field: QueryField) -> Result<Query, InvalidQuery> {
        match self.need()? {
            QueryToken::Text(pattern) => Ok(Query::Like(field, pattern.to_lowercase())),
            other => Err(unexpected(&other)),
        }
    }

    fn among(&mut self, field: QueryField) -> Result<Query, InvalidQuery> {
        if !self.takes_token(&QueryToken::Open) {
            return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
        }
        let mut values = vec![self.value(field)?];
        loop {
            match self.need()? {
                QueryToken::Comma if values.len() < MOST => values.push(self.value(field)?),
                QueryToken::Comma => return Err(InvalidQuery(format!("more than {MOST} values"))),
                QueryToken::Close => return Ok(Query::Among(field, values)),
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// A value of the field's own kind.
    fn value(&mut self, field: QueryField) -> Result<QueryValue, InvalidQuery> {
        self.takes("TIMESTAMP");
        let token = self.need()?;
        let text = match &token {
            QueryToken::Text(text) | QueryToken::Word(text) => text.as_str(),
            QueryToken::Sign(_) | QueryToken::Open | QueryToken::Close | QueryToken::Comma => {
                return Err(unexpected(&token));
            }
        };
        match field {
            QueryField::LastEventTime => {
                let at = Timestamp::from_iso(text).map(QueryValue::Time);
                at.ok_or_else(|| InvalidQuery(format!("'{text}' is not a time")))
            }
            QueryField::Opens | QueryField::Clicks | QueryField::AsmGroupId => {
                let number = text.parse().map(QueryValue::Number);
                number.map_err(|_| InvalidQuery(format!("'{text}' is not a number")))
            }
            QueryField::Status => match text.to_ascii_lowercase().as_str() {
                "processed" | "delivered" | "not_delivered" => {
                    Ok(QueryValue::Text(text.to_ascii_lowercase()))
                }
                _ => Err(InvalidQuery(format!("'{text}' is not a status"))),
            },
            QueryField::FromEmail | QueryField::ToEmail => Ok(QueryValue::Text(folded(text))),
            QueryField::Subject => Ok(QueryValue::Text(text.to_lowercase())),
            QueryField::MsgId | QueryField::TemplateId | QueryField::Category => {
                Ok(QueryValue::Text(text.to_owned()))
            }
        }
    }
}

fn negated(not: bool, query: Query) -> Query {
    match not {
        true => Query::Not(Box::new(query)),
        false => query,
    }
}

fn compared(field: QueryField, how: Comparison, value: QueryValue) -> Result<Query, InvalidQuery> {
    let ordered = !matches!(how, Comparison::Equal | Comparison::NotEqual);
    match value {
        QueryValue::Text(_) if ordered => Err(InvalidQuery(
            "only numbers and times are greater or less".to_owned(),
        )),
        value @ (QueryValue::Text(_) | QueryValue::Number(_) | QueryValue::Time(_)) => {
            Ok(Query::Compare(field, how, value))
        }
    }
}

fn comparison(sign: &str) -> Comparison {
    match sign {
        "=" => Comparison::Equal,
        "<" => Comparison::Less,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Greater,
        ">=" => Comparison::AtLeast,
        _ => Comparison::NotEqual,
    }
}

fn field(name: &str) -> Result<QueryField, InvalidQuery> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "msg_id" => QueryField::MsgId,
        "from_email" => QueryField::FromEmail,
        "to_email" => QueryField::ToEmail,
        "subject" => QueryField::Subject,
        "status" => QueryField::Status,
        "template_id" => QueryField::TemplateId,
        "asm_group_id" => QueryField::AsmGroupId,
        "category" | "categories" => QueryField::Category,
        "opens" | "opens_count" => QueryField::Opens,
        "clicks" | "clicks_count" => QueryField::Clicks,
        "last_event_time" => QueryField::LastEventTime,
        // The wording of the v3 API (API facts 1, messages).
        _ => return Err(InvalidQuery(format!("'{name}' is not a known field"))),
    })
}
