//! [`ConnectionLimiter`]: the connections that are open, so that who comes finds a place though others hold theirs and say nothing.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use tokio::{sync::Notify, time::Instant};

/// Connections of the ports, which any user of this machine may connect to.
pub(super) struct ConnectionLimiter {
    most: usize,
    guests: RefCell<Vec<Rc<Connection>>>,
}

/// One connection.
pub(super) struct Connection {
    /// When it was made, or last asked for something.
    heard: Cell<Instant>,
    /// Whether it listens, which has a bound of its own.
    is_listening: Cell<bool>,
    /// Woken when it is to make room for another.
    pub(super) leave: Rc<Notify>,
}

impl Connection {
    /// Notes that it asks for something.
    pub(super) fn asks(&self) {
        self.heard.set(Instant::now());
        self.is_listening.set(false);
    }

    /// Records that it is a subscriber from now on.
    pub(super) fn listens(&self) {
        self.is_listening.set(true);
    }
}

impl ConnectionLimiter {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            guests: RefCell::default(),
        }
    }

    /// Registers one more connection. Returns whether another had to make room, the one that has
    /// been silent for longest. Returns `None` if all are subscribers.
    pub(super) fn enter(&self) -> Option<(Rc<Connection>, bool)> {
        let mut guests = self.guests.borrow_mut();
        let is_full = guests.len() >= self.most;
        if is_full {
            let silent = guests.iter().enumerate();
            let silent = silent.filter(|(_, guest)| !guest.is_listening.get());
            let (at, _) = silent.min_by_key(|(_, guest)| guest.heard.get())?;
            guests.swap_remove(at).leave.notify_one();
        }
        let guest = Rc::new(Connection {
            heard: Cell::new(Instant::now()),
            is_listening: Cell::new(false),
            leave: Rc::default(),
        });
        guests.push(Rc::clone(&guest));
        Some((guest, is_full))
    }

    /// Gives a place back.
    pub(super) fn leave(&self, guest: &Rc<Connection>) {
        let mut guests = self.guests.borrow_mut();
        guests.retain(|other| !Rc::ptr_eq(other, guest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: who says nothing makes room, the longest first; who listens does not.
    #[test]
    fn the_longest_silent_connection_makes_room() {
        let crowd = ConnectionLimiter::new(2);
        let (first, _) = crowd.enter().unwrap();
        let (second, is_full) = crowd.enter().unwrap();
        assert!(!is_full);
        first.asks();
        let (third, is_full) = crowd.enter().unwrap();
        assert!(is_full);
        let is_there = |guest: &Rc<Connection>| {
            let guests = crowd.guests.borrow();
            guests.iter().any(|other| Rc::ptr_eq(other, guest))
        };
        assert!(is_there(&first) && !is_there(&second) && is_there(&third));
        first.listens();
        third.listens();
        assert!(crowd.enter().is_none());
        crowd.leave(&first);
        assert!(crowd.enter().is_some());
    }
}
