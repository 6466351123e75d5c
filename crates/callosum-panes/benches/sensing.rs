//! Cost of a look at twelve panes, compared with one tmux process per screen, and the delay of a change.
//!
//! `cargo bench -p callosum-panes` starts a tmux server of its own with twelve panes in which a program with a client's
//! name draws a working screen ten times a second, and looks five times a second for twenty seconds. It prints the time
//! of a look, the processor time of this process and of tmux, and the same for a reader that starts tmux once per
//! screen. Aims: less than 2 ms per look, and less than 3 % of one core. Then it changes the screen of a thirteenth pane
//! between looks, four of them a second as the daemon has them, and prints the time until the registry's file has the
//! new state. Aim: 1 s. `docs/performance/panes.md` has the figures.
//!
//! Not by divan: a cycle has a pause, and the processor time of several processes counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark prints to the terminal, starts tmux, and fails loudly"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use callosum_host::Disk;
use callosum_panes::{
    Program, Registry, RuleSet, Sensor, State,
    registry::{self, Writer},
    sensor::{ResetTime, Settings},
    tmux::Tmux,
};
use jiff::Timestamp;

/// Panes with a client.
const PANES: usize = 12;

/// Pause between looks.
const PERIOD: Duration = Duration::from_millis(200);

/// Looks that are measured.
const LOOKS: usize = 100;

/// Pause between looks of the daemon.
const DAEMON: Duration = Duration::from_millis(250);

/// Changes from each state to the next.
const CHANGES: u32 = 20;

/// Ticks of processor time in a second, as Linux counts them for programs.
const TICKS: u64 = 100;

struct Server {
    folder: PathBuf,
}

impl Server {
    fn tmux(&self, arguments: &[&str]) -> String {
        let socket = self.folder.join("socket");
        let mut command = Command::new("tmux");
        command
            .arg("-u")
            .arg("-S")
            .arg(socket)
            .args(arguments)
            .env_remove("TMUX");
        String::from_utf8_lossy(&command.output().unwrap().stdout)
            .trim()
            .to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Returns the processor time of a process in ticks, with that of children it has waited for.
fn ticks(pid: u32) -> u64 {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = line
        .rsplit_once(')')
        .map(|(_, after)| after)
        .unwrap_or_default();
    let values = after.split_ascii_whitespace().skip(11).take(4);
    values.filter_map(|value| value.parse::<u64>().ok()).sum()
}

fn percentile(times: &mut [Duration], share: usize) -> Duration {
    times.sort();
    times[(times.len() - 1) * share / 100]
}

/// Runs `look` five times a second, and prints what it cost.
fn measure(name: &str, server: u32, idle: f64, mut look: impl FnMut()) {
    for _ in 0..5 {
        look();
        thread::sleep(PERIOD);
    }
    let (own, theirs) = (ticks(std::process::id()), ticks(server));
    let began = Instant::now();
    let mut times = Vec::with_capacity(LOOKS);
    for _ in 0..LOOKS {
        let started = Instant::now();
        look();
        times.push(started.elapsed());
        thread::sleep(PERIOD.saturating_sub(started.elapsed()));
    }
    let seconds = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "some hundred ticks")]
    let share = |ticks: u64| ticks as f64 / TICKS as f64 / seconds * 100.0;
    let own = share(ticks(std::process::id()) - own);
    let theirs = share(ticks(server) - theirs);
    println!(
        "{name}: {:.2} ms best tenth, {:.2} ms p50, {:.2} ms p99; {own:.1} % of a core here, {:.1} % more in tmux",
        percentile(&mut times, 10).as_secs_f64() * 1e3,
        percentile(&mut times, 50).as_secs_f64() * 1e3,
        percentile(&mut times, 99).as_secs_f64() * 1e3,
        (theirs - idle).max(0.0),
    );
}

fn screen(name: &str) -> String {
    let screens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens/claude-code");
    let text = fs::read_to_string(screens.join(name).with_extension("screen")).unwrap();
    let (_, screen) = text.split_once("\n+++\n").unwrap();
    screen.trim_end().to_owned()
}

