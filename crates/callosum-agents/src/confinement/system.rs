//! [`System`]: what can be given away here, found out by trying.

use std::{io, path::Path};

use callosum_host::{
    Disk, DiskError,
    confine::{Access, Layers, Order, Outcome, Place, Report, Step},
    process::{self, Cancel, Launch, Limits},
};

use std::time::Duration;

/// Longest that a trial may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What this machine lets an unprivileged process give away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// User, PID, mount, IPC and network namespaces, or what stands in their way.
    pub namespaces: Result<(), Missing>,
    /// The version of Landlock, or what stands in its way.
    pub landlock: Result<u32, Missing>,
    /// The filter of system calls, or what stands in its way.
    pub system_calls: Result<(), Missing>,
}

/// What stands in the way of a layer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// A step failed for this reason of the system's.
    #[error("{}: {}", step.as_str(), io::Error::from_raw_os_error(*error))]
    Step {
        /// The step.
        step: Step,
        /// The system's error number.
        error: i32,
    },
    /// The trial could not be made, or did not say how it ended.
    #[error("it could not be tried")]
    Untried,
    /// No such thing exists on this system.
    #[error("this system has no such thing")]
    Unknown,
}

impl System {
    /// A system that can hold nobody, as macOS.
    pub fn without() -> Self {
        Self {
            namespaces: Err(Missing::Unknown),
            landlock: Err(Missing::Unknown),
            system_calls: Err(Missing::Unknown),
        }
    }

    /// Has `program`, which is this one, give away each layer by itself and do nothing then.
    ///
    /// Costs three to six starts of a small process. `temporary` is a private folder.
    pub fn try_out(program: &Path, temporary: &Path, disk: &Disk) -> Self {
        if cfg!(not(target_os = "linux")) {
            return Self::without();
        }
        let attempt = |layers| trial(program, temporary, disk, layers);
        let all = Layers {
            namespaces: true,
            network: true,
            landlock: true,
            system_calls: true,
            sockets: false,
        };
        if let Ok(Report {
            landlock: Some(version),
            outcome: Some(Outcome::Exited(0)),
        }) = attempt(all)
        {
            return Self {
                namespaces: Ok(()),
                landlock: Ok(version),
                system_calls: Ok(()),
            };
        }
        // One of them is missing: which, each trial says for itself.
        let alone = |layers| match attempt(layers) {
            Ok(report) => match report.outcome {
                Some(Outcome::Exited(0)) => Ok(report.landlock),
                Some(Outcome::Failed(step, error)) => Err(Missing::Step { step, error }),
                _ => Err(Missing::Untried),
            },
            Err(_) => Err(Missing::Untried),
        };
        let none = Layers::default();
        Self {
            namespaces: alone(Layers {
                namespaces: true,
                network: true,
                ..none
            })
            .map(|_| ()),
            landlock: alone(Layers {
                landlock: true,
                ..none
            })
            .and_then(|version| version.ok_or(Missing::Untried)),
            system_calls: alone(Layers {
                system_calls: true,
                ..none
            })
            .map(|_| ()),
        }
    }
}

fn trial(
    program: &Path,
    temporary: &Path,
    disk: &Disk,
    layers: Layers,
) -> Result<Report, DiskError> {
    let folder = disk.scratch(temporary)?;
    let room = folder.path().join("room");
    disk.create_dir_all(&room)?;
    let report = folder.path().join("report");
    let mut places: Vec<Place> = ["/usr", "/lib", "/lib64", "/etc", "/nix", "/gnu"]
        .iter()
        .filter_map(|path| disk.canonicalize(Path::new(path)).ok().zip(Some(path)))
        .map(|(source, path)| Place {
            source,
            path: path.into(),
            access: Access::Read,
        })
        .collect();
    places.push(Place::here(program, Access::Read));
    let order = Order {
        report: report.clone(),
        controller: std::process::id(),
        layers,
        room,
        places,
        links: Vec::new(),
        listen: Vec::new(),
        gate: None,
        folder: "/".into(),
        program: program.to_owned(),
        arguments: Order::nothing(),
    };
    let launch = Launch {
        program: program.to_owned(),
        arguments: order.arguments(),
        environment: Vec::new(),
        folder: folder.path().to_owned(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: Some(PATIENCE),
            output_bytes: 0,
            error_bytes: 0,
        },
    };
    let unheard = Cancel::new();
    if let Ok(cancel) = unheard {
        // What it says of itself is in the report; one that did not start says nothing.
        drop(process::run(&launch, &cancel, &mut |_, _| {}));
    }
    let text = disk.read_if_there(&report)?.unwrap_or_default();
    Ok(Report::read(&String::from_utf8_lossy(&text)))
}
