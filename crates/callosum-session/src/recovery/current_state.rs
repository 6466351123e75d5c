//! [`Recollection`]: the contents of notes and the current bead, with their validity.

use crate::{
    bead::{Bead, BeadDecision, BeadId, is_closed},
    evidence::{EvidenceStatus, Tree},
    notes::{Decision, Notes},
    pending_handoffs::PendingHandoff,
    sanitize::{one_line, says_the_same, title_of},
    transaction::{Session, SessionError},
};

/// Reliability of a decision now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Every quote is in the tree. A reader must judge whether it supports the decision.
    QuoteFound,
    /// A quote was code when it was cited, and is only in a comment, a string or a docstring now.
    QuoteInComment,
    /// It says that it is an assumption.
    Assumption,
    /// It says that it is the user's word.
    UserInput,
    /// It cites nothing that could be looked up.
    NoEvidence,
    /// Some quotes are no longer where they were.
    Stale,
}

impl Trust {
    /// It in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Self::QuoteFound => "quote found",
            Self::QuoteInComment => "quote found in a comment",
            Self::Assumption => "assumption",
            Self::UserInput => "the user's word",
            Self::NoEvidence => "no evidence",
            Self::Stale => "stale",
        }
    }
}

/// A decision, and how far it can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recollected {
    /// The decision.
    pub decision: Decision,
    /// Its reliability.
    pub trust: Trust,
}

impl Recollected {
    /// Returns a decision, looked up in the tree.
    pub(super) fn of(decision: Decision, tree: &Tree<'_>) -> Self {
        Self {
            trust: trust(&decision, tree),
            decision,
        }
    }
}

/// State that recovery can show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recollection {
    /// The current bead: its id, and its content if it could be parsed.
    pub bead: Option<(String, Option<Bead>)>,
    /// When the last checkpoint was, as written.
    pub checkpoint: Option<String>,
    /// Reasoning in progress.
    pub reasoning: Option<String>,
    /// Decisions, newest first.
    pub decisions: Vec<Recollected>,
    /// Number of older ones.
    pub older: usize,
    /// Hand-offs of the last days, newest first; a caller that wants them shown adds them.
    pub handoffs: Vec<PendingHandoff>,
    /// Unanswered questions: those of the notes, then those of the bead.
    pub questions: Vec<String>,
    /// The ids of open beads other than the current one, the most urgent first; a caller that wants
    /// them shown adds them.
    pub other_beads: Vec<String>,
    /// The ids of the newest entries of the ledger; a caller that wants them shown adds them.
    pub entries: Vec<String>,
}

impl Recollection {
    /// Gathers the current state. The evidence of the newest `looked_up` decisions is checked
    /// against the tree; older ones are only counted.
    pub fn gather(session: &Session<'_>, looked_up: usize) -> Result<Self, SessionError> {
        let Some(notes) = session.notes()? else {
            return Ok(Self::default());
        };
        let active = notes.active();
        let bead = active.bead.as_deref().map(|id| {
            let sheet = BeadId::new(id).and_then(|id| session.bead(&id).ok());
            (id.to_owned(), sheet.map(|sheet| Bead::of(sheet.members())))
        });
        // Finished work is not part of the current state.
        let bead = bead.filter(|(_, bead)| {
            let status = bead.as_ref().map(|bead| bead.status.as_str());
            !status.is_some_and(is_closed)
        });
        let tree = Tree::new(session.disk, &session.zones.tree);
        let newest = notes.newest();
        let decisions = newest.all().take(looked_up);
        let of_bead = bead.as_ref().and_then(|(_, bead)| bead.clone());
        let mut questions: Vec<String> = notes.questions();
        let more = bead.iter().filter_map(|(_, bead)| bead.as_ref());
        for question in more.flat_map(|bead| &bead.questions) {
            if !questions.contains(question) {
                questions.push(question.clone());
            }
        }
        Ok(Self {
            bead,
            handoffs: Vec::new(),
            other_beads: Vec::new(),
            entries: Vec::new(),
            checkpoint: active.checkpoint.map(|text| one_line(&text)),
            reasoning: active.reasoning.map(|text| one_line(&text)),
            decisions: decisions
                .map(|decision| believed(decision, of_bead.as_ref(), &notes))
                .map(|decision| Recollected::of(decision, &tree))
                .collect(),
            older: newest.len().saturating_sub(looked_up),
            questions: questions.iter().map(|text| one_line(text)).collect(),
        })
    }

    /// Returns the next step: that of the bead, or the reasoning in progress.
    pub fn next_step(&self) -> Option<String> {
        let bead = self.bead.as_ref().and_then(|(_, bead)| bead.as_ref());
        let step = bead.and_then(|bead| bead.next_steps.first());
        step.map(|step| one_line(step))
            .or_else(|| self.reasoning.clone())
    }
}

/// Returns the decision as the current bead has it, which takes precedence over the notes if its
/// words differ.
fn believed(decision: Decision, bead: Option<&Bead>, notes: &Notes) -> Decision {
    let made = bead.into_iter().flat_map(|bead| &bead.decisions);
    let made: Vec<&BeadDecision> = made
        .filter(|made| made.ts == decision.ts && !made.decision.is_empty())
        .collect();
    let is_said = |made: &&BeadDecision| says_the_same(&made.decision, decision.words());
    let Some(first) = made.first().filter(|_| !made.iter().any(is_said)) else {
        return decision;
    };
    // Of several of one time, another one may be meant.
    if notes.decisions_where(|ts, _| ts == decision.ts).len() > 1 {
        return decision;
    }
    let of_words: Vec<_> = made
        .iter()
        .filter(|made| made.decision == first.decision)
        .collect();
    Decision {
        title: title_of(&first.decision),
        decision: first.decision.clone(),
        rationale: first.rationale.clone(),
        evidence: of_words
            .iter()
            .flat_map(|made| made.evidence.clone())
            .collect(),
        unread: 0,
        is_assumption: of_words.iter().any(|made| made.is_assumption),
        is_user_input: of_words.iter().any(|made| made.is_user_input),
        ..decision
    }
}

fn trust(decision: &Decision, tree: &Tree<'_>) -> Trust {
    // Evidence that was added since is more than the mark that it was made with.
    if decision.evidence.is_empty() && decision.unread == 0 {
        return match (decision.is_assumption, decision.is_user_input) {
            (true, _) => Trust::Assumption,
            (_, true) => Trust::UserInput,
            _ => Trust::NoEvidence,
        };
    }
    let cited = decision.evidence.iter();
    let found: Vec<EvidenceStatus> = cited.map(|cited| tree.stand(cited)).collect();
    let is_inert = |found: &EvidenceStatus| matches!(found, EvidenceStatus::Inert { .. });
    if decision.unread > 0 || !found.iter().all(|one| one.holds() || is_inert(one)) {
        Trust::Stale
    } else if found.iter().any(is_inert) {
        Trust::QuoteInComment
    } else {
        Trust::QuoteFound
    }
}
