//! Arguments and output of `callosum plan cancel`.
//!
//! The use case is [`callosum_app::plan::cancel`].

use std::thread;
use std::time::{Duration, Instant};

use callosum_app::plan::cancel::PATIENCE;
use callosum_app::plan::history::{left_of, run_to_end, warn_of_foreign};
use callosum_app::plan::local_run::LocalRun;
use callosum_app::plan::lock::{RunLock, ask_for_end};
use callosum_app::{CommandError, Exit, ledger_errors, open_ledger};
use callosum_plan_run::run::{
    Answer, Ended, OutcomeWord, RunId, RunJournal as _, RunRecord, SealedJournal,
};
use clap::Args;

use crate::cli::context::Context;

/// Cancel a run
///
/// Stops its work in progress; completed work is kept. A canceled run cannot be resumed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan cancel 0f3a")]
pub(crate) struct CancelArgs {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    run: String,
}

pub(super) fn run(context: &Context, args: &CancelArgs) -> Result<(), CommandError> {
    let run = match args.run.parse::<RunId>() {
        // Where all of its records are gone, there is what this machine keeps of it.
        Ok(run) if LocalRun::of(context, &run).is_of_here() => run,
        _ => run_to_end(context, &args.run)?.state.run().clone(),
    };
    let began = Instant::now();
    let mut is_asked = false;
    let lock = loop {
        if let Some(lock) = RunLock::take(context, &run)? {
            break lock;
        }
        if !is_asked {
            ask_for_end(context, &run)?;
            is_asked = true;
        }
        if began.elapsed() > PATIENCE || context.cancel.is_cancelled() {
            let what = format!("the run {run} was asked to end but has not ended yet");
            return Err(CommandError::new(Exit::No, what).hint(format!("callosum plan show {run}")));
        }
        thread::sleep(Duration::from_millis(50));
    };
    let own = LocalRun::of(context, &run);
    own.refuse_newer()?;
    let Some(read) = left_of(context, &run)? else {
        lock.end();
        own.end();
        let what = format!("gave up the run {run}: its records no longer exist");
        context.report.say(&what);
        return Ok(());
    };
    let ledger = open_ledger::open(context)?;
    warn_of_foreign(context, &read);
    let outcome = if let Some(ended) = read.state.ended() {
        ended.outcome
    } else {
        let journal = match own.seals().filter(|_| read.is_sealed) {
            Some(seals) => {
                let tally = own.is_of_here().then(|| own.tally());
                SealedJournal::new(ledger, seals.secret, read.sealed, tally)
            }
            None => SealedJournal::unsealed(ledger),
        };
        let records = [
            RunRecord::CancelAsked,
            RunRecord::Ended(Ended {
                outcome: OutcomeWord::Cancelled,
                answer: Answer::nothing(),
            }),
        ];
        let written = journal.tell(&run, &records);
        written.map_err(|error| ledger_errors::unwritten(&error))?;
        OutcomeWord::Cancelled
    };
    lock.end();
    // If others wrote to the journal, the seals are needed to read the run, even when it is over.
    if read.foreign.is_none() || !read.is_sealed {
        own.end();
    }
    if outcome == OutcomeWord::Cancelled {
        context.report.say(&format!("the run {run} is canceled"));
        return Ok(());
    }
    let what = format!(
        "the run {run} had already ended: it {outcome}",
        outcome = outcome.as_str()
    );
    Err(CommandError::new(Exit::No, what))
}
