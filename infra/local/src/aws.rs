//! `--aws`: the API of a deployed stack in this one process, for requests that exceed Lambda's
//! limits.
//!
//! A request to Lambda is limited to 6 MB, and Lambda does not accept SMTP; this process accepts
//! the 30 MiB of the v3 API on both ports and puts the same jobs on the same queues. The workers
//! remain in Lambda.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use posthaste_listen::MemoryBudget;
use posthaste_model::PublicUrl;
use posthaste_runtime::{Error, Platform};
use posthaste_submission::{self as submission, SmtpAccess, Submission};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::args::{API_PORT, Args, SUBMISSION_PORT};
use crate::certificates::{self, TlsError};
use crate::serve::{self, HttpLimits, Server};
use crate::workers::stopped;
use crate::{functions, health};

/// Why the API does not run.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    #[error("the stack cannot be opened: {0}")]
    Config(Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("the {0} cannot listen on {1} ({2}): {3}")]
    Port(&'static str, SocketAddr, &'static str, io::Error),
}

impl AwsError {
    /// The exit code of the process: 2 where a variable or a certificate is missing or wrong, as for
    /// a flag.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Tls(_) => 2,
            Self::Port(..) => 1,
        }
    }
}

/// The API and the port for submission, listening.
pub struct ApiServer {
    listener: TcpListener,
    server: Server,
    /// The address it listens on.
    pub address: SocketAddr,
    submission_port: (TcpListener, Submission),
    /// The address that accepts mail by SMTP.
    pub submission: SocketAddr,
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiServer({}, {})", self.address, self.submission)
    }
}

impl ApiServer {
    /// Opens the stack that the variables of its functions name, and listens.
    pub async fn open(args: &Args, platform: &Platform) -> Result<Self, AwsError> {
        let gate = platform.gate().map_err(|e| AwsError::Config(e.into()))?;
        let submission = Submission {
            faults: None,
            app: mail_send::App::from_env(platform).map_err(|e| AwsError::Config(e.into()))?,
            gate: gate.clone(),
            // The greeting is not a secret of the stack's: without the variable any name will do.
            hostname: platform
                .env()
                .optional("MAIL_HOSTNAME")
                .map_err(|e| AwsError::Config(e.into()))?
                .unwrap_or_else(|| args.hostname.clone()),
            access: SmtpAccess::KeyRequired,
            // Writes that the table and the queue have acknowledged are durable there.
            durable: submission::durable_already(),
        };
        // Behind the gateway the functions need none: links then lead to the name that the gateway
        // gives the request. Nothing gives one here, and each mail with a link would be refused.
        platform
            .env()
            .parsed::<PublicUrl>("PUBLIC_URL")
            .map_err(|e| AwsError::Config(e.into()))?;
        let routes =
            functions::routes(platform, &gate, &submission.app).map_err(AwsError::Config)?;
        let router = health::routes(
            platform.store().map_err(|e| AwsError::Config(e.into()))?,
            None,
            platform.clock(),
        )
        .merge(routes.into_router());
        let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
        let tls = tls
            .map(|(cert, key)| certificates::server_config(cert, key))
            .transpose()?;
        let (listener, address) =
            listen("API", "--port", args, args.port.unwrap_or(API_PORT)).await?;
        let (port, submitting) = listen(
            "submission port",
            "--submission-port",
            args,
            args.submission_port.unwrap_or(SUBMISSION_PORT),
        )
        .await?;
        let limits =
            HttpLimits::default().with_connections_per_client(args.connections_per_address.get());
        serve::allow_files(&limits, 1, 1);
        let server = Server {
            name: "API",
            bodies: MemoryBudget::new(limits.bodies),
            limits,
            tls,
            router,
        };
        Ok(Self {
            listener,
            server,
            address,
            submission_port: (port, submission),
            submission: submitting,
        })
    }

    /// Serves until `stop` resolves; requests and mails under way are finished.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) {
        let (signal, stopping) = watch::channel(false);
        tokio::spawn(async move {
            stop.await;
            signal.send_replace(true);
        });
        let (listener, submission) = self.submission_port;
        let (certificate, until) = (self.server.tls.clone(), stopped(stopping.clone()));
        let submitting = tokio::spawn(submission::serve(listener, submission, certificate, until));
        self.server.run(self.listener, stopped(stopping)).await;
        // It ends by itself; a panic in it affects nothing else.
        let _ = submitting.await;
    }
}

async fn listen(
    what: &'static str,
    flag: &'static str,
    args: &Args,
    port: u16,
) -> Result<(TcpListener, SocketAddr), AwsError> {
    let wanted = SocketAddr::new(args.host, port);
    let port = |e| AwsError::Port(what, wanted, flag, e);
    let listener = TcpListener::bind(wanted).await.map_err(port)?;
    let address = listener.local_addr().map_err(port)?;
    Ok((listener, address))
}
