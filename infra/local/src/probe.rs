//! `posthaste health`: asks the service on this machine for `GET /health`, as a container's health check does.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::certificates::{self, TlsError};

/// How long the whole exchange may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// Which service is asked. The flags and variables are the service's own.
#[derive(Debug, clap::Args)]
pub struct HealthCheck {
    /// Address that the service listens on
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        env = "POSTHASTE_HOST",
        hide_env_values = true
    )]
    host: IpAddr,
    /// Port of its API
    #[arg(
        long,
        value_name = "PORT",
        default_value = "3000",
        env = "POSTHASTE_PORT",
        hide_env_values = true
    )]
    pub(crate) port: u16,
    /// Its certificate chain (PEM), if it speaks HTTPS: no other certificate is accepted, and names are not compared
    #[arg(
        long,
        value_name = "FILE",
        env = "POSTHASTE_TLS_CERT",
        hide_env_values = true
    )]
    tls_cert: Option<PathBuf>,
}

/// Why a service is not known to be well.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error("the service at {0} cannot be reached: {1}")]
    Unreachable(SocketAddr, io::Error),
    #[error("the service at {0} does not answer: {1}")]
    NoAnswer(SocketAddr, Box<dyn std::error::Error + Send + Sync>),
    #[error("the service at {0} does not answer within {1} seconds")]
    Slow(SocketAddr, u64),
    #[error("the service at {0} is unavailable ({1}): {2}")]
    Unavailable(SocketAddr, StatusCode, String),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl HealthError {
    /// The exit code of the process: 2 where the certificate cannot be read, as for a flag.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Tls(_) => 2,
            Self::Unreachable(..) | Self::NoAnswer(..) | Self::Slow(..) | Self::Unavailable(..) => {
                1
            }
        }
    }
}

impl HealthCheck {
    /// The service's answer, if it is well.
    pub async fn run(&self) -> Result<String, HealthError> {
        let address = self.address();
        let asked = tokio::time::timeout(PATIENCE, self.ask(address)).await;
        let (status, body) =
            asked.map_err(|_| HealthError::Slow(address, PATIENCE.as_secs()))??;
        if status.is_success() {
            Ok(body)
        } else {
            Err(HealthError::Unavailable(address, status, body))
        }
    }

    /// Where the service is reached from this machine.
    fn address(&self) -> SocketAddr {
        let ip = match self.host {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(ip, self.port)
    }

    async fn ask(&self, address: SocketAddr) -> Result<(StatusCode, String), HealthError> {
        let unreachable = |error| HealthError::Unreachable(address, error);
        let config = self.tls_cert.as_deref();
        let config = config.map(certificates::client_config).transpose()?;
        let stream = TcpStream::connect(address).await.map_err(unreachable)?;
        let answer = match config {
            None => get(address, stream).await,
            Some(config) => {
                let name = ServerName::IpAddress(address.ip().into());
                let stream = TlsConnector::from(config).connect(name, stream).await;
                get(address, stream.map_err(unreachable)?).await
            }
        };
        answer.map_err(|error| HealthError::NoAnswer(address, error))
    }
}

/// `GET /health` on a connection of its own.
async fn get<S>(
    address: SocketAddr,
    stream: S,
) -> Result<(StatusCode, String), Box<dyn std::error::Error + Send + Sync>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let request = Request::get("/health")
        .header(header::HOST, address.to_string())
        .header(header::CONNECTION, "close")
        .body(Body::empty())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let answer = async move {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let body = to_bytes(Body::new(answer.into_body()), LONGEST).await?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    };
    // The answer is whole even if the connection does not close in order after it.
    let (answer, _) = tokio::join!(answer, connection);
    answer
}

#[cfg(test)]
mod tests {
    use posthaste_testkit::Certificate;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    const WELL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    const ILL: &str =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\nConnection: close\r\n\r\nill";

    fn check(port: u16, tls_cert: Option<PathBuf>) -> HealthCheck {
        HealthCheck {
            host: Ipv4Addr::UNSPECIFIED.into(),
            port,
            tls_cert,
        }
    }

    async fn answer<S>(mut stream: S, answer: &str)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("GET /health HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nhost: 127.0.0.1:"), "{head}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn a_service_is_well_when_it_says_so() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = async {
            for text in [WELL, ILL, "nonsense\r\n\r\n"] {
                answer(listener.accept().await.unwrap().0, text).await;
            }
        };
        let asking = async {
            let check = check(port, None);
            assert_eq!(check.run().await.unwrap(), "{}");
            let ill = check.run().await.unwrap_err();
            assert!(
                ill.to_string()
                    .ends_with("is unavailable (503 Service Unavailable): ill"),
                "{ill}"
            );
            let nonsense = check.run().await.unwrap_err();
            assert!(matches!(nonsense, HealthError::NoAnswer(..)), "{nonsense}");
            assert_eq!((ill.exit_code(), nonsense.exit_code()), (1, 1));
        };
        tokio::join!(serving, asking);
        drop(listener);
        let gone = check(port, None).run().await.unwrap_err();
        assert!(matches!(gone, HealthError::Unreachable(..)), "{gone}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_says_nothing_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (_silent, gave_up) = tokio::join!(listener.accept(), async {
            check(port, None).run().await.unwrap_err()
        });
        assert!(
            matches!(gave_up, HealthError::Slow(..) | HealthError::NoAnswer(..)),
            "{gave_up}"
        );
    }

    #[tokio::test]
    async fn over_tls_the_service_has_the_certificate_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (own, other) = (
            Certificate::of(&["api.example"]),
            Certificate::of(&["api.example"]),
        );
        let cert = put("cert", &own.pem);
        let config = certificates::server_config(&cert, &put("key", &own.key_pem)).unwrap();
        let acceptor = TlsAcceptor::from(config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = async {
            let (stream, _) = listener.accept().await.unwrap();
            answer(acceptor.accept(stream).await.unwrap(), WELL).await;
            let (stream, _) = listener.accept().await.unwrap();
            assert!(acceptor.accept(stream).await.is_err(), "the client leaves");
        };
        let asking = async {
            assert_eq!(check(port, Some(cert)).run().await.unwrap(), "{}");
            let other = check(port, Some(put("other", &other.pem)));
            let refused = other.run().await.unwrap_err();
            assert!(matches!(refused, HealthError::Unreachable(..)), "{refused}");
            let missing = check(port, Some(dir.path().join("none")));
            let missing = missing.run().await.unwrap_err();
            assert_eq!(missing.exit_code(), 2, "{missing}");
        };
        tokio::join!(serving, asking);
    }
}
