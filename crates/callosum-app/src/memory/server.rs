//! [`MemoryServer`]: answers queries of one process after the other from an open index.
//!
//! The index is brought in line in the background, so that a query never waits for that: a turn is found seconds after its
//! client wrote it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callosum_citation::tokens;
use callosum_daemon::{QueryFailure, SessionQuery};
use callosum_memory::{Memory, Origin, RankBy, SessionSearch};
use callosum_search::Query;
use schemars::JsonSchema;
use serde::Serialize;

use super::graph::{GraphOutput, graph};
use super::output::{MemoryStatusOutput, SessionHitOutput};
use super::{MemoryMachine, open_with_model, output, status, turned_on, unusable, updated};
use crate::CommandError;

/// Time after which a query has the index brought in line.
const FRESH: Duration = Duration::from_secs(5);

/// Answers queries from an open index.
pub struct MemoryServer {
    machine: MemoryMachine,
    open: Mutex<Option<Memory>>,
    refresh: Arc<Refresh>,
}

/// The last time that the index was brought in line.
#[derive(Default)]
struct Refresh {
    is_running: AtomicBool,
    last: Mutex<Option<Instant>>,
}

/// The answer to a query (Seed CALC §4).
#[derive(Debug, JsonSchema, Serialize)]
pub struct QueryOutput {
    /// The turns, the best first.
    pub related_turns: Vec<RelatedTurnOutput>,
    /// The methods that ranked them: `words`, and `vectors` if a model is installed; `graph` if it was asked for.
    pub sources: Vec<String>,
    /// Connections of the turns, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphOutput>,
}

/// A turn of the answer.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RelatedTurnOutput {
    /// The score of its session, from 0 to 1.
    pub score: f64,
    /// The beginning of its text.
    pub preview: String,
    /// Its session: `AGENT:ID`.
    pub source: String,
    /// Its origin.
    pub provenance: ProvenanceOutput,
}

/// The origin of a turn.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ProvenanceOutput {
    /// The agent.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The folder that the session ran in, if it is known.
    pub folder: Option<String>,
    /// `user`, `agent`, `call`, `failure` or `summary`.
    pub speaker: String,
    /// The turn's time.
    pub at: Option<String>,
    /// Whether the session's citations hold: `verified`, `partly verified`, `refuted` or `not verified`.
    pub verified: String,
}

impl MemoryServer {
    /// Makes a server, which opens the index with the first query.
    pub fn new(machine: MemoryMachine) -> Self {
        Self {
            machine,
            open: Mutex::default(),
            refresh: Arc::default(),
        }
    }

    /// Answers a query.
    ///
    /// # Errors
    /// The query is invalid, the memory is off, or its index cannot be used.
    pub fn query(&self, query: &SessionQuery) -> Result<QueryOutput, QueryFailure> {
        let origin = query.agent.as_deref().map(|name| {
            Origin::of(name).ok_or_else(|| {
                let names = Origin::names();
                QueryFailure::Invalid(format!("unknown `agent` `{name}` (allowed: {names})"))
            })
        });
        let origin = origin.transpose()?;
        let question = crate::find::asked(&query.query)
            .map_err(|error| QueryFailure::Invalid(error.one_line()))?;
        self.answer(query, origin, question)
            .map_err(|error| QueryFailure::Unavailable(error.one_line()))
    }

    fn answer(
        &self,
        query: &SessionQuery,
        origin: Option<Origin>,
        question: Query,
    ) -> Result<QueryOutput, CommandError> {
        turned_on(&self.machine)?;
        self.refresh_if_old();
        let search = SessionSearch {
            question,
            folders: query
                .folder
                .as_ref()
                .map(|folder| vec![PathBuf::from(folder)]),
            since: None,
            origin,
            by: RankBy::All,
            limit: query.k_rag,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = match &mut *open {
            Some(memory) => memory,
            none => none.insert(open_with_model(&self.machine)?.with_vectors_in_memory()),
        };
        let found = memory.search(&search);
        if found.is_err() {
            // Opened again by the next query.
            *open = None;
        }
        let hits = found.map_err(|error| unusable(&error))?;
        let hits: Vec<SessionHitOutput> = hits
            .into_iter()
            .map(|hit| output::hit(&self.machine.disk, hit))
            .collect();
        let graph = match (query.include_graph, open.as_ref()) {
            (true, Some(memory)) => {
                let graph = graph(&self.machine, memory, &hits);
                Some(graph.map_err(|error| unusable(&error))?)
            }
            _ => None,
        };
        let mut sources = vec!["words".to_owned()];
        if open.as_ref().is_some_and(Memory::has_model) {
            sources.push("vectors".to_owned());
        }
        if graph.is_some() {
            sources.push("graph".to_owned());
        }
        Ok(QueryOutput {
            related_turns: related(&hits, query),
            sources,
            graph,
        })
    }

    /// Returns the state of the memory.
    ///
    /// # Errors
    /// The settings or the index cannot be read.
    pub fn status(&self) -> Result<MemoryStatusOutput, CommandError> {
        status(&self.machine)
    }

    /// Has a thread bring the index in line, if that was not done lately.
    fn refresh_if_old(&self) {
        let last = *self
            .refresh
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_fresh = last.is_some_and(|last| last.elapsed() < FRESH);
        if is_fresh || self.refresh.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let (machine, refresh) = (self.machine.clone(), Arc::clone(&self.refresh));
        let work = move || {
            let done = turned_on(&machine).and_then(|settings| updated(&machine, &settings));
            if let Err(error) = done {
                tracing::warn!(
                    error = error.one_line(),
                    "the memory of past sessions is not updated"
                );
            }
            *refresh.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            refresh.is_running.store(false, Ordering::Release);
        };
        if thread::Builder::new().spawn(work).is_err() {
            self.refresh.is_running.store(false, Ordering::Release);
        }
    }
}

/// Returns the best turn of each session, then the next ones, until there are enough, within the tokens.
fn related(hits: &[SessionHitOutput], query: &SessionQuery) -> Vec<RelatedTurnOutput> {
    let mut related = Vec::new();
    let share = (query.max_tokens / query.k_rag.max(1) as u64).max(1);
    let deepest = hits.iter().map(|hit| hit.turns.len()).max().unwrap_or(0);
    for depth in 0..deepest {
        for hit in hits {
            let Some(turn) = hit.turns.get(depth) else {
                continue;
            };
            if related.len() == query.k_rag {
                return related;
            }
            related.push(RelatedTurnOutput {
                score: hit.score,
                preview: preview(&turn.text, share),
                source: format!("{}:{}", hit.agent, hit.session),
                provenance: ProvenanceOutput {
                    agent: hit.agent.clone(),
                    session: hit.session.clone(),
                    folder: hit.folder.clone(),
                    speaker: turn.speaker.clone(),
                    at: turn.at.clone(),
                    verified: hit.verified.clone(),
                },
            });
        }
    }
    related
}

/// Returns the beginning of a text with at most so many tokens, on one line.
fn preview(text: &str, tokens: u64) -> String {
    let mut preview = String::new();
    for word in text.split_whitespace() {
        let before = preview.len();
        if !preview.is_empty() {
            preview.push(' ');
        }
        preview.push_str(word);
        if tokens::estimate(&preview) > tokens {
            preview.truncate(before);
            preview.push('…');
            break;
        }
    }
    preview
}
