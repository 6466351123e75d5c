//! [`carry_on`]: a run carried on by this process, as far as it goes.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::plan::drive`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use callosum_app::capability::outcomes::{OutcomeFile, SeenOutcomes};
use callosum_app::constitution::{governance, governance_failed};
use callosum_app::plan::drive::{
    AT_ONCE, ClaimedRun, CurrentRules, answers, broken_off, constitution, grant,
    with_hint_of_provided,
};
use callosum_app::plan::history;
use callosum_app::plan::local_run::LocalRun;
use callosum_app::plan::lock::RunLock;
use callosum_app::plan::provider::providers;
use callosum_app::plan::render::PlanRunOutput;
use callosum_app::plan::run::unbegun;
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, auto_checkpoint, open_ledger};
use callosum_host::process::Cancel;
use callosum_json::Checksum;
use callosum_plan::{CompileOptions, Limits, Program, Value, compile};
use callosum_plan_run::kernel::{Kernel, RunCaps};
use callosum_plan_run::run::{
    BeginError, NewRun, ReadRun, RunEnd, RunError, RunId, RunMeans, RunRules as _, SealedJournal,
    begin, drive, text_of,
};

use super::progress::Shown;
use super::render;
use crate::cli::context::Context;

/// Compiles a plan, or tells all that is wrong with it.
pub(crate) fn compiled(
    context: &Context,
    source: &Source,
    options: &CompileOptions,
) -> Result<Arc<Program>, CommandError> {
    match compile(&source.text, options) {
        Ok(program) => Ok(Arc::new(program)),
        Err(findings) if context.ui.json => {
            context
                .ui
                .json_data(&PlanRunOutput::refused(source, &findings))?;
            Err(CommandError::told(Exit::No))
        }
        Err(findings) => {
            source.tell(&findings, &*context.report);
            let count = callosum_app::many(findings.len() as u64, "reason");
            let error = CommandError::new(Exit::No, format!("the plan was rejected for {count}"));
            Err(with_hint_of_provided(error, &findings))
        }
    }
}

/// Takes a run that is there already, so that this process may go on with it.
pub(crate) fn take(context: &Context, id: &str) -> Result<ClaimedRun, CommandError> {
    let run = history::run_of(context, id)?.state.run().clone();
    let ledger = open_ledger::open(context)?;
    let Some(lock) = RunLock::take(context, &run)? else {
        let what = format!("another process is executing the run {run}");
        return Err(CommandError::new(Exit::Environment, what).hint(format!(
            "callosum plan show {run}; or end it: callosum plan cancel {run}"
        )));
    };
    // Read again, now that no other process continues the run.
    let read = history::run_of(context, run.as_str())?;
    history::warn_of_foreign(context, &read);
    let ReadRun {
        state,
        foreign,
        is_sealed,
        sealed,
        last,
    } = read;
    let text = text_of(&answers(context), &state.started().source).map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read the plan of the run", &error)
    })?;
    let mut secret = None;
    if state.ended().is_none() {
        let own = LocalRun::of(context, &run);
        own.approved(state.started())?;
        if foreign.is_some() && !is_sealed {
            // Where one is gone those that follow from it do not fit, and what it answered would be made again.
            let what = format!("the records of the run {run} are inconsistent");
            return Err(CommandError::new(Exit::No, what).hint("callosum audit verify"));
        }
        if Checksum::of(text.as_bytes()) != state.started().source_sha256 {
            let what = format!("the plan of the run {run} is not the one that it was started with");
            return Err(CommandError::new(Exit::No, what).hint("callosum audit verify"));
        }
        secret = Some(own.secret(last)?);
    }
    // Nothing is recorded any more for a run that is over.
    let journal = match secret {
        Some(secret) => {
            let tally = LocalRun::of(context, &run).tally();
            SealedJournal::new(ledger, secret, sealed, Some(tally))
        }
        None => SealedJournal::unsealed(ledger),
    };
    let source = Source::named(text, format!("run {run}"));
    let program = compiled(context, &source, &CompileOptions::default())?;
    Ok(ClaimedRun {
        journal,
        state,
        is_alone: foreign.is_none() || !is_sealed,
        source,
        program,
        lock,
    })
}

/// Carries a run on as far as it goes, and tells what came of it.
pub(super) fn carry_on(context: &Context, taken: ClaimedRun) -> Result<(), CommandError> {
    let run = taken.state.run().clone();
    let (source, ended) = carried(context, taken)?;
    render::tell(context, &run, &source, &ended)
}

