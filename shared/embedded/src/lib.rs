//! Calls the embedded table with the name and JSON of an operation, for code that runs the store's
//! calls inside one process: the local host, and the table that measures what tests write.

use dynoxide::actions::transact_write_items::{
    TransactWriteItemsRequest, TransactWriteItemsResponse,
};
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Runs one operation of DynamoDB (`PutItem`, …) and returns its answer as JSON.
///
/// # Errors
/// What DynamoDB would answer. An operation that this service never calls is answered as an unknown
/// one.
pub fn run(database: &Database, operation: &str, body: &[u8]) -> dynoxide::Result<String> {
    match operation {
        "GetItem" => answer(body, |request| database.get_item(request)),
        "PutItem" => answer(body, |request| database.put_item(request)),
        "UpdateItem" => answer(body, |request| database.update_item(request)),
        "DeleteItem" => answer(body, |request| database.delete_item(request)),
        "Query" => answer(body, |request| database.query(request)),
        "Scan" => answer(body, |request| database.scan(request)),
        "BatchGetItem" => answer(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => answer(body, |request| database.batch_write_item(request)),
        "TransactWriteItems" => answer(body, |request| transact(database, request)),
        "TransactGetItems" => answer(body, |request| database.transact_get_items(request)),
        "CreateTable" => answer(body, |request| database.create_table(request)),
        "DescribeTable" => answer(body, |request| database.describe_table(request)),
        "UpdateTimeToLive" => answer(body, |request| database.update_time_to_live(request)),
        "DescribeTimeToLive" => answer(body, |request| database.describe_time_to_live(request)),
        "ListTables" => answer(body, |request| database.list_tables(request)),
        _ => Err(DynoxideError::ValidationException(format!(
            "{operation} is not served here"
        ))),
    }
}

/// Runs a transaction without its token. The token is for a caller whose answer was lost on the way, which happens to none
/// within a process; the table would keep each for ten minutes, and go through all of them at each transaction.
fn transact(
    database: &Database,
    mut request: TransactWriteItemsRequest,
) -> dynoxide::Result<TransactWriteItemsResponse> {
    request.client_request_token = None;
    database.transact_write_items(request)
}

fn answer<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> dynoxide::Result<A>,
) -> dynoxide::Result<String> {
    let unreadable = |e: serde_json::Error| DynoxideError::SerializationException(e.to_string());
    let request = serde_json::from_slice(body).map_err(unreadable)?;
    let answer = operation(request)?;
    serde_json::to_string(&answer).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_keeps_nothing_of_a_transaction_that_is_over() {
        let database = Database::memory().expect("a table in memory");
        let table = r#"{"TableName":"table","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}"#;
        run(&database, "CreateTable", table.as_bytes()).expect("a new table");
        for key in ["a", "b"] {
            let put = format!(
                r#"{{"ClientRequestToken":"one","TransactItems":[{{"Put":{{"TableName":"table","Item":{{"pk":{{"S":"{key}"}}}}}}}}]}}"#
            );
            // A table that remembers the token refuses the second: its items are others.
            run(&database, "TransactWriteItems", put.as_bytes()).expect("a transaction");
        }
        let rows = run(&database, "Scan", br#"{"TableName":"table"}"#).expect("rows");
        assert!(rows.contains(r#""Count":2"#), "{rows}");
    }
}
