//! Arguments and output of `callosum serve --detach`.
//!
//! The use case is [`callosum_app::serve::detached`].

use std::ffi::OsString;
use std::io::ErrorKind;
use std::thread;
use std::time::Instant;

use callosum_app::serve::detached::{FOLDER, PATIENCE, PAUSE};
use callosum_app::{CommandError, Exit, disk_errors};
use callosum_daemon::{ListenTarget, running};
use callosum_host::process;
use callosum_host::process::{Launch, Limits};

use super::{Failure, Ground, HowArgs, Serving, addresses, served_already, silent, tell};

pub(super) fn run(ground: &Ground, how: &HowArgs) -> Result<(), CommandError> {
    tell(ground, &start(ground, how)?)
}

/// Starts the daemon, and waits until it answers.
pub(super) fn start(ground: &Ground, how: &HowArgs) -> Result<Serving, CommandError> {
    let wishes = addresses(&ground.environment, how)?;
    match running(&ground.folder()) {
        Ok(_) => return Err(served_already(ground)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            if let Some(silent) = silent(ground)? {
                return Err(silent.explained());
            }
        }
        Err(_) => {}
    }
    let disk_failed = |error| disk_errors::disk_failed(&error);
    ground
        .disk
        .create_private_dir(&ground.folder())
        .map_err(disk_failed)?;
    let failure = ground.folder().join("serve.failure");
    ground.disk.remove_file(&failure).map_err(disk_failed)?;
    let program = std::env::current_exe().map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot find the path of this program",
            &error,
        )
    })?;
    let spelled = |wish: ListenTarget| match wish {
        ListenTarget::Off => "off".to_owned(),
        ListenTarget::At(address) => address.to_string(),
    };
    let arguments: [OsString; 15] = [
        "serve".into(),
        "--events".into(),
        spelled(wishes.events).into(),
        "--bus".into(),
        spelled(wishes.bus).into(),
        "--metrics".into(),
        spelled(wishes.metrics).into(),
        "--page".into(),
        spelled(wishes.page).into(),
        "--memory".into(),
        spelled(wishes.memory).into(),
        "--rate".into(),
        how.rate.to_string().into(),
        "--failure-to".into(),
        failure.clone().into(),
    ];
    let environment = ground.environment.iter();
    let launch = Launch {
        program,
        arguments: arguments.into(),
        folder: FOLDER.into(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    };
    process::leave(&launch).map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let began = Instant::now();
    loop {
        if let Ok(answer) = running(&ground.folder())
            && let Ok(serving) = serde_json::from_value::<Serving>(answer["serving"].clone())
        {
            return Ok(serving);
        }
        let content = ground.disk.read_if_there(&failure).map_err(disk_failed)?;
        if let Some(content) = content {
            ground.disk.remove_file(&failure).map_err(disk_failed)?;
            let report = serde_json::from_slice::<Failure>(&content);
            let report = report.map_err(|error| {
                let what = format!(
                    "`{}` is not a report that the daemon wrote",
                    failure.display()
                );
                CommandError::because(Exit::Environment, what, &error).hint("callosum serve")
            })?;
            return Err(report.explained());
        }
        if began.elapsed() >= PATIENCE {
            let what = "the daemon was started but does not answer";
            return Err(CommandError::new(Exit::Environment, what).hint("callosum serve"));
        }
        thread::sleep(PAUSE);
    }
}
