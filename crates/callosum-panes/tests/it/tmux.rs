//! A real tmux server of the test's own: listing, screens, and panes that go or lie.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use callosum_panes::tmux::{Connection, Tmux, TmuxError, TmuxPane, Wanted};

/// A tmux server that ends with the test. The socket's folder is its own, so no other server is touched.
pub(crate) struct Server {
    folder: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(command: &str) -> Self {
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        server.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "20",
            command,
        ]);
        server
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-u")
            .arg("-S")
            .arg(self.socket())
            .args(arguments)
            .env_remove("TMUX")
            .output()
            .expect("tmux is installed");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub(crate) fn program() -> Tmux {
        let folders = std::env::var_os("PATH").unwrap();
        let mut files = std::env::split_paths(&folders).map(|folder| folder.join("tmux"));
        Tmux {
            program: files
                .find(|file| file.is_file())
                .expect("tmux is installed"),
            folder: "/".into(),
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&Self::program(), &self.socket()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Looks until a condition holds; fails after ten seconds.
pub(crate) fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "not within ten seconds");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn text(connection: &mut Connection, pane: &TmuxPane) -> Option<String> {
    let last = usize::from(pane.size.1) - 1;
    let screens = connection.colors(&[(pane, 0, last)]).unwrap();
    screens[0]
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

#[test]
fn panes_are_listed_and_their_screens_read_with_colors() {
    let server =
        Server::start("printf '\\033]2;a title\\007\\033[2mdim\\033[0m ✻ text'; sleep 600");
    let mut connection = server.connect();
    let (pane, screen) = eventually(|| {
        let panes = connection.panes().unwrap();
        let screen = text(&mut connection, &panes[0])?;
        screen.contains("text").then(|| (panes[0].clone(), screen))
    });
    assert_eq!((pane.size, pane.title.as_str()), ((80, 20), "a title"));
    assert!(screen.contains("\u{1b}[2mdim"), "{screen:?}");
    assert_eq!(screen.split('\n').count(), 20);
    assert!(pane.tty.starts_with("/dev/"));
    drop(connection);
    assert_eq!(
        server.tmux(&["list-sessions", "-F", "#{session_attached}"]),
        "0"
    );
}

#[test]
fn a_session_keeps_its_size_when_it_is_looked_at() {
    let server = Server::start("sleep 600");
    let mut connection = server.connect();
    server.tmux(&["new-window", "-d", "sleep 600"]);
    let sizes: Vec<_> = connection
        .panes()
        .unwrap()
        .iter()
        .map(|pane| pane.size)
        .collect();
    assert_eq!(sizes, [(80, 20), (80, 20)]);
}

#[test]
fn a_pane_that_closes_while_it_is_read_is_no_error() {
    let server = Server::start("sleep 600");
    let gone = server.tmux(&["split-window", "-P", "-F", "#{pane_id}", "sleep 600"]);
    let mut connection = server.connect();
    let panes = connection.panes().unwrap();
    server.tmux(&["kill-pane", "-t", &gone]);
    // The other pane has grown since, so its size is another one, too.
    let panes: Vec<&TmuxPane> = panes.iter().collect();
    connection.screens(&panes).unwrap();
    let panes = connection.panes().unwrap();
    assert_eq!(panes.len(), 1);
    assert!(text(&mut connection, &panes[0]).is_some());
}

#[test]
fn a_screen_that_imitates_the_protocol_cannot_speak_for_another_pane() {
    let server = Server::start("sleep 600");
    let liar = r"i=0; while [ $i -lt 3000 ]; do printf '\033[H'; j=0; while [ $j -lt 8 ]; do \
        printf '%%%%error %s %s 1\r\n' $(date +%s) $((300+i*8+j)); j=$((j+1)); done; i=$((i+1)); done; sleep 600";
    server.tmux(&["split-window", liar]);
    server.tmux(&["split-window", "printf 'an honest screen'; sleep 600"]);
    let mut connection = server.connect();
    for _ in 0..200 {
        let panes = connection.panes().unwrap();
        let all: Vec<&TmuxPane> = panes.iter().collect();
        let screens = connection.screens(&all).unwrap();
        if let Some(honest) = &screens[2] {
            let honest = String::from_utf8_lossy(honest);
            assert!(
                honest.trim().is_empty() || honest.contains("an honest screen"),
                "{honest}"
            );
        }
        assert_eq!(panes.len(), 3);
    }
}

#[test]
fn a_screen_that_imitates_a_missing_pane_is_avoided() {
    // The guess of the number is certain here, which no program can be.
    let server = Server::start("sleep 600");
    server.tmux(&["split-window", "cat"]);
    let mut connection = server.connect();
    let panes = connection.panes().unwrap();
    let (liar, honest) = (&panes[1], &panes[0]);
    let mut rounds = 0;
    eventually(|| {
        rounds += 1;
        let now = server.tmux(&["display-message", "-p", "#{start_time}"]);
        assert!(!now.is_empty());
        // Each command takes a number: the list, the two screens, and those of this test.
        let seconds = jiff::Timestamp::now().as_second();
        let mut lies = String::new();
        for second in 0..18 {
            let number = 260 + rounds * 9 + second;
            write!(lies, "%error {seconds} {number} 1\r\n").unwrap();
        }
        let lie = format!("\u{1b}[Hcan't find pane: %9\r\n{lies}");
        let tty = &liar.tty;
        std::fs::write(tty, lie).unwrap();
        let screens = connection.screens(&[liar, honest]).unwrap();
        if let Some(screen) = &screens[1] {
            assert!(String::from_utf8_lossy(screen).trim().is_empty());
        }
        (connection.avoids(&liar.id) || rounds > 100).then_some(())
    });
    connection.panes().unwrap();
}

fn wanted(pane: &TmuxPane, colors: Option<(usize, usize)>) -> Wanted {
    Wanted {
        pane: pane.id.clone(),
        colors,
    }
}

#[test]
fn a_request_gets_the_list_screens_and_colors_at_once() {
    let server = Server::start("printf '\\033]2;first\\007one\\n\\033[2mtwo\\033[0m'; sleep 600");
    server.tmux(&["split-window", "-d", "printf three; sleep 600"]);
    let mut connection = server.connect();
    let panes = connection.list().unwrap();
    let snapshot = eventually(|| {
        // Once from the complete list and once from the brief one.
        let requested = connection
            .request(vec![
                wanted(&panes[0], Some((1, 2))),
                wanted(&panes[1], None),
            ])
            .unwrap();
        let snapshot = connection.receive(requested, &mut |_, _| {}).unwrap();
        let is_drawn = |index: usize, text: &str| {
            let plain = &snapshot.screens[&panes[index].id].plain;
            String::from_utf8_lossy(plain).contains(text)
        };
        (is_drawn(0, "two") && is_drawn(1, "three")).then_some(snapshot)
    });
    assert_eq!(snapshot.panes.len(), 2);
    assert_eq!(snapshot.panes[0].title, "first");
    assert_eq!(snapshot.panes[0].tty, panes[0].tty);
    let first = &snapshot.screens[&panes[0].id];
    let colored = String::from_utf8_lossy(&first.colored.as_ref().unwrap().1).into_owned();
    assert_eq!(first.colored.as_ref().unwrap().0, 1);
    assert!(colored.starts_with("\u{1b}[2mtwo"), "{colored:?}");
    assert!(snapshot.screens[&panes[1].id].colored.is_none());
    let plain = connection.screens(&[&panes[0]]).unwrap();
    assert_eq!(plain[0].as_ref(), Some(&first.plain));
}

#[test]
fn a_request_notices_panes_that_open_close_and_change_their_size() {
    let server = Server::start("sleep 600");
    let mut connection = server.connect();
    let first = connection.list().unwrap().remove(0);
    let mut look = |of: &TmuxPane| {
        let requested = connection.request(vec![wanted(of, None)]).unwrap();
        connection.receive(requested, &mut |_, _| {}).unwrap()
    };
    let opened = server.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "sleep 600"]);
    let snapshot = look(&first);
    assert_eq!(snapshot.panes.len(), 2);
    assert!(snapshot.panes[0].size.1 < 20);
    let opened = snapshot
        .panes
        .into_iter()
        .find(|pane| pane.id == opened)
        .unwrap();
    assert_eq!(look(&opened).screens.len(), 1);
    server.tmux(&["kill-pane", "-t", &opened.id]);
    let snapshot = look(&opened);
    assert_eq!((snapshot.panes.len(), snapshot.screens.len()), (1, 0));
    assert_eq!(snapshot.panes[0].size.1, 20);
    server.tmux(&["resize-window", "-y", "12"]);
    let snapshot = look(&first);
    assert_eq!(snapshot.panes[0].size.1, 12);
    let screen = &snapshot.screens[&first.id].plain;
    assert_eq!(screen.split(|byte| *byte == b'\n').count(), 12);
}

