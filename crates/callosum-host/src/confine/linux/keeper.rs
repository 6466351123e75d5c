//! [`keep`]: the first process in the namespaces. It starts the program, reaps, and tells.

use std::{io, net::TcpListener};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    process::{DumpableBehavior, WaitOptions, set_dumpable_behavior, wait},
    thread::set_no_new_privs,
};

use super::{
    super::{
        gate::hand_out,
        order::Order,
        report::{Failed, Outcome, Step, Writer},
        start::{limit, start, unstarted},
    },
    calls, landed, loopback, mounts, rights,
};
use crate::process::end_with_parent;

pub(in super::super) fn keep(order: &Order, report: &Writer) -> Result<Option<Outcome>, Failed> {
    end_with_parent().map_err(Failed::at(Step::Order))?;
    if flock(report.file(), FlockOperation::NonBlockingLockShared).is_ok() {
        // The door is gone, so nobody waits for this and nobody would end it.
        return Err(Failed::at(Step::Order)(Errno::SRCH));
    }
    if order.layers.network {
        loopback::raise().map_err(Failed::at(Step::Network))?;
        if let Some(gate) = &order.gate {
            // Before the gate is out of sight, and ports below 1024 out of reach.
            let listeners: io::Result<Vec<TcpListener>> =
                order.listen.iter().map(TcpListener::bind).collect();
            listeners
                .and_then(|listeners| hand_out(gate, &listeners))
                .map_err(Failed::at(Step::Network))?;
        }
    }
    mounts::arrange(order).map_err(Failed::at(Step::Mounts))?;
    rights::drop_all().map_err(Failed::at(Step::Capabilities))?;
    restrict(order, report)?;
    // Nobody inside may trace this process, which holds the report.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Failed::at(Step::Capabilities))?;

    let child = match start(order) {
        Ok(child) => child.id().cast_signed(),
        Err(error) => {
            let outcome = unstarted(&error);
            report.outcome(outcome).map_err(Failed::at(Step::Order))?;
            return Ok(Some(outcome));
        }
    };
    let outcome = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == child => {
                match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => break Outcome::Exited(code),
                    (None, Some(signal)) => break Outcome::Signalled(signal),
                    (None, None) => {}
                }
            }
            // An orphan, which became ours.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Failed::at(Step::Order)(error)),
        }
    };
    report.outcome(outcome).map_err(Failed::at(Step::Order))?;
    Ok(Some(outcome))
}

/// Gives away what needs no namespace.
pub(in super::super) fn restrict(order: &Order, report: &Writer) -> Result<(), Failed> {
    limit()?;
    set_no_new_privs(true).map_err(Failed::at(Step::Capabilities))?;
    if order.layers.landlock {
        let version = landed::restrict(order).map_err(Failed::at(Step::Landlock))?;
        report.landlock(version).map_err(Failed::at(Step::Order))?;
    }
    if order.layers.system_calls {
        calls::restrict(order.layers.sockets).map_err(Failed::at(Step::SystemCalls))?;
    }
    Ok(())
}
