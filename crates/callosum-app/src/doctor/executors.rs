//! Checks which executors can get tasks, what each lacks, and which confinement is available.

use callosum_executor::client::Client;
use callosum_executor::discover::{Known, Speaks, find_in_path, undecided};
use callosum_executor::registry::{Executor, Status};
use callosum_sandbox::{DeniedPath, LeadsOutside, Policy, decide};

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::executor_pool::Roster;
use crate::executor_readiness::Lack;
use crate::thousands;
use crate::tool_schema_cache::KeptTools;

/// Opens the registry for a person who has to change an entry.
const EDIT: &str = "${EDITOR:-vi} registry.json";

/// Checks the executors.
pub fn check(context: &Context, checks: &mut Checks) {
    let roster = match Roster::load(context) {
        Ok(roster) => roster,
        Err(error) => {
            checks.add("registry", Outcome::Failed, error.one_line(), Some(EDIT));
            return;
        }
    };
    let path = context.environment.get("PATH").unwrap_or_default();
    let installed = find_in_path(&context.disk, path);
    let kept_tools = KeptTools::of_project(context);
    for executor in roster.registry().executors() {
        let name = format!("executor {}", executor.id);
        let program = installed.iter().find(|found| found.known.id == executor.id);
        let place = program.map(|found| format!(" at {}", found.program.display()));
        let place = place.unwrap_or_default();
        if !roster.is_trusted(executor) {
            let (found, hint) = if roster.has_changed(executor) {
                let found = "changed since it was trusted: a file that its command names, or a link in a \
                             path that it may read or write";
                (found, format!("callosum trust {}", executor.id))
            } else {
                let found = "comes with the repository and is not trusted on this machine";
                (found, "callosum trust --list".to_owned())
            };
            checks.add(&name, Outcome::Warning, found, Some(&hint));
        } else if let Some(left) = roster.left_alone(&executor.id) {
            let found = format!(
                "paused for {} s more after repeated failures; it gets no tasks until then{place}",
                thousands(left.as_secs().max(1))
            );
            let hint = format!("callosum executor check {}", executor.id);
            checks.add(&name, Outcome::Warning, found, Some(&hint));
        } else if let Some(outside) = outside(context, executor) {
            let found = format!("cannot start: {outside}");
            let found = format!(
                "{found}; give the real path, beginning with `~/` or `/`, or remove the link"
            );
            checks.add(&name, Outcome::Warning, found, Some(EDIT));
        } else if let Some(wish) = withheld(context, executor) {
            let found = format!(
                "its entry in registry.json asks to write `{wish}`, which the sandbox never allows: git, \
                 coding agents or Callosum read instructions there"
            );
            checks.add(&name, Outcome::Warning, found, Some(EDIT));
        } else if executor.status == Status::Active {
            match Lack::of(context, executor) {
                None => match kept_tools.unfit(executor) {
                    Ok(unfit) if unfit.is_empty() => {
                        checks.add(&name, Outcome::Ok, format!("active{place}"), None);
                        checks.has("executors", &executor.id);
                    }
                    Ok(unfit) => {
                        let found = format!("active{place}; its tool {}", unfit.join("; "));
                        let hint = format!("callosum executor check {}", executor.id);
                        checks.add(&name, Outcome::Warning, found, Some(&hint));
                    }
                    Err(error) => checks.add(&name, Outcome::Warning, error.one_line(), None),
                },
                Some(lack) => {
                    let found = format!("active{place}; {}", lack.what);
                    checks.add(&name, Outcome::Warning, found, lack.hint.as_deref());
                }
            }
        } else {
            let check = format!("callosum executor check {}", executor.id);
            let why = executor.inactive_reason();
            let mending = |(client, why): (&Client, &str)| {
                let named = client.mending(executor, why);
                named.unwrap_or_else(|| client.looking(executor))
            };
            let hint = Client::behind(executor).zip(why).map_or(check, mending);
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let found = format!("inactive{place}{why}");
            let hint = undecided(executor).is_none().then_some(hint.as_str());
            checks.add(&name, Outcome::Warning, found, hint);
        }
    }
    for found in &installed {
        // A client that also speaks another protocol is reported once.
        let is_listed_already =
            found.known.speaks == Speaks::Acp && Known::named(found.known.program).is_some();
        if !is_listed_already && roster.registry().get(found.known.id).is_none() {
            let name = format!("executor {}", found.known.id);
            let text = format!("installed at {}, not registered", found.program.display());
            checks.add(&name, Outcome::Ok, text, Some("callosum executor discover"));
        }
    }
}

/// Returns the first path of an entry that links lead outside the project, if its executor is
/// confined at all.
fn outside(context: &Context, executor: &Executor) -> Option<LeadsOutside> {
    let is_held = executor.confinement != Some(Policy::Off);
    is_held.then(|| context.leads_outside(&executor.wishes()))?
}

/// Returns the first write access of an entry that every sandbox denies.
fn withheld<'e>(context: &Context, executor: &'e Executor) -> Option<&'e String> {
    let mut wishes = executor
        .writable
        .iter()
        .filter(|wish| !executor.keeps(wish));
    let is_held = executor.confinement != Some(Policy::Off);
    wishes.find(|wish| is_held && context.withheld(wish) == Some(DeniedPath::All))
}

/// Checks which confinement is available. A missing part does not stop the main job from working.
pub fn check_confinement(context: &Context, checks: &mut Checks) {
    const NAME: &str = "confinement";
    let surroundings = match context.surroundings() {
        Ok(surroundings) => surroundings,
        Err(error) => {
            checks.add(NAME, Outcome::Warning, error.one_line(), None);
            return;
        }
    };
    let Some(confiner) = &surroundings.confiner else {
        return;
    };
    match decide(Policy::Required, &[], confiner.system()) {
        Ok(reached) => {
            let landlock = reached.landlock.unwrap_or_default();
            let found = format!("full: namespaces, Landlock {landlock}, system call filter");
            checks.add(NAME, Outcome::Ok, found, None);
        }
        Err(refused) => {
            let hint = confiner.system().remedy();
            let lock = if confiner.system().namespaces.is_err() {
                "; an executor can hold the locks of the project's files and block other runs"
            } else {
                ""
            };
            let found = format!("lacks {}{lock}", refused.missing.join("; "));
            checks.add(NAME, Outcome::Warning, found, hint);
        }
    }
}
