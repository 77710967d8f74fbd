//! Sender identity: DKIM keys and signatures, and the DNS records that verify a domain.

mod canonical;
mod dkim;
mod proof;
mod received;

pub use dkim::{DkimError, KeyPair, Signer, place};
pub use proof::{RecordCheck, RecordPlan, Target, check, judge, records};
pub use received::{Came, CheckedSender, SpfCheck, check_received};
