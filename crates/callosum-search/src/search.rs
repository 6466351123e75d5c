//! [`Index::search`]: the passages that answer a question best, whole.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use callosum_host::Disk;
use rusqlite::{OptionalExtension as _, params};

use super::{
    boost::{Boost, is_declared, precedence},
    embedding::{ALIKE as ALIKE_IN_MEANING, cosine},
    external_hit::Proposal,
    index::{Index, IndexError},
    phrase::Phrase,
    proximity::Proximity,
    query::{Query, Unit},
    rank::{WordOccurrences, coverage, fuse, there, weigh},
    row::{ROWS, Row},
    score::{Ranked, score},
    tree::TREE,
    words::words,
};
use callosum_source::walk::{Scope, SourceFile, SourceTree};

/// Number of passages that each search method proposes.
const PROPOSED: usize = 300;

/// Number of passages that the search by meaning proposes: less similar ones only share some words
/// of a kind.
const PROPOSED_BY_MEANING: usize = 50;

/// Number of passages that are opened to look for the query as typed.
const OPENED: usize = 120;

/// Most words of a query that is meant as a whole: passages with all of them come first. In a
/// longer one, some are synonyms: `cargo xtask finding` answers 37 of 40 questions if that applies
/// to all of them, and 38 if it does not.
const MEANT_WHOLE: usize = 3;

/// The score of a passage that has all of the words.
const WHOLE: f64 = 1.0 - 1e-9;

/// Lowest similarity of a name to the query to be proposed for it: at least half of the words of
/// both are shared.
const ALIKE: f64 = 0.5;

/// Weights of a word in a name, a path and the lines of a passage (BM25's weights of fields).
const FIELDS: &str = "8.0, 2.0, 1.0";

/// The search methods that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All of them, fused.
    #[default]
    All,
    /// BM25 over words alone.
    Words,
    /// Names that are like what was asked for alone.
    Names,
    /// Passages of similar meaning alone; none if there is no model.
    Meaning,
    /// The [proposals](Search::proposals) of another program alone.
    Proposals,
}

/// A search request.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The query.
    pub ask: Query,
    /// The search methods that count.
    pub by: By,
    /// Only what has this name, in any case.
    pub section: Option<String>,
    /// The searched part of the tree; documents are searched only if this is the whole.
    pub scope: Scope,
    /// Most hits.
    pub limit: usize,
    /// Only what has at least this score.
    pub threshold: f64,
    /// The share of the query's words that a hit must have in one place; `None` if none is
    /// required.
    pub together: Option<Proximity>,
    /// Lines of the tree that another program proposes as answers, the best first: one more list to
    /// fuse.
    pub proposals: Vec<Proposal>,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The collection that it is of: [`TREE`], or one of documents.
    pub collection: String,
    /// The file's path from the root, or the document's place.
    pub place: String,
    /// Its name; empty if it has none.
    pub name: String,
    /// Its container.
    pub container: Option<String>,
    /// Its kind, as [`PassageKind::as_str`](super::PassageKind::as_str) returns it.
    pub kind: String,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The share of the query that it covers, from 0 to 1, reduced by up to a quarter the worse it ranks.
    pub score: f64,
    /// Its lines, all of them.
    pub text: String,
}

impl SearchHit {
    fn new(row: Row, score: f64, text: String) -> Self {
        Self {
            collection: row.collection,
            place: row.place,
            name: row.name,
            container: row.container,
            kind: row.kind,
            first: row.first,
            last: row.last,
            score,
            text,
        }
    }
}

impl Index {
    /// Searches for passages, the best first; equal ones in the order of their places.
    ///
    /// Four lists are fused by their ranks: BM25 over words, names that are similar to the query,
    /// texts that contain it as typed, and the share of it that a passage has. With a model,
    /// passages of similar meaning are added, and proposals, if there are any. Each hit contains
    /// the quoted phrases, word for word. Of a document only the best passage is listed. The same
    /// index gives the same answer. Texts are read from the tree as it is now, so the index should
    /// be [in line](Self::update_tree) with it.
    pub fn search(
        &self,
        disk: &Disk,
        tree: &SourceTree,
        search: &Search,
    ) -> Result<Vec<SearchHit>, IndexError> {
        let mut texts = Texts {
            index: self,
            disk,
            tree,
            read: HashMap::new(),
        };
        let allowed = |row: &Row| search.allows(row);
        let ranked: Vec<(Row, f64)> = if search.ask.units.is_empty() {
            let rows = match &search.section {
                Some(name) => self.named(name)?,
                None => Vec::new(),
            };
            let rows = rows.into_iter().filter(allowed);
            rows.map(|row| (row, 1.0)).collect()
        } else {
            self.rank(search, &mut texts)?
        };
        let mut found = Vec::new();
        let mut documents = HashSet::new();
        for (row, score) in ranked {
            if found.len() >= search.limit {
                break;
            }
            let is_again = row.collection != TREE && !documents.insert(row.source);
            if is_again || score < search.threshold {
                continue;
            }
            let Some(text) = texts.of(&row)? else {
                // It went away since the index was brought in line.
                continue;
            };
            found.push(SearchHit::new(row, score, text));
        }
        Ok(found)
    }

