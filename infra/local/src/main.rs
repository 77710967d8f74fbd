//! The binary `posthaste`: the local host, and the operator's commands.

mod terminal;

use std::error::Error;
use std::process::ExitCode;

use posthaste::{
    Api, Args, AwsError, Cli, Command, Host, HostSettings, Operator, StartError, certificates,
    greeting,
};
use posthaste_runtime::{ConfigError, Env, Platform};

use crate::terminal::{Unsaid, complain, say};

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return terminal::usage(&error),
    };
    let vars = posthaste_runtime::variables();
    let (args, operator) = match cli.command {
        None => (cli.run, None),
        Some(Command::Run(args)) => (*args, None),
        Some(Command::Explain(explain)) => {
            let done = explain.run();
            return answer(done.map_err(|error| (error.to_string(), error.exit_code())));
        }
        Some(Command::Operator(operator)) => (cli.run, Some(operator)),
    };
    // With `--aws` it logs in the functions' format, lines and metrics, for log shippers.
    let for_shippers = args.aws && operator.is_none();
    if let Err(error) = prepare(&vars, for_shippers) {
        complain(&error.to_string());
        return ExitCode::from(2);
    }
    let end = match operator {
        Some(operator) => return operate(&operator),
        None if args.aws => serve_aws(&args),
        None => run(&args),
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(unsaid) = error.downcast_ref::<Unsaid>() {
                return unsaid.end();
            }
            complain(&error.to_string());
            let aws = error.downcast_ref::<AwsError>().map(AwsError::exit_code);
            let local = error
                .downcast_ref::<StartError>()
                .map(StartError::exit_code);
            ExitCode::from(aws.or(local).unwrap_or(1))
        }
    }
}

/// Reads the variables that every way of starting reads.
fn prepare(vars: &Env, for_shippers: bool) -> Result<(), ConfigError> {
    match for_shippers {
        true => posthaste_runtime::to_cloudwatch(vars)?,
        false => posthaste_runtime::to_terminal(vars)?,
    }
    certificates::check(vars)
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

/// Says what a command has to say, or the one line of its failure; its exit code.
fn answer(done: Result<String, (String, u8)>) -> ExitCode {
    match done.map(|answer| say(&answer)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(unsaid)) => unsaid.end(),
        Err((why, exit_code)) => {
            complain(&why);
            ExitCode::from(exit_code)
        }
    }
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
        let host = Host::start(&settings).await?;
        if let Err(unsaid) = say(&greeting::text(&host, &settings)) {
            host.stop().await;
            return Err(unsaid.into());
        }
        let damaged = tokio::select! {
            pressed = ctrl_c() => pressed.map(|()| None)?,
            why = host.damaged() => Some(why),
        };
        // It stops whether or not anybody still reads that.
        let _ = say("\nStopping …");
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
        let platform = Platform::host(posthaste_runtime::variables()).await;
        let api = Api::open(args, &platform).await?;
        let scheme = args.tls_cert.as_ref().map_or("http", |_| "https");
        say(&format!(
            "The stack's API is on {scheme}://{}, mail is submitted to smtp://{}\nCtrl-C stops.",
            api.address, api.submission
        ))?;
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
