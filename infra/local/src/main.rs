//! The binary `posthaste`: the local host, and the operator's commands.

mod terminal;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;

use posthaste::{
    ApiServer, Args, AwsError, Cli, Command, HealthCheck, Host, HostSettings, Operator, StartError,
    TransferCommand, certificates, greeting,
};
use posthaste_runtime::{ConfigError, Env, Platform};

use crate::terminal::{ErrorFormat, Unsaid, say};

fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::read(line.clone()) {
        Ok(cli) => cli,
        Err(error) => {
            let is_json = line.iter().any(|word| word == "--json");
            return terminal::usage(&error, ErrorFormat::of(is_json));
        }
    };
    let (args, operator) = match cli.command {
        None => (cli.run, None),
        Some(Command::Run(args)) => (*args, None),
        Some(Command::Import(import)) => return transfer(&(*import).into(), &cli.run),
        Some(Command::Export(export)) => return transfer(&(*export).into(), &cli.run),
        Some(Command::Explain(explain)) => {
            let done = explain.run();
            let done = done.map_err(|error| (error.to_string(), error.exit_code()));
            return answer(done, ErrorFormat::Text);
        }
        Some(Command::Health(check)) => return health(&check),
        Some(Command::Completions { shell }) => return print(Cli::completions(shell)),
        Some(Command::Man) => {
            return match Cli::manual() {
                Ok(page) => print(page),
                Err(error) => ErrorFormat::Text.fail(&error.to_string(), 1),
            };
        }
        Some(Command::Operator(operator)) => (cli.run, Some(operator)),
    };
    let format = ErrorFormat::of(match &operator {
        Some(operator) => operator.is_json(),
        None => args.json,
    });
    // With `--aws` it logs in the functions' format, lines and metrics, for log shippers.
    let for_shippers = args.aws && operator.is_none();
    let vars = posthaste_runtime::variables();
    if let Err(error) = prepare(&vars, for_shippers, args.quiet) {
        return format.fail(&error.to_string(), 2);
    }
    let end = match operator {
        Some(operator) => return operate(&operator, &line),
        None if args.aws => serve_aws(&args),
        None => run(&args),
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(unsaid) = error.downcast_ref::<Unsaid>() {
                return unsaid.end();
            }
            let aws = error.downcast_ref::<AwsError>().map(AwsError::exit_code);
            let local = error
                .downcast_ref::<StartError>()
                .map(StartError::exit_code);
            format.fail(&error.to_string(), aws.or(local).unwrap_or(1))
        }
    }
}

/// Reads the variables that every way of starting reads.
fn prepare(vars: &Env, for_shippers: bool, quiet: bool) -> Result<(), ConfigError> {
    if for_shippers {
        posthaste_runtime::to_cloudwatch(vars)?;
    } else {
        // Of a deferral the console has a line of its own, with the reason.
        let levels = if quiet {
            "warn"
        } else {
            "info,delivery::record=warn"
        };
        posthaste_runtime::to_terminal(vars, levels)?;
    }
    certificates::check(vars)
}

/// One of the operator's commands: its answer, or one line and its exit code.
fn operate(operator: &Operator, line: &[OsString]) -> ExitCode {
    let format = ErrorFormat::of(operator.is_json());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(operator.run(line)),
        Err(error) => return format.fail(&error.to_string(), 1),
    };
    let done = done.map_err(|error| (error.to_string(), error.exit_code()));
    answer(done, format)
}

/// An import or an export, with its progress on standard error.
fn transfer(command: &TransferCommand, args: &Args) -> ExitCode {
    let format = ErrorFormat::of(command.is_json());
    let vars = posthaste_runtime::variables();
    if let Err(error) = prepare(&vars, false, true) {
        return format.fail(&error.to_string(), 2);
    }
    let (clock, entropy) = (posthaste_runtime::clock(), posthaste_runtime::entropy());
    let settings = match HostSettings::from_args(args, clock, entropy) {
        Ok(settings) => settings,
        Err(error) => return format.fail(&error.to_string(), 2),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(command.run(&settings, terminal::show_progress)),
        Err(error) => return format.fail(&error.to_string(), 1),
    };
    let done = done.map_err(|error| (error.to_string(), error.exit_code()));
    answer(done, format)
}

/// Asks the service on this machine whether it is well.
fn health(check: &HealthCheck) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(check.run()),
        Err(error) => return ErrorFormat::Text.fail(&error.to_string(), 1),
    };
    let done = done.map_err(|error| (error.to_string(), error.exit_code()));
    answer(done, ErrorFormat::Text)
}

/// Prints what a command answers, or the one line of its failure; its exit code.
fn answer(done: Result<String, (String, u8)>, format: ErrorFormat) -> ExitCode {
    match done.map(|answer| say(&answer)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(unsaid)) => unsaid.end(),
        Err((why, exit_code)) => format.fail(&why, exit_code),
    }
}

/// Prints a text that ends its own last line.
fn print(text: Vec<u8>) -> ExitCode {
    let text = String::from_utf8_lossy(&text).into_owned();
    answer(Ok(text.trim_end().to_owned()), ErrorFormat::Text)
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let settings = HostSettings::from_args(
            args,
            posthaste_runtime::clock(),
            posthaste_runtime::entropy(),
        );
        let settings = settings.map_err(StartError::from)?;
        let host = Host::start(&settings).await?;
        let greeting = if args.json {
            greeting::json(&host, &settings)
        } else {
            greeting::text(&host, &settings)
        };
        if let Err(unsaid) = say(&greeting) {
            host.stop().await;
            return Err(unsaid.into());
        }
        let damaged = tokio::select! {
            pressed = ctrl_c() => pressed.map(|()| None)?,
            why = host.damaged() => Some(why),
        };
        if !args.json {
            // It stops whether or not the terminal still reads that.
            let _ = say("\nStopping …");
        }
        host.stop().await;
        damaged.map_or(Ok(()), |why| Err(why.into()))
    })
}

/// The API of a deployed stack, until it is stopped.
fn serve_aws(args: &Args) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let platform = Platform::host_with_secrets(posthaste_runtime::variables()).await?;
        let api = ApiServer::open(args, &platform).await?;
        let scheme = args.tls_cert.as_ref().map_or("http", |_| "https");
        let (address, submission) = (api.address, api.submission);
        say(&if args.json {
serde_json::json!({
                "api": format!("{scheme}://{address}"),
                "submission": format!("smtp://{submission}"),
            })
            .to_string()
} else {
format!(
                "The stack's API is on {scheme}://{address}, mail is submitted to smtp://{submission}\nCtrl-C stops."
            )
})?;
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
