//! Rules for claiming, completing, releasing and canceling tasks, and for claims that have expired
//! or whose owner is gone.

use jiff::{SignedDuration, Timestamp};

use super::{
    Board, BoardError, Claim, Effect, MESSAGE_TTL, Receipt, Session, Status, Task,
    command::takes_back,
};
use crate::{agent::AgentName, author::Author, project_folder::is_near};

/// Lifetime of a claim that is not renewed.
pub const CLAIM: SignedDuration = SignedDuration::from_mins(30);

impl Board {
    /// The claims that have run out by now, given back.
    pub fn run_out(&self, now: Timestamp) -> Vec<Effect> {
        let claimed = self
            .tasks
            .iter()
            .filter(|task| task.status == Status::InProgress);
        claimed
            .filter_map(|task| {
                let claim = task.claim.as_ref()?;
                // The machine that has it releases it: clocks differ.
                (claim.until <= now && !claim.is_foreign()).then(|| Effect::TaskReleased {
                    task: task.id.clone(),
                    reason: format!("the claim of {} expired", claim.by),
                    fence: task.claim_fence(),
                })
            })
            .collect()
    }

    /// Returns the effects of a session's end. Its claims and leases are released, and messages
    /// that it received without a sign of having seen them are queued again.
    pub fn left_by(&self, session: &Session) -> Vec<Effect> {
        let is_theirs = |agent: &AgentName, session_id: Option<&String>| {
            session_id.is_some_and(|id| session.is(agent, id))
        };
        let claimed = self.tasks.iter().filter(|task| {
            let claim = task.claim.as_ref();
            task.status == Status::InProgress
                && claim.is_some_and(|claim| is_theirs(&claim.by, claim.session_id.as_ref()))
        });
        let claimed = claimed.map(|task| Effect::TaskReleased {
            task: task.id.clone(),
            reason: format!("the session of {} that had claimed it ended", session.agent),
            fence: task.claim_fence(),
        });
        let leases = self.leases.iter();
        let leases = leases.filter(|lease| is_theirs(&lease.by, lease.session_id.as_ref()));
        let leases = leases.map(|lease| Effect::LeaseReleased {
            path: lease.path.clone(),
        });
        // What it was handed and never showed to have seen waits for another.
        let unseen = self.messages.iter().filter(|message| {
            message.receipt == Some(Receipt::Delivered)
                && message.to.session.is_none()
                && is_theirs(&message.to.agent, message.session_id.as_ref())
        });
        let unseen = unseen.map(|message| Effect::MessageRetried {
            message: message.id.clone(),
            expires: message.expires,
        });
        // Messages for this session alone can no longer reach anyone.
        let own = self.messages.iter().filter(|message| {
            let is_on_its_way = message
                .receipt
                .is_none_or(|receipt| receipt == Receipt::Delivered);
            is_on_its_way && is_theirs(&message.to.agent, message.to.session.as_ref())
        });
        let own = own.map(|message| Effect::MessageMoved {
            message: message.id.clone(),
            receipt: if message.is_notice_to_session() {
                Receipt::Dropped
            } else {
                Receipt::Dead
            },
            evidence: Some(format!("the session {} has ended", session.session_id)),
        });
        claimed.chain(leases).chain(unseen).chain(own).collect()
    }

    /// Gives a task back to the queue; nothing where it is there already.
    pub(super) fn released(
        &self,
        id: String,
        reason: String,
        holding: &Holding<'_>,
    ) -> Result<Vec<Effect>, BoardError> {
        let task = self.known(&id)?;
        if task.status.is_over() {
            return Err(is_over(task));
        }
        holding.allows(task)?;
        let is_claimed = task.status == Status::InProgress;
        let fence = task.claim_fence();
        let deed = Effect::TaskReleased {
            task: id,
            reason,
            fence,
        };
        Ok(is_claimed.then_some(deed).into_iter().collect())
    }

