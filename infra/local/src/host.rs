//! Starts everything in one process, and stops it in an order that loses nothing.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use posthaste_blob::Blob;
use posthaste_listen::MemoryBudget;
use posthaste_mailbox::{Chaos, DEFAULT_LIMIT, Mailbox};
use posthaste_mailer::Mailer;
use posthaste_model::{AccountId, PublicUrl};
use posthaste_queue::QuietWatch;
use posthaste_store::Store;
use posthaste_submission::{self as submission, SmtpAccess, Submission};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::engine::{Engine, RETRIES, SEND};
use crate::folder::Folder;
use crate::platform::HostParts;
use crate::serve::{self, Server};
use crate::start::HostSettings;
use crate::start_error::{StartError, explained};
use crate::table::{RowExpiry, Table};
use crate::transfer::TransferHost;
use crate::turnable_clock::{self, ClockHand};
use crate::workers::stopped;
use crate::{api, certificates, commands, first, inbound, mailbox_page, platform, relay, workers};

/// A running host.
pub struct Host {
    pub api: SocketAddr,
    pub mailbox: SocketAddr,
    pub smtp: SocketAddr,
    pub submission: SocketAddr,
    /// The port that accepts mail without a login, if there is one.
    pub no_login: Option<SocketAddr>,
    /// The key of the first account, in clear; `None` when the data folder's matches no account.
    pub key: Option<String>,
    pub account: AccountId,
    /// A one-sentence note for the developer, when the first account or its key has changed.
    pub notice: Option<String>,
    /// A link that signs the first account in to the console once; `None` when that account was deleted.
    pub console: Option<String>,
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
    mailers: Vec<Mailer>,
    mailbox: Mailbox,
    engine: Engine,
    table: Table,
    _folder: Option<Folder>,
}

/// How many ports are tried after a default one that is taken.
const PORTS_TRIED: u16 = 100;

