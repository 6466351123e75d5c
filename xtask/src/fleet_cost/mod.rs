//! `cargo xtask fleet-cost`: what a workspace of 2, 4, 8 and 16 machines costs, and a model of that for up to 1,000.
//!
//! Each machine is a daemon of the program as it is released, with a home of its own, all on this machine, with a real
//! nats-server on loopback. Bytes are the server's own counts (`/varz`), in and out; processor time is the system's (`/proc`).
//! `workspace` runs them, `model` fits lines through the measured points.
//!
//! Deliberately not here: a verdict; the numbers go to `docs/performance/fleet.md` by hand.

mod model;
mod workspace;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use self::{
    model::Prices,
    workspace::{Machine, Reading, Workspace},
};
use crate::{
    release_build::{concluded, target},
    say,
};

/// Sizes of the fleet that are measured.
const SIZES: [usize; 4] = [2, 4, 8, 16];

/// Sizes that the model is asked for.
const ASKED: [usize; 4] = [16, 50, 200, 1000];

/// Time for which nothing is done, and for which a little is.
const LONG: Duration = Duration::from_secs(15);

/// Tasks and messages that are posted as fast as the machines take them.
const BURST: usize = 1000;

/// Discoveries that follow at the smallest and the largest size.
const MORE: usize = 9000;

/// Events that are posted at once.
const LIST: usize = 50;

/// What is to be measured.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The program; by default the one that `cargo build --release --features nats` makes.
    program: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read(options: &[&str]) -> Option<Self> {
        match options {
            [] => Some(Self::default()),
            ["--program", path] => Some(Self {
                program: Some(path.into()),
            }),
            _ => None,
        }
    }
}

/// Measures, and prints tables.
pub(crate) fn fleet_cost(options: &Options) -> ExitCode {
    concluded(measure(options))
}

fn measure(options: &Options) -> Result<(), String> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => target()?.join("release/callosum"),
    };
    if !program.is_file() {
        let build = "cargo build --release --locked --features nats";
        return Err(format!("{} is missing: {build}", program.display()));
    }
    say("| machines | idle, per machine | one event at a time | server | all machines | burst |");
    say("|---|---|---|---|---|---|");
    let mut points = Vec::new();
    let mut shown = Vec::new();
    for size in SIZES {
        let workspace = Workspace::start(&program, size)?;
        let point = point(&workspace)?;
        say(&point.row());
        shown.push(what_is_shown(&workspace, BURST)?);
        if size == SIZES[0] || size == SIZES[SIZES.len() - 1] {
            let begun = Instant::now();
            post_all(&workspace, MORE, "discovery")?;
            let rate = MORE as f64 / begun.elapsed().as_secs_f64();
            say(&format!(
                "{size} machines: {rate:.0} discoveries per second, {MORE} in all"
            ));
            shown.push(what_is_shown(&workspace, BURST + MORE)?);
        }
        points.push(point);
    }
    let prices = Prices::of(&points)?;
    for (what, line) in prices.lines() {
        say(&format!("{what}: {line}"));
    }
    say(
        "| machines | server, bytes per second | server, processors | a machine, bytes per second | a machine, processors |",
    );
    say("|---|---|---|---|---|");
    for size in ASKED {
        say(&prices.row(size));
    }
    say("| machines | events | digest | pages |");
    say("|---|---|---|---|");
    for row in shown {
        say(&row);
    }
    Ok(())
}

/// What was measured at one size.
#[derive(Clone, Copy, Debug)]
struct Point {
    size: f64,
    /// What is spent each second while nothing happens.
    idle: Spent,
    /// What an event costs beyond that, if it comes alone.
    alone: Spent,
    /// What an event costs of many, and how many there are each second.
    burst: Spent,
    per_second: f64,
}

/// Bytes at the server, and seconds of processors.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    bytes: f64,
    server: f64,
    machines: f64,
}

impl Spent {
    fn between(before: &Reading, after: &Reading, count: f64) -> Self {
        Self {
            bytes: (after.bytes - before.bytes) / count,
            server: (after.server - before.server) / count,
            machines: (after.machines - before.machines) / count,
        }
    }

