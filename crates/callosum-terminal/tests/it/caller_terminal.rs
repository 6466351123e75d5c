//! [`CallerTerminal`]: a pseudo-terminal of the test, which plays the person's.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
    thread::{self, JoinHandle},
};

use rustix::{
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
};

pub(crate) struct CallerTerminal {
    /// The person's keyboard and screen.
    pub(crate) person: File,
    /// The side that a program has as its streams.
    pub(crate) program: OwnedFd,
}

impl CallerTerminal {
    pub(crate) fn open() -> Self {
        let how = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = openpt(how).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let program = ioctl_tiocgptpeer(&person, how).unwrap();
        let terminal = Self {
            person: person.into(),
            program,
        };
        terminal.resize(24, 80);
        terminal
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.person, size).unwrap();
    }

    pub(crate) fn streams(&self) -> [OwnedFd; 3] {
        std::array::from_fn(|_| self.program.try_clone().unwrap())
    }

    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.person.write_all(keys).unwrap();
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.program).unwrap()
    }

    /// Closes the test's hold on the program's side, and reads the screen until no program has it open.
    pub(crate) fn read_rest(self) -> JoinHandle<Vec<u8>> {
        drop(self.program);
        let mut person = self.person;
        thread::spawn(move || {
            let mut screen = Vec::new();
            let mut buffer = [0; 4096];
            // A terminal that no one has open any more ends with an error.
            while let Ok(count) = person.read(&mut buffer) {
                screen.extend_from_slice(&buffer[..count]);
            }
            screen
        })
    }
}

/// Compares the parts of settings that a program changes.
pub(crate) fn is_same(one: &Termios, other: &Termios) -> bool {
    one.input_modes == other.input_modes
        && one.output_modes == other.output_modes
        && one.local_modes == other.local_modes
        && one.control_modes == other.control_modes
}
