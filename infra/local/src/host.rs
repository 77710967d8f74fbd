//! Starts everything in one process, and stops it in an order that loses nothing.

use std::net::SocketAddr;
use std::time::Duration;

use axum::response::IntoResponse as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_blob::Blob;
use posthaste_http::{Authorizer, Rejection};
use posthaste_listen::Budget;
use posthaste_mailbox::{DEFAULT_LIMIT, Mailbox};
use posthaste_mailer::{Mailer, RelayUrl, Smtp, SmtpConfig};
use posthaste_model::{AccountId, PublicUrl};
use posthaste_runtime::Platform;
use posthaste_store::Store;
use posthaste_submission::{self as submission, Submission};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::engine::{Engine, SEND};
use crate::folder::Folder;
use crate::platform::HostParts;
use crate::serve::{self, Server};
use crate::sources::{Answers, sources};
use crate::start::HostSettings;
use crate::start_error::{StartError, explained};
use crate::table::Table;
use crate::{certificates, first, functions, inbound, platform, relay, workers};

/// A running host.
pub struct Host {
    pub api: SocketAddr,
    pub mailbox: SocketAddr,
    pub smtp: SocketAddr,
    pub submission: SocketAddr,
    /// The key of the first account, in clear; `None` when the data folder's matches no account.
    pub key: Option<String>,
    pub account: AccountId,
    /// A one-sentence note for the developer, when the first account or its key has changed.
    pub notice: Option<String>,
    /// Whether the API speaks HTTPS.
    pub https: bool,
    store: Store,
    sweep: schedule_sweep::App,
    stop: Stop,
}

struct Stop {
    signal: watch::Sender<bool>,
    servers: Vec<JoinHandle<()>>,
    pollers: Vec<JoinHandle<()>>,
    relay: (watch::Sender<bool>, JoinHandle<()>),
    mailer: Mailer,
    mailbox: Mailbox,
    engine: Engine,
    table: Table,
    _folder: Option<Folder>,
}

/// Waits until the switch is thrown (or its owner is gone).
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn listen(
    what: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let port = |e| StartError::Port(what, address, e);
    let listener = TcpListener::bind(address).await.map_err(port)?;
    let address = listener.local_addr().map_err(port)?;
    Ok((listener, address))
}