    fn rank(&self, search: &Search, texts: &mut Texts<'_>) -> Result<Vec<(Row, f64)>, IndexError> {
        let ask = &search.ask;
        let standing = self.standing(ask)?;
        let any = ask
            .words()
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>();
        let any = any.join(" OR ");
        let rows = self.proposed(search, &any, texts)?;
        let names = self.proposed(search, &format!("name : ({any})"), texts)?;

        let by_words: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let mut by_name: Vec<(f64, i64)> = names
            .iter()
            .map(|row| (alike(ask, &row.name, row.container.as_deref()), row.id))
            .filter(|(share, _)| *share >= ALIKE)
            .collect();
        by_name.sort_by(|a, b| b.0.total_cmp(&a.0));
        let by_name: Vec<i64> = by_name.into_iter().map(|(_, id)| id).collect();

        let mut all: HashMap<i64, Row> = HashMap::new();
        for row in rows.into_iter().chain(names) {
            all.entry(row.id).or_insert(row);
        }
        let mut by_meaning = Vec::new();
        if matches!(search.by, By::All | By::Meaning) {
            for row in self.alike(search, texts)? {
                by_meaning.push(row.id);
                all.entry(row.id).or_insert(row);
            }
        }
        let mut by_others = Vec::new();
        if matches!(search.by, By::All | By::Proposals) {
            for row in self.passages_of(&search.proposals)? {
                if search.allows(&row) && texts.have(&row, &ask.phrases)? {
                    by_others.push(row.id);
                    all.entry(row.id).or_insert(row);
                }
            }
        }
        let lists_without_words = [by_meaning.clone(), by_others.clone()];
        let counts = |by| f64::from(u8::from(search.by == By::All || search.by == by));
        let mut lists = vec![
            (counts(By::Words), by_words),
            (counts(By::Names), by_name),
            (counts(By::Meaning), by_meaning),
            (counts(By::Proposals), by_others),
        ];
        lists.retain(|(weight, _)| *weight > 0.0);
        let mut literally = Vec::new();
        let worth = Boost::asked_for(ask);
        let worth = |id: i64| all.get(&id).map_or(1.0, |row| worth.of(row));
        for id in fuse(&lists, worth).into_iter().take(OPENED) {
            let Some(row) = all.get(&id) else { continue };
            let text = texts.of(row)?.unwrap_or_default();
            if text.contains(&ask.typed) {
                literally.push(id);
            }
        }
        if search.by == By::All {
            lists.push((1.0, literally));
        }
        let mut by_share: Vec<(f64, i64)> = fuse(&lists, worth)
            .into_iter()
            .map(|id| (coverage(ask, &standing, id), id))
            .collect();
        let shares: HashMap<i64, f64> = by_share.iter().map(|(share, id)| (*id, *share)).collect();
        by_share.sort_by(|a, b| b.0.total_cmp(&a.0));
        if search.by == By::All {
            lists.push((1.0, by_share.into_iter().map(|(_, id)| id).collect()));
        }
        let fused = weigh(&lists, worth);
        let together = search.together.map(|demanded| self.together(ask, demanded));
        let together = together.transpose()?;
        let has_words = |id: &i64| {
            let of = search.together.zip(together.as_ref());
            of.is_none_or(|(demanded, near)| {
                there(ask, &standing, *id) >= demanded.share
                    && near.as_ref().is_none_or(|near| near.contains(id))
            })
        };
        // A model and `ck` may propose passages that have none of the words.
        let proposed: HashSet<i64> = lists_without_words.into_iter().flatten().collect();
        let name = ask.name();
        let has_name = |id: &i64| {
            let has = |name: &Unit| standing.has_all(name, *id);
            proposed.contains(id) || name.is_none_or(has)
        };
        let mut ranked: Vec<Ranked> = Vec::new();
        for (id, weight) in fused {
            if !has_words(&id) || !has_name(&id) {
                continue;
            }
            if let (Some(row), Some(share)) = (all.remove(&id), shares.get(&id)) {
                ranked.push(Ranked {
                    is_declared: search.by == By::All && is_declared(&ask.typed, &row),
                    row,
                    share: *share,
                    weight,
                });
            }
        }
        if search.by == By::All {
            let is_whole = ask.units.len() <= MEANT_WHOLE;
            ranked.sort_by_key(|one| {
                let is_part = is_whole && one.share < WHOLE;
                (
                    !one.is_declared,
                    one.is_declared.then(|| precedence(ask, &one.row)),
                    is_part,
                )
            });
        }
        if search.together.is_some() {
            // These scores are compared between questions, so a passage's rank in one answer must not count.
            return Ok(ranked.into_iter().map(|one| (one.row, one.share)).collect());
        }
        Ok(score(ranked))
    }

