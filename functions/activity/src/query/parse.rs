//! Parses tokens into a tree. `NOT` binds before `AND`, `AND` before `OR`.

use posthaste_model::Timestamp;

use super::tokens::{QueryToken, tokens};
use super::{Comparison, FieldSet, InvalidQuery, Query, QueryField, QueryValue, folded};
use crate::mail::{event_name, event_of};

/// Brackets and `NOT`s inside each other, at most.
const DEEPEST: u32 = 32;

/// Conditions in a query, and values in a list, at most.
const MOST: usize = 100;

/// The maximum number of characters of a pattern: a text is compared with it in time proportional
/// to the product of the lengths.
const LONGEST_PATTERN: usize = 256;

pub(super) fn query(text: &str, fields: FieldSet) -> Result<Query, InvalidQuery> {
    let mut reader = QueryParser {
        fields,
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
    fields: FieldSet,
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
        let next = self.tokens.get(self.at + 1);
        if next == Some(&QueryToken::Open) && self.takes("CONTAINS") {
            return self.contains();
        }
        let field = self.field()?;
        if field == QueryField::UniqueArgs {
            let why = "unique_args takes a name: unique_args['name']";
            return Err(InvalidQuery(why.to_owned()));
        }
        if let Some(QueryToken::Sign(sign)) = self.tokens.get(self.at) {
            let how = comparison(sign);
            self.at += 1;
            let value = self.value(&field)?;
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
            let value = self.value(&field)?;
            let from = compared(field.clone(), Comparison::AtLeast, value)?;
            if !self.takes("AND") {
                return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
            }
            let value = self.value(&field)?;
            let to = compared(field, Comparison::AtMost, value)?;
            Query::All(vec![from, to])
        } else {
            return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
        };
        Ok(negated(not, condition))
    }

    /// A field, and the name of a custom argument with it.
    fn field(&mut self) -> Result<QueryField, InvalidQuery> {
        let field = match self.need()? {
            QueryToken::Word(name) => field(&name, self.fields)?,
            other => return Err(unexpected(&other)),
        };
        if field != QueryField::UniqueArgs || !self.takes_token(&QueryToken::OpenName) {
            return Ok(field);
        }
        let name = match self.need()? {
            QueryToken::Text(name) | QueryToken::Word(name) => name,
            other => return Err(unexpected(&other)),
        };
        match self.need()? {
            QueryToken::CloseName => Ok(QueryField::UniqueArg(name)),
            other => Err(unexpected(&other)),
        }
    }

    /// `CONTAINS(field, "value")`, from its bracket on.
    fn contains(&mut self) -> Result<Query, InvalidQuery> {
        self.takes_token(&QueryToken::Open);
        let field = self.field()?;
        if !field.is_collection() {
            // The wording of the v3 API.
            let why = "CONTAINS expects an array or map type as the first argument";
            return Err(InvalidQuery(why.to_owned()));
        }
        match self.need()? {
            QueryToken::Comma => {}
            other => return Err(unexpected(&other)),
        }
        let QueryValue::Text(wanted) = self.value(&field)? else {
            return Err(InvalidQuery("CONTAINS compares texts".to_owned()));
        };
        match self.need()? {
            QueryToken::Close => Ok(Query::Contains(field, wanted)),
            other => Err(unexpected(&other)),
        }
    }

    fn like(&mut self, field: QueryField) -> Result<Query, InvalidQuery> {
        match self.need()? {
            QueryToken::Text(pattern) if pattern.chars().count() > LONGEST_PATTERN => {
                let why = format!("a pattern has at most {LONGEST_PATTERN} characters");
                Err(InvalidQuery(why))
            }
            QueryToken::Text(pattern) => Ok(Query::Like(field, pattern.to_lowercase())),
            other => Err(unexpected(&other)),
        }
    }

    fn among(&mut self, field: QueryField) -> Result<Query, InvalidQuery> {
        if !self.takes_token(&QueryToken::Open) {
            return Err(self.next().map_or_else(ended, |token| unexpected(&token)));
        }
        let mut values = vec![self.value(&field)?];
        loop {
            match self.need()? {
                QueryToken::Comma if values.len() < MOST => values.push(self.value(&field)?),
                QueryToken::Comma => return Err(InvalidQuery(format!("more than {MOST} values"))),
                QueryToken::Close => return Ok(Query::Among(field, values)),
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// A value of the field's own kind.
    fn value(&mut self, field: &QueryField) -> Result<QueryValue, InvalidQuery> {
        self.takes("TIMESTAMP");
        let token = self.need()?;
        let text = match &token {
            QueryToken::Text(text) | QueryToken::Word(text) => text.as_str(),
            QueryToken::Sign(_)
            | QueryToken::Open
            | QueryToken::Close
            | QueryToken::OpenName
            | QueryToken::CloseName
            | QueryToken::Comma => return Err(unexpected(&token)),
        };
        match field {
            QueryField::LastEventTime | QueryField::AcceptedAt => {
                let at = Timestamp::from_iso(text).map(QueryValue::Time);
                at.ok_or_else(|| InvalidQuery(format!("'{text}' is not a time")))
            }
            QueryField::Opens | QueryField::Clicks | QueryField::AsmGroupId => {
                let number = text.parse().map(QueryValue::Number);
                number.map_err(|_| InvalidQuery(format!("'{text}' is not a number")))
            }
            QueryField::Status => one_of(text, &["processed", "delivered", "not_delivered"]),
            QueryField::LogStatus => one_of(text, &LOG_STATUSES),
            QueryField::Events => {
                let kind = event_of(&text.to_ascii_lowercase());
                let kind = kind.ok_or_else(|| InvalidQuery(format!("'{text}' is not an event")))?;
                Ok(QueryValue::Text(event_name(kind).to_owned()))
            }
            QueryField::FromEmail | QueryField::ToEmail => Ok(QueryValue::Text(folded(text))),
            QueryField::Subject => Ok(QueryValue::Text(text.to_lowercase())),
            QueryField::MsgId
            | QueryField::Reason
            | QueryField::TemplateId
            | QueryField::TemplateName
            | QueryField::AsmGroupName
            | QueryField::ApiKeyId
            | QueryField::Category
            | QueryField::UniqueArgs
            | QueryField::UniqueArg(_)
            | QueryField::OutboundIp => Ok(QueryValue::Text(text.to_owned())),
        }
    }
}

/// The statuses of `/v3/logs`.
const LOG_STATUSES: [&str; 6] = [
    "processed",
    "delivered",
    "deferred",
    "dropped",
    "bounced",
    "blocked",
];

fn one_of(text: &str, statuses: &[&str]) -> Result<QueryValue, InvalidQuery> {
    let lower = text.to_ascii_lowercase();
    if statuses.contains(&lower.as_str()) {
        Ok(QueryValue::Text(lower))
    } else {
        Err(InvalidQuery(format!("'{text}' is not a status")))
    }
}

fn negated(not: bool, query: Query) -> Query {
    if not {
        Query::Not(Box::new(query))
    } else {
        query
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

fn field(name: &str, fields: FieldSet) -> Result<QueryField, InvalidQuery> {
    let lower = name.to_ascii_lowercase();
    let field = match fields {
        FieldSet::Messages => field_of_messages(&lower),
        FieldSet::Logs => field_of_logs(&lower),
    };
    // The wording of the v3 API (API facts 1, messages).
    field.ok_or_else(|| InvalidQuery(format!("'{name}' is not a known field")))
}

fn field_of_messages(name: &str) -> Option<QueryField> {
    Some(match name {
        "msg_id" => QueryField::MsgId,
        "from_email" => QueryField::FromEmail,
        "to_email" => QueryField::ToEmail,
        "subject" => QueryField::Subject,
        "status" => QueryField::Status,
        "template_id" => QueryField::TemplateId,
        "template_name" => QueryField::TemplateName,
        "asm_group_id" => QueryField::AsmGroupId,
        "asm_group_name" => QueryField::AsmGroupName,
        "api_key_id" => QueryField::ApiKeyId,
        "category" | "categories" => QueryField::Category,
        "event" | "events" => QueryField::Events,
        "unique_args" => QueryField::UniqueArgs,
        "outbound_ip" => QueryField::OutboundIp,
        "opens" | "opens_count" => QueryField::Opens,
        "clicks" | "clicks_count" => QueryField::Clicks,
        "last_event_time" => QueryField::LastEventTime,
        _ => return None,
    })
}

fn field_of_logs(name: &str) -> Option<QueryField> {
    Some(match name {
        "sg_message_id" => QueryField::MsgId,
        "subject" => QueryField::Subject,
        "to_email" => QueryField::ToEmail,
        "status" => QueryField::LogStatus,
        "reason" => QueryField::Reason,
        "categories" => QueryField::Category,
        "sg_message_id_created_at" => QueryField::AcceptedAt,
        _ => return None,
    })
}
