//! [`Recency`]: the order in which entries were used, as a doubly linked list over slot numbers.

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
}

/// The exact order of use. Each operation takes constant time.
#[derive(Debug)]
pub(super) struct Recency {
    links: Vec<Link>,
    newest: u32,
    oldest: u32,
}

impl Recency {
    /// Returns an empty order for this many slots.
    pub(super) fn new(slots: usize) -> Self {
        let link = Link {
            newer: NONE,
            older: NONE,
        };
        Self {
            links: vec![link; slots],
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Returns the slot that was not used for the longest time.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Adds a slot that is not in the order, as the newest.
    pub(super) fn add(&mut self, slot: u32) {
        self.links[slot as usize] = Link {
            newer: NONE,
            older: self.newest,
        };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.links[newest as usize].newer = slot,
        }
        self.newest = slot;
    }

    /// Removes a slot that is in the order.
    pub(super) fn remove(&mut self, slot: u32) {
        let Link { newer, older } = self.links[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
    }

    /// Makes a slot that is in the order the newest.
    pub(super) fn touch(&mut self, slot: u32) {
        if self.newest != slot {
            self.remove(slot);
            self.add(slot);
        }
    }
}
