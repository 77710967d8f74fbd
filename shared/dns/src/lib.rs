//! Looks up names in the DNS, or in a zone in memory.

mod resolver;

pub use resolver::{DnsError, DnsRecords, Resolver, Zone};
