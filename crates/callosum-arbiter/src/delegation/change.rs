//! [`may_change`]: whether an executor may leave something behind that is changed, beside its answer.

use callosum_agents::{
    registry::{Executor, Kind},
    runner::Surroundings,
};

/// Returns whether an executor, as its entry and its confinement stand, may change something. The embedded one does not,
/// nor does one that is confined and has no place to write to but its own login.
pub fn may_change(executor: &Executor, surroundings: &Surroundings) -> bool {
    let is_held = || {
        let reached = surroundings.reach(executor);
        reached.is_some_and(|reached| reached.layers.landlock)
    };
    let leaves_all = executor.kind == Kind::Cli && !executor.may_change_files() && is_held();
    !(executor.is_embedded() || leaves_all)
}
