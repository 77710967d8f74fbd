//! Who an account may send as: its domains, its verified senders, the addresses that it may forward
//! reports to, the mails by which owners confirm them, its pools of sending addresses, and the hosts of its links.

mod domains;
mod forwards;
mod ips;
mod links;
mod senders;
mod system_mails;

pub use domains::{Borrower, DkimKey, Domain, Lent, SenderAuthority};
pub use forwards::ForwardTo;
pub use ips::{IpPools, MOST_IP_POOLS, MOST_IPS_IN_POOLS, MOST_REVERSE_DNS, ReverseDns};
pub use links::{BrandedLink, LentLink, LinkBranding, MOST_BRANDED_LINKS};
pub use senders::{Resaved, SenderFields, SenderLink, VerifiedSender};
pub use system_mails::{
    Counted, CountedMail, SYSTEM_MAIL_PAUSE, SYSTEM_MAIL_PERIOD, SYSTEM_MAILS_PER_ACCOUNT,
    SYSTEM_MAILS_PER_ADDRESS, SystemMail,
};
