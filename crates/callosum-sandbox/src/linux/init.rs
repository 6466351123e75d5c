//! [`keep`]: the first process in the namespaces. It starts the program, reaps, and tells.

use std::{io, net::TcpListener};

use rustix::{
    process::{DumpableBehavior, set_dumpable_behavior},
    thread::set_no_new_privs,
};

use super::{
    super::{
        exec::{Children, Stdio, start},
        inner_listener::send_listeners,
        report::{Failed, Line, Outcome, Step},
        spec::SandboxSpec,
    },
    capabilities, landlock,
    limits::{bound_processes, limit_all},
    loopback, mounts, seccomp,
};

/// Returns the program's outcome, or `None` if it was ended before its end. With this process, the
/// first of its namespace, everything in the namespace ends.
pub(super) fn keep(
    order: &SandboxSpec,
    line: &Line,
    stdio: Stdio,
) -> Result<Option<Outcome>, Failed> {
    if order.layers.network {
        loopback::raise().map_err(Failed::at(Step::Network))?;
        if let Some(gate) = &order.gate {
            // Before the gate is out of sight, and ports below 1024 out of reach.
            let listeners: io::Result<Vec<TcpListener>> =
                order.listen.iter().map(TcpListener::bind).collect();
            listeners
                .and_then(|listeners| send_listeners(gate, &listeners))
                .map_err(Failed::at(Step::Network))?;
        }
    }
    // Before the kernel's settings are read-only.
    bound_processes();
    mounts::arrange(order).map_err(Failed::at(Step::Mounts))?;
    capabilities::drop_all().map_err(Failed::at(Step::Capabilities))?;
    restrict(order, line)?;
    // No process inside may trace this process, which holds the line.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Failed::at(Step::Capabilities))?;

    let children = Children::listen().map_err(Failed::at(Step::Order))?;
    match start(order, stdio, &children) {
        Ok(started) => started.wait(line).map_err(Failed::at(Step::Order)),
        Err(outcome) => Ok(Some(outcome)),
    }
}

/// Applies the restrictions that need no namespace.
pub(crate) fn restrict(order: &SandboxSpec, line: &Line) -> Result<(), Failed> {
    limit_all(order.layers.namespaces)?;
    set_no_new_privs(true).map_err(Failed::at(Step::Capabilities))?;
    if order.layers.landlock {
        let version = landlock::restrict(order).map_err(Failed::at(Step::Landlock))?;
        line.landlock(version).map_err(Failed::at(Step::Order))?;
    }
    if order.layers.system_calls {
        seccomp::restrict(order.layers.sockets).map_err(Failed::at(Step::SystemCalls))?;
    }
    Ok(())
}
