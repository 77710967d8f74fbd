//! Received mail: where it is posted, how far each mail is, and those that could not be posted.

mod arrivals;
mod parse;

pub use arrivals::{ArrivalStage, Arriving, LostMail};
pub use parse::ParseSetting;
