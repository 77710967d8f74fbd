//! What CloudFormation asks of a custom resource, and the answer that it waits for
//! (AWS CloudFormation User Guide, "Custom resource reference").

use serde::Deserialize;
use serde_json::{Value, json};

/// A request of CloudFormation. Has no `Debug`: its URL is the right to answer it.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceRequest {
    pub(crate) request_type: RequestType,
    #[serde(rename = "ResponseURL")]
    pub(crate) response_url: String,
    stack_id: String,
    /// A UUID. A repeated call has the same one.
    pub(crate) request_id: String,
    logical_resource_id: String,
    /// Its id of before; none when it is made.
    physical_resource_id: Option<String>,
    #[serde(default)]
    pub(crate) resource_properties: ResourceProperties,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum RequestType {
    Create,
    Update,
    Delete,
}

/// The properties that the template gives the resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ResourceProperties {
    /// User name of the account.
    #[serde(default)]
    pub(crate) username: String,
    /// Where the service answers, for the link into its console.
    #[serde(default)]
    pub(crate) base_url: String,
}

impl ResourceRequest {
    /// The answer: that it is done, or why it is not. The id is the same in all: another one would make CloudFormation
    /// delete the resource of before.
    pub(crate) fn answer(&self, failure: Option<String>) -> Value {
        let id = self.physical_resource_id.as_deref();
        let mut answer = json!({
            "Status": if failure.is_some() { "FAILED" } else { "SUCCESS" },
            "PhysicalResourceId": id.unwrap_or("first-account"),
            "StackId": self.stack_id,
            "RequestId": self.request_id,
            "LogicalResourceId": self.logical_resource_id,
        });
        if let (Some(why), Some(fields)) = (failure, answer.as_object_mut()) {
            fields.insert("Reason".to_owned(), why.into());
        }
        answer
    }
}
