//! The listening side: who gets in, and the end of it all.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;

use crate::budget::Budget;
use crate::connection::{Connection, Shared};
use crate::{Config, Handler, Limits, Session};

/// After accept failed, which it does when file descriptors run out.
const BREATH: Duration = Duration::from_millis(100);

/// How long a client for whom there is no room may take to read so.
const NO_ROOM: Duration = Duration::from_secs(2);

/// Serves the port until `stop` resolves, then lets mails under way finish for as long as
/// [`Limits::farewell`] allows, and returns.
pub async fn serve<H: Handler>(
    listener: TcpListener,
    config: Config,
    handler: Arc<H>,
    stop: impl Future<Output = ()>,
) {
    let seats = Seats::default();
    let farewell = config.limits.farewell;
    let shared = Arc::new(Shared {
        budget: Budget::new(config.limits.buffered),
        config,
        handler,
    });
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let mut id = 0_u64;
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    id += 1;
                    match seats.take(peer.ip(), &shared.config.limits) {
                        Some(seat) => {
                            let guest = Guest { stream, peer, id, _seat: seat };
                            connections.spawn(attend(guest, Arc::clone(&shared), stopped.clone()));
                        }
                        None => {
                            connections.spawn(turn_away(stream));
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept SMTP connections");
                    tokio::time::sleep(BREATH).await;
                }
            },
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let all = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if timeout(farewell, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// A client who has a seat.
struct Guest {
    stream: TcpStream,
    peer: SocketAddr,
    /// Number of the connection.
    id: u64,
    _seat: Seat,
}

async fn attend<H: Handler>(guest: Guest, shared: Arc<Shared<H>>, stop: watch::Receiver<bool>) {
    // Replies are written whole: there is nothing to wait for before sending them.
    if guest.stream.set_nodelay(true).is_err() {
        return;
    }
    let session = Session {
        id: guest.id,
        peer: guest.peer,
        tls: false,
        hello: String::new(),
        esmtp: false,
        identity: None,
    };
    let stream = Box::new(guest.stream);
    Connection::new(stream, session, shared, stop).run().await;
}

async fn turn_away(mut stream: TcpStream) {
    let sorry = b"421 4.7.0 too many connections\r\n";
    // Whether it is heard or not, the connection ends.
    let _ = timeout(NO_ROOM, stream.write_all(sorry)).await;
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "an SMTP connection panicked");
    }
}

/// Who is connected.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One connection's place, given back when dropped.
struct Seat {
    seats: Seats,
    ip: IpAddr,
}

impl Seats {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Counts are changed in one step, so a panic elsewhere leaves them right.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, ip: IpAddr, limits: &Limits) -> Option<Seat> {
        let ip = household(ip);
        let mut taken = self.lock();
        let mine = taken.get(&ip).copied().unwrap_or_default();
        let all: usize = taken.values().sum();
        if mine >= limits.connections_per_peer || all >= limits.connections {
            return None;
        }
        taken.insert(ip, mine + 1);
        Some(Seat {
            seats: self.clone(),
            ip,
        })
    }
}

/// Whoever has one IPv6 address has the 2^64 beside it.
fn household(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        if let Some(count) = taken.get_mut(&self.ip) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_counted_for_each_and_for_all() {
        let limits = Limits {
            connections: 3,
            connections_per_peer: 2,
            ..Limits::default()
        };
        let seats = Seats::default();
        let (ann, bob) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = seats.take(ann, &limits).unwrap();
        let _second = seats.take(ann, &limits).unwrap();
        assert!(seats.take(ann, &limits).is_none(), "two of one address");
        let third = seats.take(bob, &limits).unwrap();
        assert!(seats.take(bob, &limits).is_none(), "three in all");
        drop(first);
        assert!(seats.take(bob, &limits).is_some());
        drop(third);
        assert_eq!(seats.lock().len(), 1, "who has left is forgotten");
    }

    #[test]
    fn neighbours_in_ipv6_are_one_household() {
        for (ip, want) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let (ip, want): (IpAddr, IpAddr) = (ip.parse().unwrap(), want.parse().unwrap());
            assert_eq!(household(ip), want);
        }
    }
}
