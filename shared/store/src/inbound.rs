//! Received mail: where it is posted and how that is secured, how far each mail is, and those that
//! could not be posted.

mod arrivals;
mod parse;
mod policies;

pub use arrivals::{ArrivalStage, Arriving, LostMail};
pub use parse::{ParseSetting, SettingChange, SettingCreation};
pub use policies::{PolicyDeletion, PolicyOauth, SecurityPolicy};
