//! Numbers of threads. No two threads that live have the same, and a number of a thread that ended is used again.

use std::{cell::Cell, collections::BTreeSet, sync::Mutex};

use crate::delegation::locked;

/// Numbers that were leased and returned, and the next new one.
struct Numbers {
    returned: BTreeSet<usize>,
    next: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
    returned: BTreeSet::new(),
    next: 0,
});

/// Value of a thread without a number.
const NONE: usize = usize::MAX;

/// Number of a thread, returned when the thread ends.
struct Lease(usize);

thread_local! {
    /// The number again: without a destructor, so that reading it costs one load.
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    static LEASE: Lease = Lease::begin();
}

impl Lease {
    fn begin() -> Self {
        let mut numbers = locked(&NUMBERS);
        Self(numbers.returned.pop_first().unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        }))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Destructors of other values may run later in this thread. They get no number.
        NUMBER.set(NONE);
        locked(&NUMBERS).returned.insert(self.0);
    }
}

/// Returns the number of this thread, or nothing while the thread ends.
#[inline]
pub(super) fn number_of_thread() -> Option<usize> {
    let number = NUMBER.get();
    if number == NONE {
        begin_lease()
    } else {
        Some(number)
    }
}

#[cold]
fn begin_lease() -> Option<usize> {
    let number = LEASE.try_with(|lease| lease.0).ok()?;
    NUMBER.set(number);
    Some(number)
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;

    #[test]
    fn threads_that_live_have_different_numbers() {
        let barrier = Barrier::new(8);
        let mut numbers: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let number = number_of_thread();
                        barrier.wait();
                        assert_eq!(number_of_thread(), number);
                        number.unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 8);
    }

    /// Has a destructor that runs after the lease ended, or before; it gets its own number or none.
    struct Late(Cell<Option<usize>>);

    impl Drop for Late {
        fn drop(&mut self) {
            let number = number_of_thread();
            assert!(number.is_none() || number == self.0.get());
        }
    }

    thread_local! {
        static LATE: Late = const { Late(Cell::new(None)) };
    }

    #[test]
    fn a_thread_that_ends_has_its_number_or_none() {
        for is_first in [true, false] {
            let thread = thread::spawn(move || {
                if is_first {
                    LATE.with(|_| ());
                }
                let number = number_of_thread();
                LATE.with(|late| late.0.set(number));
            });
            thread.join().unwrap();
        }
    }
}
