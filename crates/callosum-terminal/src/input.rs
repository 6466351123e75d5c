//! [`Keyboard`]: what the caller types, on its way to the program's terminal; [`InputFilter`]: what may change it.

use std::os::fd::OwnedFd;

use rustix::{
    io::{Errno, read, write},
    termios::{LocalModes, SpecialCodeIndex, isatty, tcgetattr, tcgetpgrp},
};

use crate::quiet_panic;

/// Most bytes of one read.
const READ_BYTES: usize = 16 * 1024;

/// Most bytes that wait for the program to read. Above that, the caller's input is left where it is.
const PENDING_BYTES: usize = 64 * 1024;

/// Code that ends the input of a terminal if the terminal names no other: Ctrl-D.
const END_OF_INPUT: u8 = 4;

/// The settings of the program's terminal at the moment of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalState {
    /// The terminal echoes what is typed. Programs that read a password switch this off, and so do line editors.
    pub is_echoing: bool,
    /// The terminal collects lines itself. Line editors and full-screen programs switch this off.
    pub is_collecting_lines: bool,
    /// The started program itself reads the keys, not one that it put into the foreground.
    pub is_program_in_foreground: bool,
}

impl TerminalState {
    fn read(terminal: &OwnedFd, program: u32) -> Self {
        let modes = tcgetattr(terminal).map(|settings| settings.local_modes);
        let modes = modes.unwrap_or(LocalModes::empty());
        let foreground = tcgetpgrp(terminal).map(|group| group.as_raw_nonzero().get());
        Self {
            is_echoing: modes.contains(LocalModes::ECHO),
            is_collecting_lines: modes.contains(LocalModes::ICANON),
            is_program_in_foreground: foreground.is_ok_and(|group| group == program.cast_signed()),
        }
    }
}

/// The bytes that a filter lets through.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    to_program: Vec<u8>,
    to_caller: Vec<u8>,
}

impl Reply {
    /// Sends bytes to the program as if they were typed.
    pub fn send(&mut self, bytes: &[u8]) {
        self.to_program.extend_from_slice(bytes);
    }

    /// Shows bytes to the person at the terminal; the program does not see them. A line ends with `\r\n`.
    pub fn show(&mut self, bytes: &[u8]) {
        self.to_caller.extend_from_slice(bytes);
    }
}

/// Sees what is typed before the program does, and decides what the program gets.
///
/// Keys wait while it decides; output does not. If it panics, keys pass it by from then on.
pub trait InputFilter: Send {
    /// Sees typed bytes, as few as one and as many as were pasted, and puts into `reply` what they become.
    fn input(&mut self, bytes: &[u8], terminal: TerminalState, reply: &mut Reply);
}

/// The state of the input after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    /// There will be more.
    Open,
    /// There will be no more; the program learns it as from Ctrl-D.
    Ended,
    /// The caller's terminal is gone.
    HungUp,
}

/// The caller's input and what of it the program has not taken yet.
pub(crate) struct Keyboard {
    stdin: OwnedFd,
    is_terminal: bool,
    end: InputEnd,
    pending: Vec<u8>,
    /// The last byte for the program, which decides how the end of input is spelled.
    last: Option<u8>,
    filter: Option<Box<dyn InputFilter>>,
    has_filter_panicked: bool,
}

impl Keyboard {
    pub(crate) fn new(stdin: OwnedFd, filter: Option<Box<dyn InputFilter>>) -> Self {
        Self {
            is_terminal: isatty(&stdin),
            stdin,
            end: InputEnd::Open,
            pending: Vec::new(),
            last: None,
            filter,
            has_filter_panicked: false,
        }
    }

    /// Returns the caller's input if it is worth waiting for.
    pub(crate) fn source(&self) -> Option<&OwnedFd> {
        let has_room = self.pending.len() < PENDING_BYTES;
        (self.end == InputEnd::Open && has_room).then_some(&self.stdin)
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn has_filter_panicked(&self) -> bool {
        self.has_filter_panicked
    }

    /// Reads what was typed, once, and returns bytes to show to the caller.
    pub(crate) fn receive(&mut self, terminal: &OwnedFd, program: u32) -> (InputEnd, Vec<u8>) {
        let mut buffer = [0; READ_BYTES];
        let mut shown = Vec::new();
        match read(&self.stdin, &mut buffer) {
            Ok(0) => self.note_end(terminal),
            Ok(count) => shown = self.accept(&buffer[..count], terminal, program),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.note_end(terminal),
        }
        (self.end, shown)
    }

    fn accept(&mut self, bytes: &[u8], terminal: &OwnedFd, program: u32) -> Vec<u8> {
        let reply = self.filter_reply(bytes, terminal, program);
        if let Some(byte) = reply.to_program.last() {
            self.last = Some(*byte);
        }
        self.pending.extend_from_slice(&reply.to_program);
        reply.to_caller
    }

    fn filter_reply(&mut self, bytes: &[u8], terminal: &OwnedFd, program: u32) -> Reply {
        let mut reply = Reply::default();
        let Some(filter) = &mut self.filter else {
            reply.send(bytes);
            return reply;
        };
        let state = TerminalState::read(terminal, program);
        if quiet_panic::catch(|| filter.input(bytes, state, &mut reply)).is_err() {
            self.filter = None;
            self.has_filter_panicked = true;
            reply = Reply::default();
            reply.send(bytes);
        }
        reply
    }

    /// A terminal has no end of file, it only goes away; a file or a pipe ends.
    fn note_end(&mut self, terminal: &OwnedFd) {
        if self.is_terminal {
            self.end = InputEnd::HungUp;
            return;
        }
        self.end = InputEnd::Ended;
        let settings = tcgetattr(terminal);
        let code = settings.map_or(END_OF_INPUT, |settings| {
            settings.special_codes[SpecialCodeIndex::VEOF]
        });
        // After a part of a line, the first one only ends that part.
        let times = if matches!(self.last, None | Some(b'\n')) {
            1
        } else {
            2
        };
        self.pending.extend(std::iter::repeat_n(code, times));
    }

    /// Writes what the program's terminal takes now.
    pub(crate) fn flush(&mut self, terminal: &OwnedFd) {
        while !self.pending.is_empty() {
            match write(terminal, &self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The program is gone.
                Err(_) => self.pending.clear(),
            }
        }
    }
}
