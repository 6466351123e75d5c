//! [`may_change`]: whether an executor may leave changes behind, apart from its answer.

use callosum_executor::{
    client::Client,
    registry::{Executor, Kind},
    runner::ExecutionEnvironment,
};
use callosum_sandbox::Policy;

use crate::task::Task;

/// Returns whether an executor, as its entry and its confinement stand, may change something. The embedded one does not,
/// nor does one that is confined and has no place to write to but its own login.
pub fn may_change(executor: &Executor, surroundings: &ExecutionEnvironment) -> bool {
    let is_held = || {
        let reached = surroundings.reach(executor);
        reached.is_some_and(|reached| reached.layers.landlock)
    };
    let leaves_all = executor.kind == Kind::Cli && !executor.may_change_files() && is_held();
    !(executor.is_embedded() || leaves_all)
}

/// Returns whether an answer of the ledger may stand for another call of this executor: only if a call leaves nothing
/// behind but its answer.
///
/// The ledger compares the visible files of the tree. It knows nothing of ignored folders, of places outside, and of
/// what a host did. So an executor whose entry names places to write to, hosts that are not its own servers, or no
/// confinement is asked every time. A plan's call was approved to be made: there it also counts what this machine cannot
/// confine.
pub(super) fn leaves_only_its_answer(
    task: &Task,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
) -> bool {
    match executor.kind {
        // A model's server is asked by this program, which writes nothing.
        Kind::Http => true,
        Kind::Mcp => false,
        Kind::Cli if executor.is_embedded() => true,
        Kind::Cli => {
            let is_free = executor.confinement == Some(Policy::Off);
            let is_asked_to_act = task.plan_call.is_some() && may_change(executor, surroundings);
            !(is_free || executor.may_change_files() || reaches_others(executor) || is_asked_to_act)
        }
    }
}

/// Whether an entry names hosts beyond the servers of the client that it is.
fn reaches_others(executor: &Executor) -> bool {
    let own = Client::behind(executor).map_or(&[][..], |client| client.hosts);
    !executor
        .network
        .iter()
        .all(|host| own.contains(&host.as_str()))
}
