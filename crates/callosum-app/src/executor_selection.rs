//! [`Choice`]: the executor of a task that names none, with the order of preference and the reason.
//!
//! A function of the data that the [`Roster`](super::executor_pool::Roster) gathers. Deliberately not
//! here: which executors may get tasks at all.

use callosum_executor::registry::EMBEDDED_ID;

/// An executor that may get tasks that name none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub id: String,
    /// Its place in the order of preference, lowest first (`.calrc`).
    pub priority: u64,
    /// Whether it failed again and again, and is left alone for a while.
    pub is_left_alone: bool,
    /// Whether no login for it was found.
    pub lacks_login: bool,
}

/// The candidates, in the order in which they are preferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    candidates: Vec<Candidate>,
    /// Whether `scout` may be used if no other executor can be.
    has_scout: bool,
}

/// Executor of the next task that names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// Its name.
    pub id: String,
    /// Reason of the choice, worded to follow a colon.
    pub why: String,
}

impl Choice {
    /// Sorts candidates, given in the order of the registry, by preference: by priority, equals in
    /// the given order, `scout` last. So a new name cannot move ahead of executors that were
    /// registered before.
    pub fn among(mut candidates: Vec<Candidate>, has_scout: bool) -> Self {
        candidates.sort_by_key(|one| (one.priority, one.id == EMBEDDED_ID));
        Self {
            candidates,
            has_scout,
        }
    }

    /// All of them; `scout` where there are none.
    pub fn all(&self) -> Vec<String> {
        if self.candidates.is_empty() {
            return vec![EMBEDDED_ID.to_owned()];
        }
        names(&self.candidates)
    }

    /// Returns the executors that can be asked now: not paused after failures, and with a login. If
    /// all are paused, pauses are ignored. If none has a login, returns `scout`; if `scout` is
    /// disabled, returns them despite the missing logins.
    pub fn ready(&self) -> Vec<String> {
        if self.candidates.is_empty() {
            return self.all();
        }
        let awake: Vec<Candidate> = self.with(|one| !one.is_left_alone);
        let awake = if awake.is_empty() {
            self.candidates.clone()
        } else {
            awake
        };
        let (unknown, known): (Vec<Candidate>, Vec<Candidate>) =
            awake.into_iter().partition(|one| one.lacks_login);
        match known.is_empty() {
            false => names(&known),
            true if self.has_scout => vec![EMBEDDED_ID.to_owned()],
            true => names(&unknown),
        }
    }

    /// Returns the executors that are passed over because no login for them was found.
    pub fn without_login(&self) -> Vec<String> {
        names(&self.with(|one| one.lacks_login))
    }

    /// Returns the executor to ask next, with the reason. `None` if only `scout` is left and
    /// disabled.
    pub fn next(&self) -> Option<Next> {
        let ready = self.ready();
        let id = ready.first()?.clone();
        let place = self.candidates.iter().position(|one| one.id == id);
        let (before, chosen) = match place {
            Some(place) => (&self.candidates[..place], self.candidates.get(place)),
            None if self.has_scout => (&self.candidates[..], None),
            None => return None,
        };
        let mut why: Vec<String> = before.iter().map(passed_over).collect();
        why.push(match chosen {
            Some(chosen) => self.reason(chosen, &ready),
            None if before.is_empty() => {
                "no other executor is active, trusted and enabled".to_owned()
            }
            None => "it needs no login".to_owned(),
        });
        Some(Next {
            id,
            why: why.join("; "),
        })
    }

    /// Returns the reason why `chosen` comes before the others that could be asked.
    fn reason(&self, chosen: &Candidate, ready: &[String]) -> String {
        let others = self.with(|one| one.id != chosen.id && ready.contains(&one.id));
        let priority = chosen.priority;
        let is_equal = |other: &&Candidate| other.priority == priority;
        match others.iter().filter(is_equal).count() {
            _ if others.is_empty() => "no other executor is available".to_owned(),
            0 => format!("its priority, {priority}, is the lowest"),
            _ if chosen.id == EMBEDDED_ID => format!("its priority is {priority}"),
            equals => format!(
                "it was registered first of the {} with priority {priority}",
                equals + 1
            ),
        }
    }