    fn beyond(self, other: Self, times: f64) -> Self {
        Self {
            bytes: self.bytes - other.bytes * times,
            server: self.server - other.server * times,
            machines: self.machines - other.machines * times,
        }
    }
}

impl Point {
    fn row(&self) -> String {
        let Self {
            size,
            idle,
            alone,
            burst,
            per_second,
        } = self;
        format!(
            "| {size} | {:.0} B/s, {:.2} ms/s, server {:.2} ms/s | {:.0} B | {:.2} ms | {:.2} ms | {per_second:.0} events/s, {:.0} B, {:.2} and {:.2} ms each |",
            idle.bytes / size,
            idle.machines / size * 1e3,
            idle.server * 1e3,
            alone.bytes,
            alone.server * 1e3,
            alone.machines * 1e3,
            burst.bytes,
            burst.server * 1e3,
            burst.machines * 1e3,
        )
    }
}

fn point(workspace: &Workspace) -> Result<Point, String> {
    let size = workspace.machines.len();
    let before = workspace.read()?;
    std::thread::sleep(LONG);
    let idle = Spent::between(&before, &workspace.read()?, LONG.as_secs_f64());

    // One event each second at each machine, one machine after the other.
    let (before, begun) = (workspace.read()?, Instant::now());
    let pause = Duration::from_secs(1) / u32::try_from(size).unwrap_or(1);
    let mut count = 0;
    for _ in 0..LONG.as_secs() {
        for machine in &workspace.machines {
            let kind = if count % 2 == 0 { "task" } else { "message" };
            machine.post(&[machine.event(kind, &format!("alone-{count}"))])?;
            count += 1;
            std::thread::sleep((pause * count).saturating_sub(begun.elapsed()));
        }
    }
    workspace.wait()?;
    let count = f64::from(count);
    let alone = Spent::between(&before, &workspace.read()?, count);
    let alone = alone.beyond(idle, begun.elapsed().as_secs_f64() / count);

    let (before, begun) = (workspace.read()?, Instant::now());
    post_all(workspace, BURST, "pair")?;
    let seconds = begun.elapsed().as_secs_f64();
    let burst = Spent::between(&before, &workspace.read()?, BURST as f64);
    let burst = burst.beyond(idle, seconds / BURST as f64);
    Ok(Point {
        size: size as f64,
        idle,
        alone,
        burst,
        per_second: BURST as f64 / seconds,
    })
}

/// Posts events at all machines at the same time, and waits until all logs have them.
fn post_all(workspace: &Workspace, count: usize, kind: &str) -> Result<(), String> {
    let of_each = count / workspace.machines.len();
    std::thread::scope(|scope| {
        let posting = workspace.machines.iter();
        let posting: Vec<_> = posting
            .map(|machine| scope.spawn(move || post_many(machine, of_each, kind)))
            .collect();
        let mut posted = posting.into_iter().map(std::thread::ScopedJoinHandle::join);
        posted.try_for_each(|posted| posted.map_err(|_| "a machine cannot be reached")?)
    })?;
    workspace.wait()
}

fn post_many(machine: &Machine, count: usize, kind: &str) -> Result<(), String> {
    let events: Vec<String> = (0..count)
        .map(|number| {
            let of_pair = if number % 2 == 0 { "task" } else { "message" };
            let kind = if kind == "pair" { of_pair } else { kind };
            machine.event(kind, &format!("{kind}-{number}"))
        })
        .collect();
    events.chunks(LIST).try_for_each(|list| machine.post(list))
}

/// What an agent and a person are shown at one machine.
fn what_is_shown(workspace: &Workspace, events: usize) -> Result<String, String> {
    let size = workspace.machines.len();
    let machine = &workspace.machines[0];
    let digest = machine.digest()?;
    let tokens = callosum_citation::tokens::estimate(&digest);
    let pages = ["now", "tasks", "conversation"].map(|view| {
        let bytes = machine.page(view).map(|page| page.len());
        bytes.map(|bytes| format!("{view} {:.0} KB", bytes as f64 / 1e3))
    });
    let pages: Result<Vec<String>, String> = pages.into_iter().collect();
    let pages = pages?.join(", ");
    Ok(format!("| {size} | {events} | {tokens} tokens | {pages} |"))
}