    /// Completes a task. Returns no effects if it is complete with this result already.
    ///
    /// Fails if another agent holds the task, is assigned to it, or has completed it, unless
    /// `anyway` is set. The agent that had claimed a canceled task may still complete it, so that
    /// its work is not lost.
    pub(super) fn completed(
        &self,
        id: String,
        result: Option<String>,
        holding: &Holding<'_>,
    ) -> Result<Vec<Effect>, BoardError> {
        let task = self.known(&id)?;
        let by = &holding.voice.agent;
        let claimant = task.claim.as_ref().map(|claim| &claim.by);
        match task.status {
            Status::Complete => {
                if result.is_none() || task.result == result {
                    return Ok(Vec::new());
                }
                let done_by = task.completed_by.as_ref().or(claimant);
                if done_by != Some(by) && !holding.anyway {
                    return Err(BoardError::DoneBy {
                        task: id,
                        by: done_by.cloned(),
                    });
                }
            }
            Status::Cancelled if task.is_claim_foreign() => return Err(is_over(task)),
            Status::Cancelled if claimant != Some(by) && !holding.anyway => {
                return Err(is_over(task));
            }
            Status::Cancelled => {}
            Status::Pending => {
                holding.allows(task)?;
                if task.is_shared {
                    return Err(BoardError::Shared { task: id });
                }
                if let Some(meant) = &task.assigned_to
                    && meant != by
                    && !holding.anyway
                {
                    return Err(BoardError::MeantFor {
                        task: id,
                        agent: meant.clone(),
                    });
                }
            }
            Status::InProgress => holding.allows(task)?,
        }
        let by = by.clone();
        Ok(vec![Effect::TaskCompleted {
            task: id,
            by,
            result,
            fence: task.claim_fence(),
        }])
    }

    /// Cancels a task and notifies the agent that works on it. Returns no effects if it is canceled
    /// already.
    pub(super) fn cancelled(
        &self,
        id: String,
        reason: String,
        voice: &Author,
        now: Timestamp,
    ) -> Result<Vec<Effect>, BoardError> {
        let task = self.known(&id)?;
        match task.status {
            Status::Complete => return Err(is_over(task)),
            Status::Cancelled => return Ok(Vec::new()),
            Status::Pending | Status::InProgress => {}
        }
        let claim = task
            .claim
            .as_ref()
            .filter(|_| task.status == Status::InProgress);
        let doer = match claim {
            Some(claim) => Some(&claim.by),
            None => task.assigned_to.as_ref(),
        };
        takes_back("task", &id, &voice.agent, &[Some(&task.created_by), doer])?;
        let claim = task.claim.as_ref().filter(|claim| {
            task.status == Status::InProgress && claim.until > now && claim.by != voice.agent
        });
        let notice = claim.map(|claim| Effect::MessageSent {
            id: format!("cancelled-{}-{}", task.rev, claim.token),
            to: claim.by.clone().into(),
            content: format!(
                "task `{id}`, which you claimed, was canceled: {reason}. Complete it anyway to \
                 keep your result"
            ),
            reply_to: None,
            ttl_seconds: None,
            expires: Some(now + MESSAGE_TTL),
        });
        let cancelled = Effect::TaskCancelled { task: id, reason };
        Ok(std::iter::once(cancelled).chain(notice).collect())
    }

    pub(super) fn claim(
        &self,
        task: Option<&str>,
        anyway: bool,
        fence: Option<u64>,
        voice: &Author,
        now: Timestamp,
    ) -> Result<Effect, BoardError> {
        let by = &voice.agent;
        let until = now + CLAIM;
        let claimed = |task: &Task| Effect::TaskClaimed {
            task: task.id.clone(),
            by: by.clone(),
            until,
            fence: fence.or_else(|| task.claim_fence()),
        };
        let Some(id) = task else {
            return self
                .next_where(voice, now, |task| !task.is_shared)
                .map(claimed)
                .ok_or(BoardError::NothingToDo);
        };
        let task = self.known(id)?;
        if task.status.is_over() {
            return Err(is_over(task));
        }
        let is_newer = fence.is_some_and(|fence| fence > task.fence);
        if task.is_shared && !is_newer && !task.is_renewed_by(voice, fence, now) {
            return Err(BoardError::Shared {
                task: id.to_owned(),
            });
        }
        // The server's claim counts, even if the end of the last claim has not arrived here yet.
        if !is_newer
            && let Some(claim) = &task.claim
            && (claim.holds_against(voice, now) || claim.is_of_session_only(voice, now))
        {
            return Err(BoardError::ClaimedBy {
                task: id.to_owned(),
                by: claim.by.clone(),
                until: claim.until,
            });
        }
        if let Some(meant) = &task.assigned_to
            && meant != by
            && !anyway
        {
            return Err(BoardError::MeantFor {
                task: id.to_owned(),
                agent: meant.clone(),
            });
        }
        let gone: Vec<String> = self.gone_needs(task).map(str::to_owned).collect();
        if !gone.is_empty() {
            return Err(BoardError::NeedsWhatIsGone {
                task: id.to_owned(),
                needs: gone,
            });
        }
        let needs: Vec<String> = self.waits_for(task).map(str::to_owned).collect();
        if !needs.is_empty() {
            return Err(BoardError::WaitsFor {
                task: id.to_owned(),
                needs,
            });
        }
        Ok(claimed(task))
    }