#[test]
fn a_request_that_is_dropped_leaves_no_reply_to_another_command() {
    let server = Server::start("printf text; sleep 600");
    let mut connection = server.connect();
    let pane = connection.list().unwrap().remove(0);
    for _ in 0..3 {
        drop(connection.request(vec![wanted(&pane, Some((0, 3)))]));
        let lines = connection.ask("display-message -p '#{pane_id}'").unwrap();
        assert_eq!(lines.single(), Some(pane.id.as_bytes()));
    }
}

#[test]
fn a_pane_that_has_become_smaller_has_no_screen_and_takes_no_other_reply() {
    let server = Server::start("sleep 600");
    let mut connection = server.connect();
    let stale = connection.panes().unwrap();
    server.tmux(&["resize-window", "-y", "10"]);
    let began = Instant::now();
    let screens = connection.screens(&[&stale[0], &stale[0]]).unwrap();
    assert_eq!(screens, [None, None]);
    // Without the word after the last screen, this would take until the timeout.
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(connection.panes().unwrap()[0].size.1, 10);
}

#[test]
fn connections_that_come_and_go_in_parallel_do_not_end_the_server() {
    // Without turns, tmux 3.3a crashes after some twenty of these rounds.
    let server = Server::start("while sleep 0.01; do date; done");
    let pid = server.tmux(&["display-message", "-p", "#{pid}"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..12 {
                    let mut connection = server.connect();
                    let pane = connection.list().unwrap().remove(0);
                    if round % 2 == 0 {
                        // Its replies are on their way when the connection closes.
                        drop(connection.request(vec![wanted(&pane, None)]));
                    }
                }
            });
        }
    });
    assert_eq!(server.tmux(&["display-message", "-p", "#{pid}"]), pid);
    assert_eq!(server.tmux(&["list-clients"]), "");
}

#[test]
fn a_server_that_ends_is_an_error_that_names_its_socket() {
    let server = Server::start("sleep 600");
    let mut connection = server.connect();
    server.tmux(&["kill-server"]);
    let error = eventually(|| connection.panes().err());
    assert!(matches!(error, TmuxError::Closed { .. }), "{error}");
    let error = Connection::open(&Server::program(), &server.socket()).unwrap_err();
    assert!(error.to_string().contains("socket"), "{error}");
}

#[test]
fn a_program_that_is_missing_or_too_old_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tmux");
    let tmux = Tmux {
        program: program.clone(),
        folder: "/".into(),
    };
    let error = Connection::open(&tmux, Path::new("/nowhere")).unwrap_err();
    assert!(matches!(error, TmuxError::Start(_)), "{error}");
    std::fs::write(
        &program,
        "#!/bin/sh\n[ \"$1\" = -V ] && echo tmux 3.1c\nexit 1\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let error = Connection::open(&tmux, Path::new("/nowhere")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tmux 3.1c is too old (needs 3.2 or newer)"
    );
}
