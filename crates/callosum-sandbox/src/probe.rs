//! [`System`]: sandbox features of this machine, detected by trying.

use std::{io, path::Path};

use crate::{Access, ForkServer, Layers, MountPoint, Outcome, Report, SandboxSpec, Step};
use callosum_host::{
    Disk,
    process::{Cancel, Heartbeat, Limits},
};

use std::time::Duration;

/// Longest time for a trial. A busy machine takes seconds. One that does not report by then
/// confines no executor, and runs only those that need no confinement.
const PATIENCE: Duration = Duration::from_secs(30);

/// Privileges that an unprivileged process can give up on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// User, PID, mount, IPC and network namespaces, or the obstacle to them.
    pub namespaces: Result<(), Missing>,
    /// The version of Landlock, or the obstacle to it.
    pub landlock: Result<u32, Missing>,
    /// The filter of system calls, or the obstacle to it.
    pub system_calls: Result<(), Missing>,
}

/// Obstacle to a layer.
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
    /// The trial could not run, or did not report its end.
    #[error("it could not be tested")]
    Untried,
    /// No such thing exists on this system.
    #[error("this system does not have it")]
    Unknown,
}

impl System {
    /// Returns a system that can confine nothing, such as macOS.
    pub fn without() -> Self {
        Self {
            namespaces: Err(Missing::Unknown),
            landlock: Err(Missing::Unknown),
            system_calls: Err(Missing::Unknown),
        }
    }

    /// Returns the change that makes this machine confine executors as far as it can; `None` if it
    /// does already, or no change is known.
    pub fn remedy(&self) -> Option<&'static str> {
        if cfg!(not(target_os = "linux")) {
            return Some("run executors that you do not trust on a Linux machine");
        }
        match &self.namespaces {
            Ok(()) => None,
            // AppArmor lets the namespaces be made and refuses what one wants them for.
            Err(Missing::Step {
                step: Step::Users | Step::Mounts | Step::Network | Step::Capabilities,
                ..
            }) => Some(
                "allow it for this program: sysctl -w \
                 kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for it \
                 with the rule `userns,`",
            ),
            Err(_) => Some(
                "allow user namespaces: sysctl -w user.max_user_namespaces=15000 (on Debian also \
                 kernel.unprivileged_userns_clone=1); in a container, use a seccomp profile that \
                 allows unshare, such as docker run --security-opt seccomp=unconfined",
            ),
        }
    }

    /// Whether an executor can be kept from files at all.
    pub fn holds_files(&self) -> bool {
        self.namespaces.is_ok() || self.landlock.is_ok()
    }

    /// Makes the server's program, which is this one, give up each privilege by itself and do
    /// nothing after that.
    ///
    /// Costs one to four starts of it. `program` is the server's, `temporary` a private folder.
    pub fn try_out(server: &ForkServer, program: &Path, temporary: &Path, disk: &Disk) -> Self {
        if cfg!(not(target_os = "linux")) {
            return Self::without();
        }
        let attempt = |layers| trial(server, program, temporary, disk, layers);
        let all = Layers {
            namespaces: true,
            network: true,
            landlock: true,
            system_calls: true,
            sockets: false,
        };
        if let Some(Report {
            landlock: Some(version),
            outcome: Some(Outcome::Exited(0)),
            ..
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
            Some(report) => match report.outcome {
                Some(Outcome::Exited(0)) => Ok(report.landlock),
                Some(Outcome::Failed(step, error)) => Err(Missing::Step { step, error }),
                _ => Err(Missing::Untried),
            },
            None => Err(Missing::Untried),
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

/// Returns the report about a sandbox with these layers; `None` if the trial could not run.
fn trial(
    server: &ForkServer,
    program: &Path,
    temporary: &Path,
    disk: &Disk,
    layers: Layers,
) -> Option<Report> {
    let room = disk.scratch(temporary).ok()?;
    let mut places: Vec<MountPoint> = ["/usr", "/lib", "/lib64", "/etc", "/nix", "/gnu"]
        .iter()
        .filter_map(|path| disk.canonicalize(Path::new(path)).ok().zip(Some(path)))
        .map(|(source, path)| MountPoint {
            source,
            path: path.into(),
            access: Access::Read,
        })
        .collect();
    places.push(MountPoint {
        source: disk.canonicalize(program).ok()?,
        path: program.to_owned(),
        access: Access::Read,
    });
    let order = SandboxSpec {
        layers,
        room: room.path().to_owned(),
        places,
        links: Vec::new(),
        listen: Vec::new(),
        gate: None,
        folder: "/".into(),
        program: program.to_owned(),
        arguments: SandboxSpec::nothing(),
        environment: Vec::new(),
    };
    let limits = Limits {
        quiet: None,
        total: Some(PATIENCE),
        output_bytes: 0,
        error_bytes: 0,
    };
    let cancel = Cancel::new().ok()?;
    let ran = server.run(
        &order,
        &[],
        limits,
        &cancel,
        &Heartbeat::default(),
        &mut |_, _| {},
    );
    ran.ok().map(|(_, report)| report)
}
