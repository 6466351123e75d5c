//! Arguments and output of `callosum open`: the page of this project, in a browser.

use std::ffi::OsString;
use std::path::PathBuf;

use callosum_app::mesh::agent_of;
use callosum_app::{CommandError, Exit};
use callosum_config::{Environment, Homes};
use callosum_daemon::{ListenTarget, Serving, running};
use callosum_host::Disk;
use callosum_host::process::{self, Launch, Limits};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Ground, HowArgs, addresses, detached, page};
use crate::ui::Ui;

/// Open the page of this project in a browser
///
/// Starts the daemon in the background if none is running. Without a screen, or in the shell of an agent, it only prints the
/// address.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum open --print
  $ callosum open --print --view tasks")]
pub(crate) struct OpenArgs {
    /// View to open, such as `tasks` or `guard`
    #[arg(long, value_name = "VIEW", default_value = "now")]
    view: String,
    /// Print the address, and open nothing
    #[arg(long)]
    print: bool,
}

/// `callosum open --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct OpenOutput {
    /// Address of the page.
    address: String,
    /// Whether the daemon was started for it.
    started: bool,
    /// Whether a browser was started.
    opened: bool,
}

pub(in crate::cli) fn run(
    environment: Environment,
    directory: Option<PathBuf>,
    args: &OpenArgs,
    ui: Ui,
) -> Result<(), CommandError> {
    let homes = Homes::find(&environment)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let ground = Ground {
        ui,
        disk: Disk::real(),
        environment,
        homes,
    };
    let folder = match directory {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read the current folder", &error)
        })?,
    };
    if !callosum_web::has_view(&args.view) {
        let what = format!(
            "there is no view `{}` (allowed: {})",
            args.view,
            callosum_web::view_names().join(", ")
        );
        return Err(CommandError::new(Exit::Usage, what).hint("callosum open --view now"));
    }
    let offered = page::offer(&ground.disk, &ground.environment, &ground.homes, &folder)?;
    let (serving, started) = served(&ground)?;
    let Some(address) = serving.page else {
        let what = "the running daemon serves no page";
        return Err(
            CommandError::new(Exit::Environment, what).hint("callosum serve stop && callosum open")
        );
    };
    let place = offered.map_or_else(String::new, |root| {
        callosum_web::view_path(&root, &args.view)
    });
    let address = format!("http://{address}{place}");
    let opened = !args.print && can_show(&ground.environment) && browse(&ground, &address);
    if ui.json {
        return ui.json_data(&OpenOutput {
            address,
            started,
            opened,
        });
    }
    ui.data(&format!("{address}\n"))
}

/// Returns the running daemon; starts it if there is none.
fn served(ground: &Ground) -> Result<(Serving, bool), CommandError> {
    let answer = running(&ground.folder()).ok();
    let serving = answer.and_then(|answer| serde_json::from_value(answer["serving"].clone()).ok());
    match serving {
        Some(serving) => Ok((serving, false)),
        None if addresses(&ground.environment, &HowArgs::default())?.page == ListenTarget::Off => {
            let what = "CALLOSUM_PAGE turns the page off";
            Err(CommandError::new(Exit::Environment, what).hint("env -u CALLOSUM_PAGE callosum open"))
        }
        None => Ok((detached::start(ground, &HowArgs::default())?, true)),
    }
}

/// Whether a person may have a browser here.
fn can_show(environment: &Environment) -> bool {
    let is_set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    has_screen && agent_of(environment).is_none()
}

/// Starts a browser. Whether it shows the page is not known.
fn browse(ground: &Ground, address: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let variables = ground.environment.iter();
    let launch = Launch {
        program: program.into(),
        arguments: vec![OsString::from(address)],
        folder: "/".into(),
        environment: variables
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
    match process::leave(&launch) {
        Ok(()) => true,
        Err(error) => {
            ground
                .ui
                .warn(&format!("no browser was opened: {error}"), None);
            false
        }
    }
}
