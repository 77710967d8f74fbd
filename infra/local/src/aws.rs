//! `--aws`: the API of a deployed stack in this one process, for what Lambda cannot take.
//!
//! A request to Lambda ends at 6 MB; this listener takes the 30 MiB of the contract and puts the
//! same jobs on the same queues. The workers stay where they are.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use posthaste_runtime::Boot;
use tokio::net::TcpListener;

use crate::args::Args;
use crate::serve::{self, TlsError};

/// Why the API does not run.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    #[error("the stack cannot be opened: {0}")]
    Config(posthaste_runtime::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("the API cannot listen on {0}: {1}")]
    Port(SocketAddr, io::Error),
    #[error("the API stopped: {0}")]
    Stopped(io::Error),
}

/// The API, listening.
#[derive(Debug)]
pub struct Api {
    listener: TcpListener,
    tls: Option<std::sync::Arc<rustls::ServerConfig>>,
    router: Router,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Api {
    /// Opens the stack that the variables of its functions name, and listens.
    ///
    /// # Errors
    /// When a variable is missing or wrong, the port is in use, or the certificate does not work.
    pub async fn open(args: &Args, boot: &Boot) -> Result<Self, AwsError> {
        let router = routes(boot).map_err(AwsError::Config)?;
        let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
        let tls = tls.map(|(cert, key)| serve::tls(cert, key)).transpose()?;
        let wanted = SocketAddr::new(args.host, args.port);
        let port = |e| AwsError::Port(wanted, e);
        let listener = TcpListener::bind(wanted).await.map_err(port)?;
        let address = listener.local_addr().map_err(port)?;
        Ok(Self {
            listener,
            tls,
            router,
            address,
        })
    }

    /// Serves until `stop` resolves; requests under way are finished.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), AwsError> {
        let serving = serve::http(self.listener, self.tls, self.router, stop);
        serving.await.map_err(AwsError::Stopped)
    }
}

/// Every route of every function, as the template deploys them.
fn routes(boot: &Boot) -> Result<Router, posthaste_runtime::Error> {
    let gate = boot.gate()?;
    let gate = || gate.clone();
    let all = mail_send::routes(mail_send::App::open(boot)?, gate())
        .merge(mail_batch::routes(mail_batch::App::open(boot)?, gate()))
        .merge(event_settings::routes(
            event_settings::App::open(boot)?,
            gate(),
        ))
        .merge(templates::routes(templates::App::open(boot)?, gate()))
        .merge(tracking::routes(tracking::App::open(boot)?, gate()))
        .merge(account_settings::routes(
            account_settings::App::open(boot)?,
            gate(),
        ))
        .merge(activity::routes(activity::App::open(boot)?, gate()))
        .merge(api_keys::routes(api_keys::App::open(boot)?, gate()))
        .merge(access_settings::routes(
            access_settings::App::open(boot)?,
            gate(),
        ))
        .merge(subusers::routes(subusers::App::open(boot)?, gate()))
        .merge(suppressions::routes(suppressions::App::open(boot)?, gate()))
        .merge(sender_identity::routes(
            sender_identity::App::open(boot)?,
            gate(),
        ))
        .merge(parse_settings::routes(
            parse_settings::App::open(boot)?,
            gate(),
        ));
    Ok(all.into_router())
}