    /// The priority by which a candidate would be preferred to all others; nothing where it is already, or none is
    /// low enough.
    pub fn priority_to_lead(&self, id: &str) -> Option<u64> {
        let first = self.candidates.first()?;
        let is_behind = first.id != id && self.candidates.iter().any(|one| one.id == id);
        is_behind.then(|| first.priority.checked_sub(1))?
    }

    fn with(&self, is_wanted: impl Fn(&Candidate) -> bool) -> Vec<Candidate> {
        let wanted = self.candidates.iter().filter(|one| is_wanted(one));
        wanted.cloned().collect()
    }
}

fn names(candidates: &[Candidate]) -> Vec<String> {
    candidates.iter().map(|one| one.id.clone()).collect()
}

fn passed_over(candidate: &Candidate) -> String {
    let id = &candidate.id;
    if candidate.is_left_alone {
        format!("{id} is paused after failures")
    } else {
        format!("no login for {id} was found")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, priority: u64) -> Candidate {
        Candidate {
            id: id.to_owned(),
            priority,
            is_left_alone: false,
            lacks_login: false,
        }
    }

    fn next(candidates: &[Candidate]) -> String {
        let next = Choice::among(candidates.to_vec(), true).next().unwrap();
        format!("{}: {}", next.id, next.why)
    }

    /// CAL-EXE-1: a new executor does not take over by its name, and a number says more than an age.
    #[test]
    fn among_equals_the_one_that_was_registered_first_is_asked() {
        let (claude, bad) = (candidate("claude", 100), candidate("bad", 100));
        let both = [claude.clone(), bad.clone()];
        assert_eq!(
            next(&both),
            "claude: it was registered first of the 2 with priority 100"
        );
        let scout = candidate("scout", 100);
        assert_eq!(
            next(&[scout.clone(), bad.clone()]),
            "bad: it was registered first of the 2 with priority 100"
        );
        assert_eq!(
            next(&[claude.clone(), candidate("bad", 7)]),
            "bad: its priority, 7, is the lowest"
        );
        assert_eq!(next(&[bad]), "bad: no other executor is available");
        assert_eq!(
            next(&[]),
            "scout: no other executor is active, trusted and enabled"
        );
    }

    /// CAL-EXE-1: the reason names each executor that comes first and is not asked.
    #[test]
    fn an_executor_that_is_passed_over_is_named() {
        let mut claude = candidate("claude", 1);
        claude.lacks_login = true;
        let mut codex = candidate("codex", 2);
        codex.is_left_alone = true;
        let behind = candidate("mine", 3);
        assert_eq!(
            next(&[claude.clone(), codex, behind]),
            "mine: no login for claude was found; codex is paused after failures; no other executor is available"
        );
        assert_eq!(
            next(std::slice::from_ref(&claude)),
            "scout: no login for claude was found; it needs no login"
        );
        // Without scout the one that is there is asked, and says itself what it lacks.
        let choice = Choice::among(vec![claude], false);
        assert_eq!(choice.ready(), ["claude"]);
        assert_eq!(Choice::among(Vec::new(), false).next(), None);
    }

    #[test]
    fn a_priority_that_leads_is_below_the_lowest() {
        let choice =
            |first: u64| Choice::among(vec![candidate("a", first), candidate("b", 100)], true);
        assert_eq!(choice(100).priority_to_lead("b"), Some(99));
        assert_eq!(choice(0).priority_to_lead("b"), None);
        assert_eq!(choice(100).priority_to_lead("a"), None);
        assert_eq!(choice(100).priority_to_lead("unknown"), None);
    }
}
