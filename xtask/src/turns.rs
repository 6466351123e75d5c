//! Programs that are started in turns, and how long each takes.
//!
//! The figures of a busy machine compare with nothing but each other, whence the turns; a program that
//! takes long is started less often.

use std::process::Command;

use crate::{say, scheduling::timed};

/// Starts of a program after which it may be enough, and milliseconds after which it is.
const FEWEST: usize = 3;
const LONGEST: f64 = 10_000.0;

/// A program's name, and how it is started.
pub(crate) type Started<'b> = (&'static str, Box<dyn Fn() -> Command + 'b>);

/// Starts each program up to `runs` times and prints a line for each: `what` it was done over, and the
/// milliseconds from its start to its end.
pub(crate) fn in_turns(what: &str, programs: &[Started<'_>], runs: usize) -> Result<(), String> {
    let mut taken: Vec<Vec<f64>> = vec![Vec::new(); programs.len()];
    for _ in 0..runs {
        for (times, (_, program)) in taken.iter_mut().zip(programs) {
            let is_enough = times.len() >= FEWEST && times.iter().sum::<f64>() > LONGEST;
            if !is_enough {
                times.push(timed(program())? * 1000.0);
            }
        }
    }
    for (mut times, (name, _)) in taken.into_iter().zip(programs) {
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        say(&format!(
            "{what}, {name:<30} p50 {:>7.1} ms, p90 {:>7.1}, of {}",
            at(50),
            at(90),
            times.len()
        ));
    }
    Ok(())
}
