//! Notes that are written while others write them, who know of no lock.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use callosum_host::{Clock, Disk};
use callosum_session::{NewDecision, Session, Zones, trajectory::Agent};

fn zones(root: &Path) -> Zones {
    let root = Disk::real().canonicalize(root).unwrap();
    Zones {
        tree: root.clone(),
        root,
    }
}

fn read(path: &Path) -> String {
    String::from_utf8(Disk::real().read(path).unwrap()).unwrap()
}

fn decide(zones: &Zones, clock: &Clock, words: &str) -> Vec<String> {
    let disk = Disk::real();
    let session = Session {
        disk: &disk,
        zones,
        clock,
        agent: Agent::default(),
    };
    let held = session.hold().unwrap();
    held.decide(&NewDecision {
        decision: words.to_owned(),
        ..NewDecision::default()
    })
    .unwrap();
    held.aside.clone()
}

/// LOA-FMT-1: what a program appends while decisions are written is all there, once, and so are they.
#[test]
fn what_is_appended_meanwhile_is_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let zones = zones(folder.path());
    let clock = Clock::system();
    decide(&zones, &clock, "first");
    let is_done = AtomicBool::new(false);
    let appended_ten = AtomicUsize::new(0);
    let path = zones.notes();
    let append = |name: &str| {
        let mut count = 0;
        while !is_done.load(Ordering::Relaxed) {
            let open = OpenOptions::new().append(true).open(&path);
            let mut file = open.unwrap();
            // A program that has it open may still write after it was exchanged away.
            thread::sleep(Duration::from_micros(300));
            // At once, as who buffers a line does: one that is written in pieces may be parted.
            file.write_all(format!("{name}-{count}.\n").as_bytes())
                .unwrap();
            count += 1;
            if count == 10 {
                appended_ten.fetch_add(1, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(4));
        }
        count
    };
    let (appended, decided) = thread::scope(|scope| {
        let appenders = ["one", "two"].map(|name| (name, scope.spawn(move || append(name))));
        let mut decided = 0;
        // How much each does in a given time is unknown.
        let is_too_early = || appended_ten.load(Ordering::Relaxed) < appenders.len();
        let goes_on = || appenders.iter().all(|(_, one)| !one.is_finished());
        while decided < 20 || is_too_early() && goes_on() {
            decide(&zones, &clock, &format!("decision {decided}."));
            decided += 1;
        }
        is_done.store(true, Ordering::Relaxed);
        let appended = appenders.map(|(name, appender)| (name, appender.join().unwrap()));
        (appended, decided)
    });
    decide(&zones, &clock, "last");
    decide(&zones, &clock, "last of all");
    let notes = read(&path);
    for (name, count) in appended {
        for number in 0..count {
            let line = format!("{name}-{number}.\n");
            assert_eq!(notes.matches(&line).count(), 1, "{line}");
        }
    }
    for number in 0..decided {
        let words = format!("**Decision**: decision {number}.");
        assert_eq!(notes.matches(&words).count(), 1, "{words}");
    }
}

/// LOA-FMT-1: if a program rewrites a file that was exchanged away, that file is set aside next to
/// the notes, and named.
#[test]
fn a_rewrite_of_an_old_file_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let zones = zones(folder.path());
    let clock = Clock::system();
    decide(&zones, &clock, "first");
    let mut old = OpenOptions::new().write(true).open(zones.notes()).unwrap();
    assert_eq!(decide(&zones, &clock, "second"), Vec::<String>::new());
    old.set_len(0).unwrap();
    old.write_all(b"# All of it anew\n").unwrap();
    thread::sleep(Duration::from_millis(300));
    let aside = decide(&zones, &clock, "third");
    assert_eq!(aside, ["loa-grimoire/NOTES.md.late-1"]);
    let kept = read(&zones.root.join(&aside[0]));
    assert_eq!(kept, "# All of it anew\n");
    let notes = read(&zones.notes());
    assert!(notes.contains("first") && notes.contains("third"));
    assert_eq!(decide(&zones, &clock, "fourth"), Vec::<String>::new());
}