    /// Returns the passages that BM25 ranks first for an FTS5 query, among those that have each
    /// phrase.
    ///
    /// The index keeps the order of a phrase's words, so few texts are opened that do not have the
    /// phrase.
    fn proposed(
        &self,
        search: &Search,
        question: &str,
        texts: &mut Texts<'_>,
    ) -> Result<Vec<Row>, IndexError> {
        let sql = format!(
            "{ROWS} JOIN (SELECT rowid AS row, bm25(words, {FIELDS}) AS points FROM words \
             WHERE words MATCH ?1) ON row = passage.id \
             ORDER BY points, collection, place, first"
        );
        let phrases = &search.ask.phrases;
        let mut question = format!("({question})");
        for words in phrases.iter().map(Phrase::words) {
            if !words.is_empty() {
                let _ = write!(question, " AND body : {}", quoted(&words));
            }
        }
        let rows: Vec<Row> = self.tell(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([question])?;
            let mut allowed = Vec::new();
            while let Some(row) = rows.next()? {
                let row = Row::read(row)?;
                if search.allows(&row) {
                    allowed.push(row);
                }
                if phrases.is_empty() && allowed.len() == PROPOSED {
                    break;
                }
            }
            Ok(allowed)
        })?;
        let mut proposed = Vec::new();
        for row in rows {
            if texts.have(&row, phrases)? {
                proposed.push(row);
            }
            if proposed.len() == PROPOSED {
                break;
            }
        }
        Ok(proposed)
    }

    /// Returns the passages whose meaning is similar to the query, the most similar first; none
    /// without a model.
    fn alike(&self, search: &Search, texts: &mut Texts<'_>) -> Result<Vec<Row>, IndexError> {
        let Some(model) = &self.model else {
            return Ok(Vec::new());
        };
        let asked = model.direction(search.ask.simple_words(), &mut HashMap::new());
        let mut alike: Vec<(f32, i64)> = self.tell(|connection| {
            let mut statement = connection.prepare("SELECT passage, numbers FROM direction")?;
            let mut rows = statement.query([])?;
            let mut alike = Vec::new();
            while let Some(row) = rows.next()? {
                let how = cosine(&asked, row.get_ref(1)?.as_blob()?);
                if how >= ALIKE_IN_MEANING {
                    alike.push((how, row.get(0)?));
                }
            }
            Ok(alike)
        })?;
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut proposed = Vec::new();
        let sql = format!("{ROWS} WHERE passage.id = ?1");
        for (_, id) in alike {
            let row = self.tell(|connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                statement.query_row([id], Row::read)
            })?;
            if search.allows(&row) && texts.have(&row, &search.ask.phrases)? {
                proposed.push(row);
            }
            if proposed.len() == PROPOSED_BY_MEANING {
                break;
            }
        }
        Ok(proposed)
    }

    fn named(&self, name: &str) -> Result<Vec<Row>, IndexError> {
        let sql = format!(
            "{ROWS} WHERE name = ?1 COLLATE NOCASE ORDER BY name <> ?1, collection, place, first"
        );
        self.tell(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([name], Row::read)?;
            rows.collect()
        })
    }

    /// Returns the passages that have the query's words in one place as demanded; `None` if the
    /// query is too long to check.
    fn together(
        &self,
        ask: &Query,
        demanded: Proximity,
    ) -> Result<Option<HashSet<i64>>, IndexError> {
        let Some(question) = demanded.question(ask) else {
            return Ok(None);
        };
        self.tell(|connection| {
            let mut statement =
                connection.prepare("SELECT rowid FROM words WHERE words MATCH ?1")?;
            let rows = statement.query_map([question], |row| row.get::<_, i64>(0))?;
            rows.collect::<rusqlite::Result<_>>().map(Some)
        })
    }

    fn standing(&self, ask: &Query) -> Result<WordOccurrences, IndexError> {
        self.tell(|connection| {
            let passages = connection.query_row("SELECT count(*) FROM passage", [], |row| {
                row.get::<_, u32>(0)
            })?;
            let mut statement =
                connection.prepare("SELECT rowid FROM words WHERE words MATCH ?1")?;
            let mut of = HashMap::new();
            for word in ask.words() {
                let rows = statement.query_map([quoted(word)], |row| row.get::<_, i64>(0))?;
                let rows: HashSet<i64> = rows.collect::<rusqlite::Result<_>>()?;
                of.insert(word.to_owned(), rows);
            }
            Ok(WordOccurrences {
                passages: passages.into(),
                of,
            })
        })
    }
}

