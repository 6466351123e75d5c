//! A panic of the dashboard in a real terminal: the terminal is as before, and the message is on the screen.
//!
//! This program is both sides: without an argument it starts itself with one in a tmux server of its own.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test starts tmux and reads the screen"
)]

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callosum_top::{Options, Overview, Palette, Source, run};

/// The argument of the side that panics.
const PANIC: &str = "--panic";

struct Empty;

impl Source for Empty {
    fn gather(&self) -> Overview {
        Overview {
            faults: vec!["the dashboard is drawn".to_owned()],
            ..Overview::default()
        }
    }

    fn act(&self, _argv: &[String]) -> Result<String, String> {
        Ok(String::new())
    }

    fn cancel(&self) {}
}

fn main() {
    if std::env::args().any(|word| word == PANIC) {
        panic_in_the_dashboard();
        return;
    }
    the_terminal_is_restored_and_shows_the_message();
}

/// Panics in the thread that draws, as soon as the dashboard was drawn for a while.
fn panic_in_the_dashboard() {
    let began = Instant::now();
    let is_stopped = || {
        assert!(began.elapsed() < Duration::from_secs(2), "a defect");
        false
    };
    let options = Options {
        palette: Palette::new(true),
        every: Duration::from_secs(1),
    };
    run(io::stdout(), Arc::new(Empty), options, &is_stopped).unwrap();
}

fn the_terminal_is_restored_and_shows_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let line = format!(
        "echo before; '{}' {PANIC}; echo \"ended with $?\"; stty -a | grep -o ' icanon\\| echo ' | tr -d '\\n'; \
         echo ' end'; exec sleep 600",
        own.display()
    );
    let server = Server(folder.path());
    server.tmux(&[
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        "-x",
        "80",
        "-y",
        "24",
        &line,
    ]);
    server.until("! the dashboard is drawn");
    let screen = server.until(" end");
    assert!(screen.starts_with("before\n"), "{screen}");
    assert!(screen.contains("a defect"), "{screen}");
    assert!(screen.contains("ended with 101\n"), "{screen}");
    assert!(screen.contains(" icanon echo  end"), "{screen}");
    let flags = server.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
    assert_eq!(flags, "0 1");
}

/// A tmux server with its socket in this folder.
struct Server<'f>(&'f Path);

impl Server<'_> {
    fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-u")
            .args(arguments)
            .env("TMUX_TMPDIR", self.0)
            .env("RUST_BACKTRACE", "0")
            .env_remove("TMUX")
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    fn until(&self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < end, "no `{text}` on:\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
