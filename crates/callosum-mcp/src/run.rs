//! [`run`]: the server's life, from the first message to the end of standard input.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::Arc,
    thread,
};

use rmcp::{
    ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
    transport::io::stdio_pipes,
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use tokio::{runtime, sync::Notify};

use super::{framing::Lines, server::Server};
use callosum_app::report::Reporter;
use callosum_app::{CommandError, Exit};
use callosum_config::Environment;

/// Serves the process that started this one, until it closes standard input or sends a signal.
/// Running calls are canceled then, and waited for. `report` receives the warnings of the tools.
pub fn run(
    environment: Environment,
    directory: Option<PathBuf>,
    report: Arc<dyn Reporter>,
) -> Result<(), CommandError> {
    if io::stdin().is_terminal() {
        let what = "a coding agent starts this command and talks to it on standard input";
        return Err(CommandError::new(Exit::Usage, what).hint("register it with: callosum init"));
    }
    let failed = |error: io::Error| {
        CommandError::because(Exit::Environment, "the server cannot start", &error)
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(failed)?;
    let stop = watch_signals().map_err(failed)?;
    // Tokio panics if it gets no thread to read and write with.
    let probe = thread::Builder::new().spawn(|| {}).map_err(failed)?;
    drop(probe.join());
    let done = runtime.block_on(serve(Server::new(environment, directory, report), &stop));
    // A thread may wait for standard input still, where that is no pipe.
    runtime.shutdown_background();
    done
}

async fn serve(server: Server, stop: &Notify) -> Result<(), CommandError> {
    let room = server.room();
    let (input, output) = stdio_pipes();
    let served = async {
        let service = server.serve(Lines::new(input, output)).await?;
        Ok(service.waiting().await)
    };
    let ended = tokio::select! {
        ended = served => Some(ended),
        () = stop.notified() => None,
    };
    // The client no longer waits for its calls; their child processes end before this one does.
    room.emptied().await;
    match ended {
        None => Err(CommandError::told(Exit::Interrupted)),
        // A client that went away before its first message wanted nothing.
        Some(
            Ok(Ok(QuitReason::Closed | QuitReason::Cancelled))
            | Err(ServerInitializeError::ConnectionClosed(_)),
        ) => Ok(()),
        Some(Ok(Ok(_))) => Err(CommandError::new(
            Exit::Internal,
            "the server stopped unexpectedly",
        )),
        Some(Ok(Err(error))) => Err(CommandError::internal(error)),
        Some(Err(error)) => {
            let what = "the client does not follow the protocol";
            Err(CommandError::because(Exit::No, what, &error))
        }
    }
}

/// Something that is notified by the first Ctrl-C, hang-up or polite kill.
fn watch_signals() -> io::Result<Arc<Notify>> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let stop = Arc::new(Notify::new());
    let asked = Arc::clone(&stop);
    thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            asked.notify_one();
        }
    })?;
    Ok(stop)
}