/// A word as FTS5 takes it: words are letters, digits and underscores, so nothing in them ends it.
fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// Returns the similarity of a name to the query: the words that both have, twice, divided by all
/// words of both (Dice). The container's words may match a part of the query and need not.
fn alike(ask: &Query, name: &str, container: Option<&str>) -> f64 {
    let asked: HashSet<&str> = ask.words().into_iter().collect();
    let of_name: HashSet<String> = words(name).collect();
    let within: HashSet<String> = words(container.unwrap_or_default()).collect();
    let shared = of_name.iter().filter(|word| asked.contains(word.as_str()));
    let shared = shared.count();
    if shared == 0 {
        return 0.0;
    }
    let asked_of_container = asked
        .iter()
        .filter(|word| !of_name.contains(**word) && within.contains(**word));
    let asked = asked.len() - asked_of_container.count();
    2.0 * shared as f64 / (of_name.len() + asked) as f64
}

impl Search {
    fn allows(&self, row: &Row) -> bool {
        let is_named = self
            .section
            .as_ref()
            .is_none_or(|name| row.name.to_lowercase() == name.to_lowercase());
        let is_within = if row.collection == TREE {
            self.scope.holds(&row.place)
        } else {
            self.scope.paths.is_empty()
        };
        is_named && is_within
    }
}

/// The texts that passages are parts of, each read once.
struct Texts<'a> {
    index: &'a Index,
    disk: &'a Disk,
    tree: &'a SourceTree,
    read: HashMap<i64, Option<String>>,
}

impl Texts<'_> {
    /// Whether a passage contains each phrase.
    fn have(&mut self, row: &Row, phrases: &[Phrase]) -> Result<bool, IndexError> {
        if phrases.is_empty() {
            return Ok(true);
        }
        let text = self.of(row)?.unwrap_or_default();
        Ok(phrases.iter().all(|phrase| phrase.is_in(&text)))
    }

    /// The lines of a passage; `None` where its text is gone.
    fn of(&mut self, row: &Row) -> Result<Option<String>, IndexError> {
        self.index.check_cancel()?;
        if !self.read.contains_key(&row.source) {
            let text = if row.collection == TREE {
                let file = SourceFile {
                    path: row.place.clone(),
                    bytes: 0,
                    language: None,
                };
                self.tree.text_in_any_encoding(self.disk, &file).ok()
            } else {
                self.index.tell(|connection| {
                    let sql = "SELECT text FROM source WHERE id = ?1";
                    let text = connection.query_row(sql, params![row.source], |row| row.get(0));
                    Ok(text.optional()?.flatten())
                })?
            };
            self.read.insert(row.source, text);
        }
        let text = self.read.get(&row.source).and_then(Option::as_deref);
        Ok(text.map(|text| {
            let count = (row.last + 1).saturating_sub(row.first) as usize;
            let lines = text.lines().skip(row.first as usize - 1).take(count);
            lines.flat_map(|line| [line, "\n"]).collect()
        }))
    }
}
