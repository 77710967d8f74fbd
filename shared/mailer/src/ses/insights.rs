//! What SES knows of one mail (`GetMessageInsights`), for owners of the Virtual Deliverability Manager.

use aws_sdk_sesv2::error::ProvideErrorMetadata;
use aws_sdk_sesv2::types::InsightsEvent;

use super::{Ses, SesError, client};

/// Something that SES knows of a mail to one recipient. Types and subtypes are verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SesInsight {
    /// `DELIVERY`, `BOUNCE`, `COMPLAINT`, …
    pub kind: String,
    /// Seconds since the epoch.
    pub at: Option<i64>,
    /// `PERMANENT`, `TRANSIENT`, `UNDETERMINED`.
    pub bounce_type: Option<String>,
    pub sub_type: Option<String>,
    /// What the other server said.
    pub diagnostic: Option<String>,
}

/// Why SES did not say what it knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsightsError {
    /// It takes one such call a second.
    #[error("SES takes no more questions now")]
    Throttled,
    #[error(transparent)]
    Other(#[from] SesError),
}

impl SesInsight {
    fn of(event: &InsightsEvent) -> Option<Self> {
        let details = event.details();
        let bounce = details.and_then(|details| details.bounce());
        let complaint = details.and_then(|details| details.complaint());
        let sub_type = match (bounce, complaint) {
            (Some(bounce), _) => bounce.bounce_sub_type(),
            (None, Some(complaint)) => complaint.complaint_sub_type(),
            (None, None) => None,
        };
        Some(Self {
            kind: event.r#type()?.as_str().to_owned(),
            at: event.timestamp().map(|at| at.secs()),
            bounce_type: bounce
                .and_then(|bounce| bounce.bounce_type())
                .map(|kind| kind.as_str().to_owned()),
            sub_type: sub_type.map(str::to_owned),
            diagnostic: bounce
                .and_then(|bounce| bounce.diagnostic_code())
                .map(str::to_owned),
        })
    }
}

impl Ses {
    /// What SES knows of a mail by the id that it gave it; nothing of one that it does not know.
    pub async fn insights(&self, ses_message: &str) -> Result<Vec<SesInsight>, InsightsError> {
        let client = self.0.client.get_or_init(|| async { client(&self.0.aws) });
        let asked = client
            .await
            .get_message_insights()
            .message_id(ses_message)
            .send()
            .await;
        match asked {
            Ok(answer) => {
                let events = answer.insights().iter().flat_map(|one| one.events());
                Ok(events.filter_map(SesInsight::of).collect())
            }
            Err(error) => match error.code() {
                Some("NotFoundException") => Ok(Vec::new()),
                Some("TooManyRequestsException" | "ThrottlingException" | "Throttling") => {
                    Err(InsightsError::Throttled)
                }
                _ => Err(SesError::of(&error).into()),
            },
        }
    }
}
