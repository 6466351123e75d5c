//! `callosum mesh fleet doctor`: what keeps this machine from sharing, and how to fix it.

use std::time::Duration;

use callosum_fleet::{Fleet, FleetStatus, Progress, Server};
use callosum_mesh::Mesh;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    IS_BUILT_IN, checkouts, connected, explain, member, membership, not_built, required_setting,
};
use crate::CommandError;
use crate::context::Context;
use crate::mesh::open;

/// Difference of clocks that is reported.
const SKEW: Duration = Duration::from_secs(30);

/// `callosum mesh fleet doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetDoctorOutput {
    /// Whether every check passed.
    pub ok: bool,
    /// The checks, in order. Those after one that failed may be missing.
    pub checks: Vec<FleetCheckOutput>,
}

/// A check.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetCheckOutput {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// Result in words.
    pub detail: String,
    /// Command or step that fixes it.
    pub hint: Option<String>,
}

#[derive(Default)]
struct Checks(Vec<FleetCheckOutput>);

impl Checks {
    fn good(&mut self, name: &str, detail: impl Into<String>) {
        self.0.push(FleetCheckOutput {
            name: name.to_owned(),
            ok: true,
            detail: detail.into(),
            hint: None,
        });
    }

    fn bad(&mut self, name: &str, error: &CommandError) {
        self.0.push(FleetCheckOutput {
            name: name.to_owned(),
            ok: false,
            detail: error.one_line(),
            hint: error.hint_text().map(str::to_owned),
        });
    }

    fn done(self) -> FleetDoctorOutput {
        FleetDoctorOutput {
            ok: self.0.iter().all(|check| check.ok),
            checks: self.0,
        }
    }
}

/// Checks the program, the configuration, the membership, the server and the credentials.
pub fn checked(context: &Context) -> Result<FleetDoctorOutput, CommandError> {
    let mut checks = Checks::default();
    if !IS_BUILT_IN {
        checks.bad("program", &not_built());
        return Ok(checks.done());
    }
    checks.good("program", "built with the client of NATS");
    let setting = match required_setting(context) {
        Ok(setting) => setting,
        Err(error) => {
            checks.bad("configuration", &error);
            return Ok(checks.done());
        }
    };
    let how = format!(
        "{}@{} in `{}` at {}",
        setting.user,
        setting.machine,
        setting.workspace,
        setting.servers.join(", ")
    );
    checks.good("configuration", how);
    let mut mesh = open::mesh_anyway(context)?;
    let membership = match member(context, &mesh) {
        Ok((_, membership)) => membership,
        Err(error) => {
            checks.bad("membership", &error);
            return Ok(checks.done());
        }
    };
    let since = membership.since;
    checks.good("membership", format!("joined; shares events after {since}"));
    let mut server = match connected(&setting, &membership, false) {
        Ok(server) => server,
        Err(error) => {
            checks.bad("server", &error.hint("see the log of the NATS server"));
            return Ok(checks.done());
        }
    };
    let replicas = server.replicas();
    let copies = if replicas == 1 {
        "one copy of each event: it is lost with the server's disk, and each machine sends its own again".to_owned()
    } else {
        format!("{replicas} copies of each event")
    };
    checks.good("server", format!("NATS {}; {copies}", server.version()));
    clock(context, &mut *server, &mut checks);
    let mut places = checkouts(context);
    let folder = mesh.folder().to_owned();
    let repositories = setting.repositories.clone();
    let mut fleet = Fleet::new(
        &context.disk,
        &folder,
        membership,
        repositories,
        &mut places,
    )
    .map_err(|error| explain(&error))?;
    match fleet.sync(&mut mesh, &mut *server) {
        Ok(round) => {
            let detail = format!("sent {}, received {}", round.sent, round.received);
            checks.good("replication", detail);
        }
        Err(error) => checks.bad("replication", &explain(&error)),
    }
    match server.progress() {
        Ok(Progress { pending, .. }) => {
            checks.good("backlog", format!("{pending} messages not taken yet"));
        }
        Err(error) => checks.bad("backlog", &explain(&error.into())),
    }
    peers(context, &mesh, &mut checks)?;
    Ok(checks.done())
}

/// Compares the clock of this machine with the server's.
fn clock(context: &Context, server: &mut dyn Server, checks: &mut Checks) {
    let shown = server.put("clock", Vec::new());
    let shown = shown.and_then(|_| server.entry("clock"));
    match shown {
        Ok(Some(entry)) => {
            let skew = skew(context.clock.now(), entry.changed);
            let text = format!(
                "{} ms between this clock and the server's",
                skew.as_millis()
            );
            if skew > SKEW {
                let error = CommandError::new(crate::Exit::Environment, text);
                checks.bad("clock", &error.hint("timedatectl set-ntp true"));
            } else {
                checks.good("clock", text);
            }
        }
        Ok(None) => {}
        Err(error) => checks.bad("permissions", &explain(&error.into())),
    }
}

fn skew(here: Timestamp, there: Timestamp) -> Duration {
    here.duration_since(there).unsigned_abs()
}

fn peers(context: &Context, mesh: &Mesh, checks: &mut Checks) -> Result<(), CommandError> {
    membership(context, mesh)?;
    let status = FleetStatus::read(&context.disk, mesh.folder());
    let status = status.map_err(|error| open::explain(&error.into()))?;
    let names: Vec<String> = status
        .present(mesh.journal().now())
        .map(|peer| peer.names.to_string())
        .collect();
    let detail = if names.is_empty() {
        "no other machine was seen in the last five minutes".to_owned()
    } else {
        names.join(", ")
    };
    checks.good("machines", detail);
    Ok(())
}