/// Changes the screen of a pane between looks, and prints how long it takes until the registry has its state.
fn measure_changes(server: &Server, sensor: &mut Sensor) {
    let line = "printf '\\033[H\\033[2J'; bash -c 'exec -a claude sleep 600'";
    let format = "#{pane_id} #{pane_tty}";
    let opened = server.tmux(&["new-window", "-d", "-P", "-F", format, line]);
    let (id, tty) = opened.split_once(' ').unwrap();
    // The shell clears the screen when it has started.
    thread::sleep(Duration::from_secs(1));
    let disk = Disk::real();
    let path = server.folder.join("registry/pane_registry.json");
    let writer = Writer::take(&disk, &path).unwrap().unwrap();
    let mut look = || {
        let now = Timestamp::now();
        let registry = Registry {
            version: registry::VERSION.to_owned(),
            updated_at: now,
            writer: std::process::id(),
            panes: sensor.look(now).panes,
            notes: Vec::new(),
        };
        writer.write(&disk, &path, &registry).unwrap();
        let mut panes = registry.panes.iter();
        panes
            .find(|pane| pane.pane.ends_with(id))
            .map(|pane| pane.state)
    };
    let states = [
        (State::Working, screen("working-tool-running")),
        (State::BlockedOnApproval, screen("dialog-shell")),
        (State::TrulyIdle, screen("idle-fresh")),
    ];
    let mut delays = [const { Vec::new() }; 3];
    for change in 0..CHANGES {
        for ((state, screen), delays) in states.iter().zip(&mut delays) {
            let mut next = Instant::now() + DAEMON;
            // Changes come at all times between two looks.
            thread::sleep(DAEMON * (change % 10) / 10);
            fs::write(tty, format!("\u{1b}[H\u{1b}[2J{screen}")).unwrap();
            let changed = Instant::now();
            loop {
                thread::sleep(next.saturating_duration_since(Instant::now()));
                next += DAEMON;
                if look() == Some(*state) {
                    break;
                }
                assert!(changed.elapsed() < Duration::from_secs(10), "{state}");
            }
            delays.push(changed.elapsed());
        }
    }
    for ((state, _), delays) in states.iter().zip(&mut delays) {
        println!(
            "a change to {state} is in the registry after {:.0} ms p50, {:.0} ms at most",
            percentile(delays, 50).as_secs_f64() * 1e3,
            percentile(delays, 100).as_secs_f64() * 1e3,
        );
    }
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server {
        folder: folder.path().to_owned(),
    };
    server.tmux(&[
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        "-x",
        "120",
        "-y",
        "40",
        "sleep 600",
    ]);
    let file = folder.path().join("screen");
    fs::write(&file, screen("working-tool-running")).unwrap();
    let script = folder.path().join("script");
    let spin = format!(
        "i=0; while sleep 0.1; do i=$((i+1)); printf '\\033[H'; cat '{}'; printf '\\033[1;1H%s' $i; done",
        file.display()
    );
    fs::write(&script, spin).unwrap();
    for _ in 0..PANES {
        let line = format!("bash -c 'exec -a claude bash {}'", script.display());
        server.tmux(&["new-window", "-d", &line]);
    }
    let pid: u32 = server
        .tmux(&["display-message", "-p", "#{pid}"])
        .parse()
        .unwrap();
    let folders = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join("tmux"));
    let settings = Settings {
        tmux: Some(Tmux {
            program: files.find(|file| file.is_file()).unwrap(),
            folder: "/".into(),
        }),
        sockets: folder.path().join("none"),
        current_socket: Some(folder.path().join("socket")),
        claude_sessions: None,
        hook_events: folder.path().join("events"),
        rules: vec![(Program::Claude, RuleSet::built_in("claude-code").unwrap())],
        reset_time: ResetTime(Arc::new(|_, _| None)),
    };
    let mut sensor = Sensor::new(settings, Disk::real());
    thread::sleep(Duration::from_secs(1));
    let before = ticks(pid);
    thread::sleep(Duration::from_secs(10));
    #[expect(clippy::cast_precision_loss, reason = "some hundred ticks")]
    let idle = (ticks(pid) - before) as f64 / TICKS as f64 * 10.0;
    println!("{PANES} panes that draw ten times a second: tmux itself needs {idle:.1} % of a core");
    let mut found = 0;
    measure("control mode", pid, idle, || {
        let look = sensor.look(Timestamp::now());
        found = look
            .panes
            .iter()
            .filter(|pane| pane.state.name() == "WORKING")
            .count();
    });
    println!("control mode saw {found} of {PANES} at work");
    measure_changes(&server, &mut sensor);
    let ids = server.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    let ids: Vec<&str> = ids.lines().collect();
    measure("a process per screen", pid, idle, || {
        server.tmux(&["list-panes", "-a"]);
        for id in &ids {
            server.tmux(&["capture-pane", "-p", "-e", "-t", id]);
        }
    });
}
