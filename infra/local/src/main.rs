//! The binary `posthaste`: the local host, and the operator's commands.

use std::process::ExitCode;

use clap::Parser as _;
use posthaste::{Api, Args, AwsError, Cli, Command, Host, HostSettings, Operator, StartError};
use posthaste_runtime::Platform;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let vars = posthaste_runtime::variables();
    let args = match cli.command {
        None => cli.run,
        Some(Command::Run(args)) => *args,
        Some(Command::Explain(explain)) => {
            let done = explain.run();
            return answer(done.map_err(|error| (error.to_string(), error.exit_code())));
        }
        Some(Command::Operator(operator)) => {
            posthaste_runtime::to_terminal(&vars);
            return operate(&operator);
        }
    };
    // With `--aws` it logs in the functions' format, lines and metrics, for log shippers.
    if args.aws {
        posthaste_runtime::to_cloudwatch(&vars);
    } else {
        posthaste_runtime::to_terminal(&vars);
    }
    let end = if args.aws {
        serve_aws(&args)
    } else {
        run(&args)
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            let aws = error.downcast_ref::<AwsError>().map(AwsError::exit_code);
            let local = error
                .downcast_ref::<StartError>()
                .map(StartError::exit_code);
            ExitCode::from(aws.or(local).unwrap_or(1))
        }
    }
}

/// One of the operator's commands: its answer, or one line and its exit code.
fn operate(operator: &Operator) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(operator.run()),
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    answer(done.map_err(|error| (error.to_string(), error.exit_code())))
}

/// What a command has to say, or the one line and the exit code of its failure.
fn answer(done: Result<String, (String, u8)>) -> ExitCode {
    match done {
        Ok(answer) => {
            say(&answer);
            ExitCode::SUCCESS
        }
        Err((why, exit_code)) => {
            complain(&why);
            ExitCode::from(exit_code)
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the one line a person reads when nothing started"
)]
fn complain(error: &str) {
    eprintln!("posthaste: {error}");
}

fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let settings = HostSettings::from_args(
            args,
            posthaste_runtime::clock(),
            posthaste_runtime::entropy(),
        );
        let host = Host::start(&settings).await?;
        greet(&host, &settings);
        let damaged = tokio::select! {
            pressed = ctrl_c() => pressed.map(|()| None)?,
            why = host.damaged() => Some(why),
        };
        say("\nStopping …");
        host.stop().await;
        damaged.map_or(Ok(()), |why| Err(why.into()))
    })
}

/// The API of a deployed stack, until it is stopped.
fn serve_aws(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let platform = Platform::host(posthaste_runtime::variables()).await;
        let api = Api::open(args, &platform).await?;
        let scheme = args.tls_cert.as_ref().map_or("http", |_| "https");
        say(&format!(
            "The stack's API is on {scheme}://{}, mail is submitted to smtp://{}\nCtrl-C stops.",
            api.address, api.submission
        ));
        let stop = async {
            // Without signals an orderly stop is impossible; then it stops at once.
            let _ = ctrl_c().await;
        };
        api.run(stop).await;
        Ok(())
    })
}

/// Ctrl-C, or the signal that stops a container.
async fn ctrl_c() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "what the person at the terminal came for"
)]
fn say(text: &str) {
    println!("{text}");
}

fn greet(host: &Host, settings: &HostSettings) {
    let scheme = if host.https { "https" } else { "http" };
    let api = host.api;
    // Without a key the command shows a placeholder.
    let key = host.key.as_deref().unwrap_or("YOUR_API_KEY");
    let first = match (&host.key, &host.notice) {
        (Some(key), None) => key.clone(),
        (Some(key), Some(notice)) => format!("{key}\n            ({notice})"),
        (None, notice) => format!("none: {}", notice.as_deref().unwrap_or_default()),
    };
    let relay = match settings.relay {
        None => "recorded by the embedded relay".to_owned(),
        Some(_) => "handed to the relay you named".to_owned(),
    };
    let kept = match &settings.data {
        None => "in memory, gone at the end".to_owned(),
        Some(data) => format!("in {}", data.display()),
    };
    let (senders, domains) = if settings.strict_senders {
        (
            "only verified senders and authenticated domains",
            "authenticated by their records in the DNS",
        )
    } else {
        (
            "any sender (use --strict-senders to try as on AWS)",
            "authenticated as soon as they are created",
        )
    };
    let links = match settings.links_lead_nowhere() {
        false => String::new(),
        true => format!(
            "\n  Links     WARNING: links in mail lead to {scheme}://{api}, where no recipient reaches them; \
             name this host's own address with --public-url"
        ),
    };
    say(&format!(
        "Posthaste {version}

  API       {scheme}://{api}
  API key   {first}
  Mailbox   http://{mailbox}
  Inbound   smtp://{smtp}
  Submit    smtp://{submission} (user apikey, password: the API key)
  Mail is   {relay}
  Senders   {senders}
  Domains   {domains}
  Data      {kept}{links}

Send the first mail:

  curl -i {scheme}://{api}/v3/mail/send \\
    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
    -d '{{\"personalizations\":[{{\"to\":[{{\"email\":\"you@example.com\"}}]}}],\"from\":{{\"email\":\"me@example.com\"}},\"subject\":\"Hello\",\"content\":[{{\"type\":\"text/plain\",\"value\":\"It works.\"}}]}}'

Ctrl-C stops.",
        version = env!("CARGO_PKG_VERSION"),
        mailbox = host.mailbox,
        smtp = host.smtp,
        submission = host.submission,
    ));
}
