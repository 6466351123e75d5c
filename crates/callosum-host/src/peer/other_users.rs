//! [`OtherUsers`]: whether another person is at work on this machine.
//!
//! The owner of a connection that was closed at once is unknown; if no other user is there, it is
//! known all the same. Start with [`OtherUsers::is_alone`]. Deliberately not here: the
//! consequences.

use std::{
    collections::BTreeSet,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{Disk, disk::ListedEntry};

/// Time for which a check counts that found no one.
const ALONE: Duration = Duration::from_secs(1);

/// The same if it found someone: a user who comes now and then may come again.
const IN_COMPANY: Duration = Duration::from_secs(10);

/// Numbers of accounts that a system gives to services, as distributions and systemd have it.
const SERVICES: RangeInclusive<u32> = 1..=999;

/// Programs that replace the shell of an account without a login.
const NO_SHELLS: [&str; 2] = ["nologin", "false"];

/// Whether another person is at this machine, checked now and then.
#[derive(Debug, Default)]
pub struct OtherUsers {
    /// Time of the last check, and whether it found no one else.
    looked: Option<(Instant, bool)>,
}

impl OtherUsers {
    /// Whether this user is alone on the machine. Then no process is another person's, which could
    /// have connected to the machine's loopback, and no one else is logged in. The machine's own
    /// table of accounts has no other account that could have run one for a moment.
    ///
    /// Processes of the superuser and of services count as no person's: those of accounts below
    /// 1,000, and of those without a login shell. A check reads a small file for each process, some
    /// milliseconds in all, and runs once a second at most. If the answer is unknown, for example
    /// because others' processes are hidden, the user does not count as alone.
    pub fn is_alone(&mut self) -> bool {
        let holds = self.looked.filter(|(at, alone)| {
            let holds = if *alone { ALONE } else { IN_COMPANY };
            at.elapsed() < holds
        });
        if let Some((_, alone)) = holds {
            return alone;
        }
        let is_alone = looked(&Disk::real(), rustix::process::geteuid().as_raw());
        self.looked = Some((Instant::now(), is_alone));
        is_alone
    }

    /// Notes that another person is there.
    pub fn is_joined(&mut self) {
        self.looked = Some((Instant::now(), false));
    }
}

/// Checks whether only this user is there.
fn looked(disk: &Disk, user: u32) -> bool {
    let proc = Path::new("/proc");
    let accounts = disk.read(Path::new("/etc/passwd")).unwrap_or_default();
    let accounts = String::from_utf8_lossy(&accounts);
    let others = Others {
        user,
        shut: without_shell(&accounts),
    };
    // A program that was there for a moment only is in no table of processes by now.
    if numbers_of(&accounts).any(|user| others.has(user)) {
        return false;
    }
    // If others' processes are hidden, so is the first.
    let is_all_visible = disk.read(Path::new("/proc/1/status")).is_ok();
    // Of who is logged in, as far as a system notes that: for some seconds longer than they have processes.
    let logged_in = numbers(disk, Path::new("/run/user")).unwrap_or_default();
    let Some(processes) = numbers(disk, proc).filter(|_| is_all_visible) else {
        return false;
    };
    let is_anybodys = |process: u32| {
        let folder = proc.join(process.to_string());
        match disk.read(&folder.join("status")) {
            Ok(status) => {
                let status = String::from_utf8_lossy(&status);
                others.are_in(&status) && !is_elsewhere(&folder)
            }
            // One that has ended since is not there.
            Err(_) => disk.exists(&folder).unwrap_or(true),
        }
    };
    !logged_in.into_iter().any(|user| others.has(user)) && !processes.into_iter().any(is_anybodys)
}

/// The entries of a folder that are numbers.
fn numbers(disk: &Disk, folder: &Path) -> Option<Vec<u32>> {
    let entries = disk.list_dir(folder).ok()?;
    let number = |entry: ListedEntry| entry.name.to_str()?.parse().ok();
    Some(entries.into_iter().filter_map(number).collect())
}

/// Whether a process has another network, as in most containers: it does not reach this one's
/// loopback. Each network has its own files in `/proc`.
fn is_elsewhere(process: &Path) -> bool {
    let table = |folder: PathBuf| Some(rustix::fs::stat(folder.join("net/tcp")).ok()?.st_ino);
    match (
        table(process.to_owned()),
        table(PathBuf::from("/proc/self")),
    ) {
        (Some(its), Some(own)) => its != own,
        _ => false,
    }
}

/// Rules for who counts as another person.
struct Others {
    user: u32,
    /// Accounts without a login.
    shut: BTreeSet<u32>,
}

impl Others {
    fn has(&self, user: u32) -> bool {
        let is_anybodys = user != 0 && !SERVICES.contains(&user) && !self.shut.contains(&user);
        is_anybodys && user != self.user
    }

    /// Whether a process is another person's according to its `status`: one line has the four users
    /// that it may act as. An unreadable process may be another person's.
    fn are_in(&self, status: &str) -> bool {
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let users: Option<Vec<u32>> = users.and_then(|users| {
            let users = users.split_ascii_whitespace();
            users.map(|user| user.parse().ok()).collect()
        });
        users.is_none_or(|users| users.is_empty() || users.into_iter().any(|user| self.has(user)))
    }
}

/// The numbers of the accounts of a table (`passwd(5)`).
fn numbers_of(accounts: &str) -> impl Iterator<Item = u32> {
    let fields = accounts.lines().map(|account| account.split(':'));
    fields.filter_map(|mut fields| fields.nth(2)?.parse().ok())
}

/// Returns the accounts of a table (`passwd(5)`) that have no login.
fn without_shell(accounts: &str) -> BTreeSet<u32> {
    let shut = accounts.lines().filter_map(|account| {
        let mut fields = account.split(':');
        let user = fields.nth(2)?.parse().ok()?;
        let shell = fields.nth(3)?.rsplit('/').next()?;
        NO_SHELLS.contains(&shell).then_some(user)
    });
    shut.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/bash\n\
         postgres:x:101:103::/var/lib/postgresql:/bin/bash\n\
         anna:x:1000:1000::/home/anna:/bin/bash\n\
         ben:x:1001:1001::/home/ben:/bin/zsh\n\
         builds:x:1002:1002::/srv:/usr/sbin/nologin\n\
         nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";

    /// CALC-SEC-1: distinguishes persons from this user, the superuser and services, by any user
    /// that a process may act as.
    #[test]
    fn a_process_of_another_person_is_distinguished_from_those_of_services() {
        let others = Others {
            user: 1000,
            shut: without_shell(ACCOUNTS),
        };
        for (users, is_foreign) in [
            ("1000\t1000\t1000\t1000", false),
            ("0\t0\t0\t0", false),
            ("1000\t0\t0\t0", false),
            ("101\t101\t101\t101", false),
            ("1002\t1002\t1002\t1002", false),
            ("65534\t65534\t65534\t65534", false),
            ("1001\t1001\t1001\t1001", true),
            ("0\t0\t0\t1001", true),
            ("4242\t4242\t4242\t4242", true),
            ("x", true),
            ("", true),
        ] {
            let status = format!("Name:\tsh\nUid:\t{users}\nGid:\t0\t0\t0\t0\n");
            assert_eq!(others.are_in(&status), is_foreign, "{users}");
        }
        assert!(others.are_in("Name:\tsh\n"));
    }

    /// CALC-SEC-1: a machine on which another person has an account is not this user's alone, whether they are at work or not.
    #[test]
    fn another_account_of_a_person_is_company() {
        let is_company = |accounts: &str, user: u32| {
            let shut = without_shell(accounts);
            let others = Others { user, shut };
            numbers_of(accounts).any(|user| others.has(user))
        };
        assert!(is_company(ACCOUNTS, 1000));
        assert!(is_company(ACCOUNTS, 0));
        let without_ben: String = ACCOUNTS
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("ben:"))
            .collect();
        assert!(!is_company(&without_ben, 1000));
        assert!(is_company(&without_ben, 0));
        assert!(!is_company("", 1000));
    }

    /// CALC-SEC-1: who was seen once is counted on for a while, without a look.
    #[test]
    fn who_was_there_is_there_for_a_while() {
        let mut company = OtherUsers::default();
        company.is_joined();
        assert!(!company.is_alone());
        company.looked = Some((Instant::now(), true));
        assert!(company.is_alone());
    }
}
