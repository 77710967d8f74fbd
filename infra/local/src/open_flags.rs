//! What lets more people send mail than may be meant: each needs this machine alone, or a flag of its own.

use std::net::IpAddr;

use posthaste_mailer::RelayUrl;

use crate::args::{Args, NO_LOGIN_PORT};

/// Flags that together open the service to more people than they may be meant to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsafeFlags {
    #[error(
        "{flag} accepts mail without a key, and --host {host} opens this host to your network: add \
         --open-to-network if that is meant"
    )]
    Network { flag: &'static str, host: IpAddr },
    #[error(
        "{flag} accepts mail without a key and --relay sends it: add --open-with-relay if that is meant"
    )]
    Relay { flag: &'static str },
    #[error(
        "--release-relay lets everyone at the mailbox send mail, and --host or --mailbox-host opens it to others: add \
         --mailbox-login, or --open-to-network if that is meant"
    )]
    Release,
}

fn is_loopback(args: &Args) -> bool {
    args.host.to_canonical().is_loopback()
}

/// Refuses what accepts mail without a key where the host is open to a network, or mail leaves it, unless a flag of its
/// own says so.
pub(crate) fn check_open(args: &Args, flag: &'static str) -> Result<(), UnsafeFlags> {
    if !is_loopback(args) && !args.open_to_network {
        let host = args.host;
        return Err(UnsafeFlags::Network { flag, host });
    }
    if args.relay.is_some() && !args.open_with_relay {
        return Err(UnsafeFlags::Relay { flag });
    }
    Ok(())
}

/// Where the port without a login listens: by default only where it is safe.
pub(crate) fn no_login_port(args: &Args) -> Result<Option<u16>, UnsafeFlags> {
    let is_safe = check_open(args, "--no-login-port");
    match args.no_login_port {
        Some(port) => is_safe.map(|()| Some(port)),
        None => Ok(is_safe.is_ok().then_some(NO_LOGIN_PORT)),
    }
}

/// The relay that recorded mails are released to: one of its own, or that of all mail. The mailbox records any mail
/// that it is handed, so with a relay it sends any mail to anyone. Therefore it has a login, or is reached from this
/// machine only, unless a flag says otherwise; and the relay of all mail is used as for other mail without a key.
pub(crate) fn release_relay(args: &Args) -> Result<Option<RelayUrl>, UnsafeFlags> {
    let has_login = args.mailbox_login.is_some();
    let is_of_this_machine = is_loopback(args) && args.mailbox_host.is_empty();
    let is_safe = has_login || is_of_this_machine || args.open_to_network;
    match &args.release_relay {
        Some(_) if !is_safe => Err(UnsafeFlags::Release),
        Some(relay) => Ok(Some(relay.clone())),
        None => {
            let is_safe = has_login || is_safe && args.open_with_relay;
            Ok(args.relay.clone().filter(|_| is_safe))
        }
    }
}
