//! The limit of open files, which sockets count towards.
//!
//! Shells usually allow 1,024, and the ports together may hold several thousand sockets. At the
//! limit no port accepts a connection, and no file of the data folder can be opened.

use posthaste_smtpd::SmtpLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::limits::HttpLimits;

/// Files besides the clients' sockets: the data folder, and connections to relays, receivers and
/// name servers.
const OTHERS: u64 = 256;

/// Raises the process's limit of open files to what so many ports may hold, as far as the system
/// lets it, and warns where that is too little.
pub(crate) fn allow_files(http: &HttpLimits, http_ports: usize, smtp_ports: usize) {
    let sockets = most_sockets(http, http_ports, smtp_ports);
    let wanted = u64::try_from(sockets).unwrap_or(u64::MAX);
    let wanted = wanted.saturating_add(OTHERS);
    let raise = |limit| setrlimit(Resource::Nofile, limit).is_ok();
    if let Some(files) = too_few(getrlimit(Resource::Nofile), wanted, raise) {
        tracing::warn!(
            files.allowed = files,
            files.wanted = wanted,
            "this process may open {files} files, and its ports may hold {sockets} connections: allow it {wanted} (ulimit -n)"
        );
    }
}

fn most_sockets(http: &HttpLimits, http_ports: usize, smtp_ports: usize) -> usize {
    let http = http.most_sockets().saturating_mul(http_ports);
    let smtp = SmtpLimits::default().most_sockets();
    http.saturating_add(smtp.saturating_mul(smtp_ports))
}

/// Raises the limit where it is below `wanted`. Returns the files that may be open then, if that is
/// still too few.
fn too_few(limit: Rlimit, wanted: u64, raise: impl FnOnce(Rlimit) -> bool) -> Option<u64> {
    // Absent: there is no limit.
    let files = limit.current.filter(|files| *files < wanted)?;
    let most = limit.maximum.map_or(wanted, |most| most.min(wanted));
    let raised = Rlimit {
        current: Some(most),
        ..limit
    };
    if most > files && raise(raised) {
        return Some(most).filter(|files| *files < wanted);
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_counts() {
        let limits = HttpLimits::default();
        let one = 1024 + 256 + 64;
        assert_eq!(most_sockets(&limits, 1, 0), one);
        assert_eq!(most_sockets(&limits, 2, 3), 2 * one + 3 * (256 + 64));
        let proxied = limits.with_connections_per_client(5_000);
        assert_eq!(most_sockets(&proxied, 1, 0), one - 1024 + 5_000);
    }

    #[test]
    fn a_limit_is_raised_as_far_as_the_system_lets_it() {
        // The soft limit, the hard one, what is asked for, and what is too few in the end.
        for (current, maximum, asked, few) in [
            (None, None, None, None),
            (Some(4_000), Some(4_000), None, None),
            (Some(9_000), None, None, None),
            (Some(1_024), Some(524_288), Some(4_000), None),
            (Some(1_024), None, Some(4_000), None),
            (Some(1_024), Some(2_048), Some(2_048), Some(2_048)),
            (Some(1_024), Some(1_024), None, Some(1_024)),
        ] {
            let limit = Rlimit { current, maximum };
            let mut got = None;
            let raise = |new: Rlimit| {
                assert_eq!(new.maximum, maximum);
                got = new.current;
                true
            };
            assert_eq!(too_few(limit, 4_000, raise), few, "{limit:?}");
            assert_eq!(got, asked, "{limit:?}");
        }
        let limit = Rlimit {
            current: Some(1_024),
            maximum: Some(524_288),
        };
        assert_eq!(too_few(limit, 4_000, |_| false), Some(1_024), "refused");
    }
}
