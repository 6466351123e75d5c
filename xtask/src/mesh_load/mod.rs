//! `cargo xtask mesh-load`: what an event costs, beside other brokers.
//!
//! A floor that only passes bytes on, which tells what the machine itself takes; ours (`callosum serve`), Debian's `nats-server` with `JetStream`, and its `redis-server` twice, which syncs its log
//! once a second and before each answer: all run at once on loopback, and each measurement goes round them, since
//! the figures of a busy machine compare with nothing but each other. What is not installed is passed over, and
//! said. All are spoken to by clients of the same kind: one blocking socket, one thread.
//!
//! Start with [`mesh_load`]; `broker` is what they have in common, `measure` what is done to each.
//!
//! What is deliberately not here: a verdict; the numbers go to `docs/performance.md` by hand, with the
//! machine that they were measured on.

mod bare;
mod broker;
mod callosum;
mod measure;
mod nats;
mod redis;

use std::{path::Path, process::ExitCode};

pub(crate) use self::bare::{WORD as FLOOR, floor};
use self::{
    bare::Bare,
    broker::{Broker, Durability, Fault},
    callosum::Callosum,
    nats::Nats,
    redis::{Fsync, Redis},
};
use crate::{
    release_build::{Release, concluded, target, with_release},
    say,
};

/// How many hear an event, one row each.
const LISTENERS: [usize; 2] = [1, 12];

/// Builds the program for release, if no other is named, starts the brokers, and prints what `events` of them cost.
pub(crate) fn mesh_load(events: u64, program: Option<&str>) -> ExitCode {
    match program {
        None => with_release(|release| run(release, events)),
        Some(program) => concluded(target().and_then(|target| {
            let callosum = program.into();
            run(&Release { target, callosum }, events)
        })),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore lays out its files with what the standard library has"
)]
fn run(release: &Release, events: u64) -> Result<(), Fault> {
    let folder = release.target.join("mesh-load");
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let brokers = brokers(release, &folder)?;
    for durability in Durability::ALL {
        for broker in &brokers {
            measure::acknowledgements(broker.as_ref(), durability, events)?;
        }
    }
    for listeners in LISTENERS {
        for durability in [Durability::Ephemeral, Durability::Logged] {
            for broker in &brokers {
                measure::delivery(broker.as_ref(), durability, listeners, events / 2)?;
            }
        }
    }
    for durability in [Durability::Logged, Durability::Synced] {
        for broker in &brokers {
            measure::rate(broker.as_ref(), durability)?;
        }
    }
    for broker in &brokers {
        let memory = broker.server().memory()?;
        say(&format!(
            "{:<44} {memory}",
            format!("{}, memory", broker.name())
        ));
    }
    Ok(())
}

/// Those that are there, started.
fn brokers(release: &Release, folder: &Path) -> Result<Vec<Box<dyn Broker>>, Fault> {
    let mut brokers: Vec<Box<dyn Broker>> = vec![
        Box::new(Bare::start(folder)?),
        Box::new(Callosum::start(release, folder)?),
    ];
    if let Some(nats) = Nats::start(folder)? {
        brokers.push(Box::new(nats));
    }
    for fsync in [Fsync::EverySecond, Fsync::Always] {
        if let Some(redis) = Redis::start(folder, fsync)? {
            brokers.push(Box::new(redis));
        }
    }
    Ok(brokers)
}