/// Lets a process in the background carry a run on.
pub(super) fn detach(context: &Context, taken: ClaimedRun) -> Result<(), CommandError> {
    let run = taken.state.run().clone();
    // That process takes the lock.
    drop(taken);
    let output = callosum_app::plan::detached::resume(context, &run)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context
        .report
        .say(&format!("the run {run} goes on in the background"));
    context.report.hint(&format!("callosum plan show {run}"));
    Ok(())
}

/// Starts a run of a plan, under an id that no other run has.
pub(crate) fn begun(
    context: &Context,
    source: Source,
    program: Arc<Program>,
    id: &RunId,
    input: &BTreeMap<String, Value>,
    (limits, caps): (&Limits, RunCaps),
) -> Result<ClaimedRun, CommandError> {
    let ledger = open_ledger::open(context)?;
    let Some(lock) = RunLock::take(context, id)? else {
        return Err(CommandError::new(Exit::Internal, "a new run has a lock"));
    };
    let (_, print) = constitution(context);
    let new = NewRun {
        id,
        source: &source.text,
        program: &program,
        input,
        limits,
        caps,
        constitution: &print,
        at: context.clock.now(),
    };
    let own = LocalRun::of(context, id);
    let secret = own.begin(context, new.source_sha256(), new.input_sha256())?;
    let journal = SealedJournal::new(ledger, secret, 0, Some(own.tally()));
    let state = match begin(new, &journal, &answers(context)) {
        Ok(state) => state,
        Err(error) => {
            // Where the journal failed, its record may yet come into it.
            if !matches!(error, BeginError::Journal(_)) {
                own.end();
                lock.end();
            }
            return Err(unbegun(&error));
        }
    };
    Ok(ClaimedRun {
        journal,
        state,
        is_alone: true,
        source,
        program,
        lock,
    })
}

/// Carries a run on as far as it goes. Returns its source and how far it came.
pub(crate) fn carried(
    context: &Context,
    taken: ClaimedRun,
) -> Result<(Source, RunEnd), CommandError> {
    let ClaimedRun {
        journal,
        state,
        is_alone,
        source,
        program,
        lock,
    } = taken;
    let run = state.run().clone();
    let answers = answers(context);
    // Taken before the constitution is read, so that an edit in between is noticed.
    let rules = CurrentRules(governance(context));
    let rules_seen = rules.stamp();
    let (constitution, print) = constitution(context);
    let own = LocalRun::of(context, &run);
    let approved = match state.ended() {
        Some(_) => BTreeSet::new(),
        None => own.approved(state.started())?,
    };
    let grant = grant(&state, approved, print)?;
    let cancels = || Cancel::new().map_err(CommandError::internal);
    let (end, done) = (cancels()?, cancels()?);
    let (providers, catalogue) = providers(context, &state, &answers)?;
    let kernel = Kernel::new(catalogue, constitution);
    let shown = Shown::new(context.ui);
    let seen = SeenOutcomes::new(&state, &shown);
    rules
        .0
        .revoked()
        .map_err(|error| governance_failed(&error))?;
    let means = RunMeans {
        rules: &rules,
        rules_seen,
        journal: &journal,
        answers: &answers,
        kernel: &kernel,
        providers: &providers,
        grant: &grant,
        clock: &context.clock,
        stop: &context.cancel,
        end: &end,
        at_once: AT_ONCE,
        watch: &seen,
    };
    let ended = thread::scope(|scope| {
        let watching = thread::Builder::new().spawn_scoped(scope, || lock.watch(&end, &done));
        watching.map_err(RunError::Thread)?;
        let ended = auto_checkpoint::during(context, journal.ledger(), || {
            drive(state, &program, &source.text, &means)
        });
        done.cancel();
        ended
    });
    let is_over = matches!(
        ended,
        Ok(RunEnd::Completed(_) | RunEnd::Failed(_) | RunEnd::Cancelled)
    );
    let added = OutcomeFile::of_project(context).add(&seen, is_over, context.clock.now());
    if let Err(error) = added {
        // The run is not affected.
        let what = format!(
            "cannot count the outcomes of this run: {}",
            error.one_line()
        );
        context.report.warn(&what, None);
    }
    let ended = ended.map_err(|error| broken_off(&run, &error))?;
    if is_over {
        // If others wrote to the journal, the seals are needed to read the run, even when it is
        // over.
        if is_alone {
            own.end();
        }
        lock.end();
    } else {
        drop(lock);
    }
    Ok((source, ended))
}
