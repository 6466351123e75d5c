//! [`with_time_enough`]: tries something that has to happen within some time, on a machine of unknown
//! load.

/// Makes a try with so many milliseconds, and with ever more of them until something comes of it.
///
/// For what ends by a deadline and must have got somewhere before. Panics where minutes are not enough.
pub fn with_time_enough<T>(mut tried: impl FnMut(u64) -> Option<T>) -> T {
    for milliseconds in [1_000, 4_000, 16_000, 64_000, 256_000] {
        if let Some(done) = tried(milliseconds) {
            return done;
        }
    }
    panic!("no time is enough");
}