    /// The most urgent task that an agent may begin now: those of the project that it is in first, then by the smallest
    /// priority, then the oldest.
    pub fn next_for(&self, voice: &Author, now: Timestamp) -> Option<&Task> {
        self.next_where(voice, now, |_| true)
    }

    /// Returns the same among the tasks that `is_wanted`.
    pub fn next_where(
        &self,
        voice: &Author,
        now: Timestamp,
        is_wanted: impl Fn(&Task) -> bool,
    ) -> Option<&Task> {
        let by = &voice.agent;
        let here = voice.cwd.as_deref();
        let is_free = |task: &&Task| {
            task.status_at(now) == Status::Pending
                && task.assigned_to.as_ref().is_none_or(|meant| meant == by)
                && self.waits_for(task).next().is_none()
        };
        let free = self.tasks.iter().filter(is_free);
        let free = free.filter(|task| is_wanted(task));
        free.min_by_key(|task| (!is_near(here, task.cwd.as_deref()), task.priority))
    }
}

/// Author of a request to complete or release a task, with its claim token and options.
pub(super) struct Holding<'a> {
    pub(super) voice: &'a Author,
    /// Also where another agent has it.
    pub(super) anyway: bool,
    /// The number of the claim, where it is known.
    pub(super) token: Option<u64>,
    pub(super) now: Timestamp,
}

impl Holding<'_> {
    /// Fails where another has the task, or the claim that is named is not the one that holds.
    fn allows(&self, task: &Task) -> Result<(), BoardError> {
        let claim = task.claim.as_ref();
        let Some(claim) = claim.filter(|_| task.status == Status::InProgress) else {
            return match self.token {
                // A caller that names an expired claim has lost the task, no matter who claims it
                // next.
                Some(named) => Err(BoardError::Lost {
                    task: task.id.clone(),
                    named,
                }),
                None => Ok(()),
            };
        };
        // A person takes over what this machine sees, and not what another machine has.
        let is_forced = self.anyway && !claim.is_foreign();
        if claim.holds_against(self.voice, self.now) && !is_forced {
            return Err(BoardError::ClaimedBy {
                task: task.id.clone(),
                by: claim.by.clone(),
                until: claim.until,
            });
        }
        // Its end is the other machine's to record, and the task is claimed before it is completed.
        if claim.is_foreign() {
            return Err(BoardError::Shared {
                task: task.id.clone(),
            });
        }
        same(&format!("task `{}`", task.id), self.token, claim.token)
    }
}

impl Task {
    fn is_claim_foreign(&self) -> bool {
        self.claim.as_ref().is_some_and(Claim::is_foreign)
    }

    /// Whether a claim on a shared task renews the one that this session has, under the same token.
    fn is_renewed_by(&self, voice: &Author, fence: Option<u64>, now: Timestamp) -> bool {
        let is_own = |claim: &Claim| {
            let is_session = claim.by == voice.agent && claim.session_id == voice.session_id;
            is_session && !claim.is_foreign() && claim.until > now
        };
        let is_same = fence.is_none_or(|fence| fence == self.fence);
        self.fence > 0 && is_same && self.claim.as_ref().is_some_and(is_own)
    }
}

fn is_over(task: &Task) -> BoardError {
    BoardError::IsOver {
        task: task.id.clone(),
        status: task.status,
    }
}

/// Fails where a number is named and is not the one that holds.
pub(super) fn same(what: &str, named: Option<u64>, now: u64) -> Result<(), BoardError> {
    match named {
        Some(named) if named != now => Err(BoardError::Stale {
            what: what.to_owned(),
            named,
            now,
        }),
        _ => Ok(()),
    }
}
