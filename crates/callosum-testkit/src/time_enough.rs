//! [`with_time_enough`]: tries something that has to happen within some time, on a machine of unknown
//! load.

/// Makes a try with this many milliseconds, and with more and more until it succeeds.
///
/// For work that ends by a deadline and must have made progress before. Panics if minutes are not
/// enough.
pub fn with_time_enough<T>(mut tried: impl FnMut(u64) -> Option<T>) -> T {
    for milliseconds in [1_000, 4_000, 16_000, 64_000, 256_000] {
        if let Some(done) = tried(milliseconds) {
            return done;
        }
    }
    panic!("no time is enough");
}