impl Host {
    /// Starts the whole service.
    #[expect(
        clippy::too_many_lines,
        reason = "one list of parts in the order they start"
    )]
    pub async fn start(settings: &HostSettings) -> Result<Self, StartError> {
        // Ports first: the most frequent failure should leave nothing behind.
        let (api_listener, api) = listen("API", settings.api).await?;
        let (mailbox_listener, mailbox_address) = listen("mailbox", settings.mailbox).await?;
        let (smtp_listener, smtp) = listen("inbound SMTP port", settings.smtp).await?;
        let what = "submission port";
        let (submission_listener, submission) = listen(what, settings.submission).await?;
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let (relay_listener, relay_address) = listen("embedded relay", loopback).await?;
        serve::allow_files(&settings.http, 2, 3);
        let tls = match &settings.tls {
            None => None,
            Some((cert, key)) => Some(certificates::server_config(cert, key)?),
        };
        let folder = settings.data.as_deref().map(Folder::open).transpose()?;
        let file = |name: &str| folder.as_ref().map(|folder| folder.path(name));

        let table = Table::start(file("table.db").as_deref()).await?;
        let table = table.with_clock(settings.clock.clone());
        let engine = Engine::start(file("queue.db").as_deref(), settings.clock.clone())?;
        let blob = match &folder {
            None => Blob::memory(),
            Some(folder) => {
                let blobs = folder.blobs(&table.store).await;
                Blob::folder(&explained(&table, blobs)?)?
            }
        };
        let mailbox = Mailbox::open(
            folder.as_ref().map(|f| f.path("")),
            DEFAULT_LIMIT,
            settings.clock.clone(),
        )?;
        let mailer = mailer(settings, relay_address)?;
        let first = first::account(settings, folder.as_ref(), &table.store).await;
        let first = explained(&table, first)?;
        let public_url = settings.public_url.clone();
        let secret = stack_secret(settings, folder.as_ref())?;
        if let Some(folder) = &folder {
            folder.note_parts()?;
        }
        let answers = Answers::default();
        let platform = platform::platform(
            settings,
            HostParts {
                store: table.store.clone(),
                engine: &engine,
                blob,
                mailer: mailer.clone(),
                secret,
                public_url: public_url
                    .unwrap_or_else(|| PublicUrl::of_listener(tls.is_some(), api)),
                answers: &answers,
            },
        );
        let gate = platform.gate()?;

        let (signal, stop) = watch::channel(false);
        let (relay_signal, relay_stop) = watch::channel(false);
        let hostname = settings.hostname.clone();
        let recorder = mailbox.clone();
        let relay = tokio::spawn(async move {
            relay::serve(
                relay_listener,
                hostname.as_str(),
                recorder,
                stopped(relay_stop),
            )
            .await;
        });
        let received = inbound::InboundHandler {
            parse: inbound_parse::App::from_env(&platform)?,
            feedback: ses_feedback::App::from_env(&platform)?,
        };
        let (until, door) = (stop.clone(), received.clone());
        let inbound = tokio::spawn(async move {
            inbound::serve(smtp_listener, door, stopped(until)).await;
        });
        let port = Submission {
            app: mail_send::App::from_env(&platform)?,
            gate: gate.clone(),
            hostname: settings.hostname.clone(),
            open: first.key.clone().filter(|_| settings.submission_open),
            durable: table.disk.for_submission(),
        };
        let (until, certificate) = (stop.clone(), tls.clone());
        let submitting = tokio::spawn(async move {
            submission::serve(submission_listener, port, certificate, stopped(until)).await;
        });
        let https = tls.is_some();
        let bodies = Budget::new(settings.http.bodies);
        let server = |name, tls, router| Server {
            name,
            limits: settings.http.clone(),
            bodies: bodies.clone(),
            tls,
            router,
        };
        let page = mailbox.clone().router(sources(&table.store, &answers));
        let api_server = server("API", tls, durable(&platform, &gate, &table)?);
        let servers = vec![
            tokio::spawn(api_server.run(api_listener, stopped(stop.clone()))),
            tokio::spawn(
                server("mailbox", None, page).run(mailbox_listener, stopped(stop.clone())),
            ),
            inbound,
            submitting,
        ];
        let sweep = schedule_sweep::App::from_env(&platform)?;
        let mut pollers = workers::start(&platform, received, &engine, &table.disk, &stop)?;
        pollers.push(tokio::spawn(workers::sweeping(sweep.clone(), stop.clone())));
        let store = table.store.clone();
        Ok(Self {
            api,
            mailbox: mailbox_address,
            smtp,
            submission,
            key: first.key,
            account: first.account,
            notice: first.notice,
            https,
            store,
            sweep,
            stop: Stop {
                signal,
                servers,
                pollers,
                relay: (relay_signal, relay),
                mailer,
                mailbox,
                engine,
                table,
                _folder: folder,
            },
        })
    }

    /// The table, for tests and operators.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Waits until a file of the data folder is found damaged, and returns which in one sentence.
    /// Damage is permanent, so the caller should stop the host.
    pub async fn damaged(&self) -> String {
        tokio::select! {
            why = self.stop.engine.damage().wait() => why,
            why = self.stop.table.damage.wait() => why,
        }
    }

    /// Runs the work of the minute timer at once: for a clock that was moved.
    pub async fn tick(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        schedule_sweep::sweep(&self.sweep, schedule_sweep::Share::ALL).await?;
        self.stop.engine.local(SEND).tick()?;
        Ok(())
    }

    /// Stops accepting, lets requests and jobs in progress finish, and closes the files. Messages
    /// left on the queues are handled at the next start.
    pub async fn stop(self) {
        const PATIENCE: Duration = Duration::from_secs(10);
        let Stop {
            signal,
            servers,
            pollers,
            relay,
            mailer,
            mailbox,
            engine,
            table,
            _folder,
        } = self.stop;
        signal.send_replace(true);
        engine.close();
        mailbox.close();
        for task in servers.into_iter().chain(pollers) {
            // A hand-over that hangs is abandoned; its claim is taken again at the next start.
            let abort = task.abort_handle();
            if tokio::time::timeout(PATIENCE, task).await.is_err() {
                abort.abort();
            }
        }
        mailer.close().await;
        relay.0.send_replace(true);
        let _ = tokio::time::timeout(PATIENCE, relay.1).await;
        drop((self.store, self.sweep));
        let engine = tokio::task::spawn_blocking(move || engine.stop());
        let _ = tokio::time::timeout(PATIENCE, engine).await;
        table.stop().await;
    }
}

/// The API, whose answers wait for the disk where they acknowledge a write.
fn durable(
    platform: &Platform,
    gate: &Authorizer,
    table: &Table,
) -> Result<axum::Router, StartError> {
    let disk = table.disk.clone();
    let layer = axum::middleware::from_fn(move |request, next: axum::middleware::Next| {
        let disk = disk.clone();
        async move {
            let answer = disk.durable(next.run(request)).await;
            let lost = || Rejection::unavailable(&"the table's file could not be synced");
            answer.unwrap_or_else(|| lost().into_response())
        }
    });
    let routes = functions::routes(platform, gate)?;
    Ok(routes.into_router().layer(layer))
}

fn mailer(settings: &HostSettings, embedded: SocketAddr) -> Result<Mailer, StartError> {
    let relay = match &settings.relay {
        Some(relay) => relay.clone(),
        None => format!("smtp://{embedded}?tls=none")
            .parse::<RelayUrl>()
            .map_err(|e| StartError::Secret(e.to_string()))?,
    };
    let mut config = SmtpConfig::new(relay);
    config.hello = Some(settings.hostname.to_string());
    config.max_connections = 16;
    Ok(Mailer::Smtp(Smtp::new(config)))
}

/// The secret that signs links and encrypts secrets; the same in every run of a data folder.
fn stack_secret(settings: &HostSettings, folder: Option<&Folder>) -> Result<String, StartError> {
    let make = || {
        format!(
            "1:{}",
            URL_SAFE_NO_PAD.encode(settings.entropy.bytes::<32>())
        )
    };
    // The folder was opened only if what its file holds is a secret.
    Ok(match folder {
        None => make(),
        Some(folder) => folder.secret("stack-secret", make)?,
    })
}