/// Listens on an address; where the flag of its port may move, on the next free port instead.
async fn listen(
    settings: &HostSettings,
    what: &'static str,
    flag: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |error| StartError::Port {
        what,
        flag,
        address,
        error,
    };
    let last = if settings.movable.contains(&flag) {
        address.port().saturating_add(PORTS_TRIED)
    } else {
        address.port()
    };
    let mut wanted = address;
    loop {
        match TcpListener::bind(wanted).await {
            Ok(listener) => {
                let address = listener.local_addr().map_err(failed)?;
                return Ok((listener, address));
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse && wanted.port() < last => {
                wanted.set_port(wanted.port() + 1);
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

impl Host {
    /// Starts the whole service.
    #[expect(
        clippy::too_many_lines,
        reason = "one list of parts in the order they start"
    )]
    pub async fn start(settings: &HostSettings) -> Result<Self, StartError> {
        // Ports first: the most frequent failure should leave nothing behind.
        let listen = |what, flag, address| listen(settings, what, flag, address);
        let (api_listener, api) = listen("API", "--port", settings.api).await?;
        let (mailbox_listener, mailbox_address) =
            listen("mailbox", "--mailbox-port", settings.mailbox).await?;
        let (smtp_listener, smtp) =
            listen("inbound SMTP port", "--smtp-port", settings.smtp).await?;
        let (submission_listener, submission) =
            listen("submission port", "--submission-port", settings.submission).await?;
        let no_login = match settings.no_login {
            None => None,
            Some(at) => Some(listen("SMTP port without a login", "--no-login-port", at).await?),
        };
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let (relay_listener, relay_address) =
            listen("embedded relay", "any free port", loopback).await?;
        serve::allow_files(&settings.http, 2, 4);
        let tls = match &settings.tls {
            None => None,
            Some((cert, key)) => Some(certificates::server_config(cert, key)?),
        };
        let folder = settings.data.as_deref().map(Folder::open).transpose()?;
        let file = |name: &str| folder.as_ref().map(|folder| folder.path(name));

        // A clock that is turned may be behind that of the machine, by which rows are deleted.
        let expiry = match &settings.turnable {
            None => RowExpiry::Deletes,
            Some(_) => RowExpiry::Hides,
        };
        let faults = settings.table_faults.clone();
        let table = Table::start_with(file("table.db").as_deref(), expiry, faults).await?;
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
        let mailbox = mailbox
            .answering_to(settings.mailbox_hosts.iter().map(ToString::to_string))
            .under_path(&settings.mailbox_path);
        let embedded = relay::recorder(settings, relay_address)?;
        let relayed = settings.relay.clone();
        let relayed = relayed.map(|url| relay::mailer(settings, url));
        let release = settings.release_relay.clone();
        let release = release.map(|url| relay::mailer(settings, url));
        let mailer = relayed.unwrap_or_else(|| embedded.clone());
        let first = first::account(settings, folder.as_ref(), &table.store).await;
        let first = explained(&table, first)?;
        let public_url = settings.public_url.clone();
        let secret = platform::stack_secret(settings, folder.as_ref())?;
        if let Some(folder) = &folder {
            folder.note_parts()?;
        }
        let platform = platform::platform(
            settings,
            HostParts {
                store: table.store.clone(),
                engine: &engine,
                blob: blob.clone(),
                mailer: mailer.clone(),
                recorder: embedded.clone(),
                secret,
                public_url: public_url
                    .unwrap_or_else(|| PublicUrl::of_listener(tls.is_some(), api)),
                mailbox: &mailbox,
                mailbox_address,
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
        let (until, handler) = (stop.clone(), received.clone());
        let inbound = tokio::spawn(async move {
            inbound::serve(smtp_listener, handler, stopped(until)).await;
        });
        let mail_send = mail_send::App::from_env(&platform)?;
        let chaos = || Chaos::new(settings.entropy.clone());
        let chaos = settings.relay.is_none().then(chaos);
        let port = Submission {
            app: mail_send.clone(),
            gate: gate.clone(),
            hostname: settings.hostname.clone(),
            access: access(settings, first.key.as_ref()),
            durable: table.disk.for_submission(),
            faults: chaos.as_ref().map(mailbox_page::faults),
        };
        // Without a key of the first account, mail there would belong to no account.
        let no_login = no_login.zip(first.key.clone());
        let no_login_address = no_login.as_ref().map(|((_, address), _)| *address);
        let mut ports = vec![(submission_listener, port.clone())];
        if let Some(((listener, _), key)) = no_login {
            let access = SmtpAccess::Open(key);
            ports.push((listener, Submission { access, ..port }));
        }
        let submitting = ports.into_iter().map(|(listener, port)| {
            let (until, certificate) = (stop.clone(), tls.clone());
            tokio::spawn(async move {
                submission::serve(listener, port, certificate, stopped(until)).await;
            })
        });
        let submitting: Vec<_> = submitting.collect();
        let https = tls.is_some();
        let bodies = MemoryBudget::new(settings.http.bodies);
        let server = |name, tls, router| Server {
            name,
            limits: settings.http.clone(),
            bodies: bodies.clone(),
            tls,
            router,
        };
        let sweep = schedule_sweep::App::from_env(&platform)?;
        let hand = settings.turnable.clone();
        let hand = hand.map(|clock| ClockHand::new(clock, engine.quiet_watch(), sweep.clone()));
        let page = mailbox_page::PageParts {
            mailbox: &mailbox,
            platform: &platform,
            store: &table.store,
            retries: engine.queue(RETRIES),
            chaos,
            release: release.clone(),
            account: first.account.clone(),
            hand,
        };
        let page = mailbox_page::router(settings, page)?;
        let parts = api::ApiParts {
            platform: &platform,
            gate: &gate,
            mail_send: &mail_send,
            table: &table,
            queues: engine.local(SEND),
            key: first.key.as_ref(),
        };
        let routes = api::router(settings, parts)?;
        let api_server = server("API", tls, routes);
        let page_server = server("mailbox", None, page);
        let mut servers = vec![
            tokio::spawn(api_server.run(api_listener, stopped(stop.clone()))),
            tokio::spawn(page_server.run(mailbox_listener, stopped(stop.clone()))),
            inbound,
        ];
        servers.extend(submitting);
        let base = first::console_base(api, https);
        let console = first::console_link(settings, &table.store, &first.account, &base).await;
        let console = explained(&table, console)?;
        if let Some(folder) = settings.data.clone() {
            let tools = commands::tools(settings, &table, &engine, (blob, &mailbox), base);
            let transfer = TransferHost::new(&platform, &gate, &mail_send, &table)?;
            servers.extend(commands::serve(folder, (tools, transfer), stop.clone()));
        }
        let mut pollers = workers::start(&platform, received, &engine, &table.disk, &stop)?;
        pollers.push(tokio::spawn(workers::sweeping(sweep.clone(), stop.clone())));
        Ok(Self {
            api,
            mailbox: mailbox_address,
            smtp,
            submission,
            no_login: no_login_address,
            key: first.key,
            account: first.account,
            notice: first.notice,
            console,
            https,
            store: table.store.clone(),
            sweep,
            stop: Stop {
                signal,
                servers,
                pollers,
                relay: (relay_signal, relay),
                mailers: [mailer, embedded].into_iter().chain(release).collect(),
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
        turnable_clock::sweep(&self.sweep).await?;
        self.stop.engine.local(SEND).tick()?;
        Ok(())
    }

    /// Knows when the workers have nothing left to do: for a clock that is moved.
    pub fn quiet_watch(&self) -> QuietWatch {
        self.stop.engine.quiet_watch()
    }

    /// Stops accepting, lets requests and jobs in progress finish, and closes the files. Messages
    /// left on the queues are handled at the next start.
    pub async fn stop(self) {
        const TIMEOUT: Duration = Duration::from_secs(10);
        let Stop {
            signal,
            servers,
            pollers,
            relay,
            mailers,
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
            if tokio::time::timeout(TIMEOUT, task).await.is_err() {
                abort.abort();
            }
        }
        for mailer in mailers {
            mailer.close().await;
        }
        relay.0.send_replace(true);
        let _ = tokio::time::timeout(TIMEOUT, relay.1).await;
        drop((self.store, self.sweep));
        let engine = tokio::task::spawn_blocking(move || engine.stop());
        let _ = tokio::time::timeout(TIMEOUT, engine).await;
        table.stop().await;
    }
}

/// Who may send on the submission port.
fn access(settings: &HostSettings, key: Option<&String>) -> SmtpAccess {
    match key.cloned() {
        Some(key) if settings.any_key => SmtpAccess::AnyLogin(key),
        Some(key) if settings.submission_open => SmtpAccess::OpenToThisMachine(key),
        Some(_) | None => SmtpAccess::KeyRequired,
    }
}
