//! The index of similar errors: what it finds beside comparing all, and that no removed error leaves keys.

use std::collections::BTreeSet;

use callosum_diagnose::{ErrorEvent, Severity, StreamSource};
use callosum_host::Disk;
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{
    keys::Keys,
    schema::{FROM_VERSION_1, TABLES},
    *,
};

fn event(error_type: &str, file: &str, message: &str) -> ErrorEvent {
    ErrorEvent {
        error_type: error_type.to_owned(),
        file_path: Some(file.to_owned()),
        line_number: None,
        message: message.to_owned(),
        code: None,
        module: None,
        test: None,
        severity: Severity::High,
        stream_source: StreamSource::Merged,
        timestamp: String::new(),
        raw_output: String::new(),
    }
}

fn place(project: &str) -> Place {
    Place {
        project: project.to_owned(),
        ..Place::default()
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn open(folder: &TempDir) -> RecallDb {
    RecallDb::open(&Disk::real(), &folder.path().join("recall.db"), 24, at(0)).unwrap()
}

/// A generator of numbers (SplitMix64): each run has the same errors.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// Returns a word of some thousand; a few are frequent.
    fn word(&mut self) -> String {
        let bound = 1 + self.below(3_000);
        let bound = 1 + self.below(bound);
        let mut rank = self.below(bound);
        let mut word = String::new();
        while rank > 0 || word.is_empty() {
            word.push_str(["ba", "ce", "di", "fo", "gul", "ra", "tes", "ni", "mor"][rank % 9]);
            rank /= 9;
        }
        word
    }
}

/// An error as its parts, so that a part can change in each place where it is printed.
#[derive(Clone)]
struct Parts {
    error_type: &'static str,
    path: String,
    name: String,
    /// `@name` and `@path` are the two above.
    words: Vec<String>,
}

impl Parts {
    fn new(numbers: &mut Numbers) -> Self {
        let mut words: Vec<String> = (0..2 + numbers.below(18)).map(|_| numbers.word()).collect();
        for part in ["'@name'", "@name:", "\"@path\",", "12", "@path:7:"] {
            if numbers.below(2) == 0 {
                let place = numbers.below(words.len());
                words.insert(place, part.to_owned());
            }
        }
        Self {
            error_type: ["KeyError", "TypeError", "CompileError", "ImportError"][numbers.below(4)],
            path: format!("src/{}/{}.py", numbers.word(), numbers.word()),
            name: format!("{}_{}", numbers.word(), numbers.word()),
            words,
        }
    }

    fn event(&self) -> ErrorEvent {
        let message = self.words.join(" ");
        let message = message
            .replace("@name", &self.name)
            .replace("@path", &self.path);
        event(self.error_type, &self.path, &message)
    }

    /// Returns a near duplicate. Kinds 0 to 2 change one word.
    fn changed(&self, kind: usize, numbers: &mut Numbers) -> Self {
        let mut changed = self.clone();
        let place = numbers.below(changed.words.len());
        match kind {
            0 => changed.words[place] = numbers.word(),
            1 => changed.words.insert(place, numbers.word()),
            2 => drop(changed.words.remove(place)),
            3 => changed.name = format!("{}_{}", numbers.word(), numbers.word()),
            4 => changed.path = format!("lib/{}.py", numbers.word()),
            5 => changed
                .words
                .push(format!("at {} {}", numbers.word(), numbers.word())),
            6 => changed
                .words
                .insert(0, format!("{} {}:", numbers.word(), numbers.word())),
            _ => {
                for _ in 0..2 {
                    let place = numbers.below(changed.words.len());
                    changed.words[place].push('s');
                }
            }
        }
        changed
    }
}

/// CAKE-RCL-1: of all pairs that are similar, the index finds 95 %, and each pair that differs in one word.
#[test]
fn the_index_finds_what_comparing_all_finds() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    let mut numbers = Numbers(26);
    let errors: Vec<Parts> = (0..1_000).map(|_| Parts::new(&mut numbers)).collect();
    let mut stored: Vec<Signature> = Vec::new();
    for (second, error) in (0..).zip(&errors) {
        let recorded = database.record(&error.event(), &place("/a"), at(second));
        recorded.unwrap();
        stored.push(Signature::of_event(&error.event()));
    }
    // Pairs that comparing all finds, and those that the index finds, for each kind of change.
    let mut totals = [(0, 0); 8];
    for (turn, error) in errors.iter().enumerate().step_by(2) {
        let kind = turn / 2 % totals.len();
        let wanted = Signature::of_event(&error.changed(kind, &mut numbers).event()).normalized;
        let found: BTreeSet<String> = database
            .similar(&wanted, THRESHOLD, 1_000)
            .unwrap()
            .into_iter()
            .map(|similar| similar.record.error_signature)
            .collect();
        let pattern = distance::Pattern::new(&wanted);
        let all: BTreeSet<&str> = stored
            .iter()
            .filter(|text| pattern.similarity(&text.normalized, THRESHOLD).is_some())
            .map(|text| &*text.id)
            .collect();
        assert!(found.iter().all(|id| all.contains(&**id)));
        totals[kind].0 += all.len();
        totals[kind].1 += found.len();
        if kind < 3 && all.contains(&*stored[turn].id) {
            let text = &stored[turn].normalized;
            assert!(found.contains(&stored[turn].id), "{text} | {wanted}");
        }
    }
    for (kind, (all, found)) in totals.iter().enumerate() {
        assert!(*all > 20, "kind {kind} has too few pairs: {totals:?}");
        assert!(found * 100 >= all * 95, "kind {kind}: {totals:?}");
    }
}

/// CAKE-RCL-1: where all words are frequent, each pair that differs in one word is still found.
#[test]
fn frequent_words_hide_no_pair() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    let mut numbers = Numbers(7);
    let words = "cannot find module value missing field expected type".split(' ');
    let words: Vec<&str> = words.collect();
    let messages: BTreeSet<Vec<&str>> = (0..1_500)
        .map(|_| (0..6).map(|_| words[numbers.below(words.len())]).collect())
        .collect();
    for message in &messages {
        let event = event("KeyError", "app.py", &message.join(" "));
        database.record(&event, &place("/a"), at(0)).unwrap();
    }
    for message in messages.iter().step_by(11) {
        let mut changed = message.clone();
        let place = numbers.below(changed.len());
        changed[place] = "values";
        let normalized = |message: &[&str]| {
            Signature::of_event(&event("KeyError", "app.py", &message.join(" "))).normalized
        };
        let (text, wanted) = (normalized(message), normalized(&changed));
        if similarity(&text, &wanted) >= THRESHOLD {
            let found = database.similar(&wanted, THRESHOLD, 1_000).unwrap();
            let joined = message.join(" ");
            assert!(
                found.iter().any(|one| one.record.message == joined),
                "{text} | {wanted}"
            );
        }
    }
}

/// Checks that each error has its keys, and that there are no others.
fn check_keys(database: &RecallDb) {
    let (errors, found) = database
        .read(|connection| {
            let errors: Vec<(i64, String)> = connection
                .prepare("SELECT id, normalized FROM error_memory")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let found: BTreeSet<(i64, i32)> = connection
                .prepare("SELECT error, key FROM error_key")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            Ok((errors, found))
        })
        .unwrap();
    let expected: BTreeSet<(i64, i32)> = errors
        .iter()
        .flat_map(|(id, text)| {
            let keys = Keys::stored(text).into_sorted();
            keys.into_iter().map(|key| (*id, key))
        })
        .collect();
    assert!(found == expected, "{} {}", found.len(), expected.len());
}

/// CAKE-RCL-1: an error that is forgotten or expires leaves no keys.
#[test]
fn a_removed_error_leaves_no_keys() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    let record = |name: &str, project: &str, second: i64| {
        let event = event(
            "KeyError",
            "app.py",
            &format!("no column {name} in the table"),
        );
        database
            .record(&event, &place(project), at(second))
            .unwrap()
            .signature
    };
    let left = |count: usize| {
        check_keys(&database);
        assert_eq!(database.list(None, None, 1_000).unwrap().len(), count);
    };
    for name in ["one", "two", "three"] {
        for project in ["/a", "/b"] {
            record(name, project, 0);
        }
    }
    left(6);
    assert!(database.forget(&record("one", "/a", 1), "/a").unwrap());
    left(5);
    assert_eq!(database.forget_project("/b").unwrap(), 3);
    left(2);
    assert_eq!(database.expire(at(25 * 3600)).unwrap(), 2);
    left(0);
}

/// CAKE-RCL-1: past 100,000 errors the oldest are removed with their keys, and one that comes back is not among them.
#[test]
fn surplus_errors_are_removed_with_their_keys() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    let record = |name: &str, second: i64| {
        let event = event(
            "KeyError",
            "app.py",
            &format!("no column {name} in the table"),
        );
        database
            .record(&event, &place("/a"), at(second))
            .unwrap()
            .occurrences
    };
    // Ids far apart are those of a database that had many errors between them.
    let skip = |ids: i64| {
        let sql = "UPDATE sqlite_sequence SET seq = seq + ?1";
        database
            .write(|transaction| transaction.execute(sql, [ids]))
            .unwrap();
    };
    record("lasting", 0);
    record("old", 0);
    for round in 1..5 {
        skip(60_000);
        record(&format!("new{}", "x".repeat(round as usize)), round);
        assert_eq!(record("lasting", round), round as u32 + 1);
        check_keys(&database);
    }
    let mut left: Vec<String> = database
        .list(None, None, 9)
        .unwrap()
        .into_iter()
        .map(|error| error.message)
        .collect();
    left.sort();
    let named =
        ["lasting", "newxxx", "newxxxx"].map(|name| format!("no column {name} in the table"));
    assert_eq!(left, named);
}

/// CAKE-RCL-1: errors that a full disk costs leave no keys.
#[test]
fn a_full_disk_leaves_no_keys() {
    let folder = TempDir::new().unwrap();
    let database = open(&folder);
    database
        .read(|connection| {
            connection.query_row("PRAGMA max_page_count=200", [], |row| row.get::<_, i64>(0))
        })
        .unwrap();
    let mut numbers = Numbers(3);
    for second in 0..1_200 {
        let event = Parts::new(&mut numbers).event();
        database.record(&event, &place("/a"), at(second)).unwrap();
    }
    assert!(database.list(None, None, 2_000).unwrap().len() < 1_200);
    check_keys(&database);
}

/// Writes a file as version 1 wrote it, with this many errors.
fn write_version_1(folder: &TempDir, count: usize) {
    let connection = Connection::open(folder.path().join("recall.db")).unwrap();
    connection
        .query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))
        .unwrap();
    let key_table = FROM_VERSION_1.split_once("error_text;\n").unwrap().1;
    let text_table = "CREATE VIRTUAL TABLE error_text USING fts5(normalized, content='', contentless_delete=1, \
                      detail=none, tokenize='unicode61');\n";
    let tables = TABLES.replace(key_table, text_table);
    assert_ne!(tables, TABLES);
    connection.execute_batch(&tables).unwrap();
    connection
        .execute_batch(
            "ALTER TABLE intervention DROP COLUMN severity; ALTER TABLE intervention DROP COLUMN score; \
             ALTER TABLE intervention DROP COLUMN took_us; PRAGMA user_version=1; BEGIN",
        )
        .unwrap();
    connection
        .execute_batch(
            "INSERT INTO intervention (id, error_signature, project, session, client, error_type, level, text, at) \
             VALUES ('m', 's', '/a', 's', 'c', 'KeyError', 2, 't', '2026-01-02T03:04:05Z')",
        )
        .unwrap();
    for number in 0..count {
        let letters: String = format!("{number:05}")
            .bytes()
            .map(|digit| char::from(b'a' + digit - b'0'))
            .collect();
        let event = event(
            "KeyError",
            "app.py",
            &format!("no column {letters} in the table"),
        );
        let signature = Signature::of_event(&event);
        connection
            .execute(
                "INSERT INTO error_memory (error_signature, project, error_type, message, normalized, first_seen, \
                 last_seen, last_client, last_session, last_command, expires_at) \
                 VALUES (?1, '/a', 'KeyError', ?2, ?3, ?4, ?4, 'claude', 's', 'make', ?5)",
                (&signature.id, &event.message, &signature.normalized, at(0).to_string(), at(86_400).to_string()),
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO error_text (rowid, normalized) VALUES (last_insert_rowid(), ?1)",
                [&signature.normalized],
            )
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
}

/// CAKE-RCL-1: a file of version 1 keeps its errors; the latest are indexed when it is opened, by one process of several.
#[test]
fn a_file_of_version_1_is_upgraded() {
    let folder = TempDir::new().unwrap();
    write_version_1(&folder, 2_300);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| open(&folder));
        }
    });
    let database = open(&folder);
    assert_eq!(*database.condition(), Condition::Sound);
    assert_eq!(database.list(None, None, 9_000).unwrap().len(), 2_300);
    let indexed = database.read(|connection| {
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        assert_eq!(version, 2);
        connection.query_row("SELECT count(DISTINCT error) FROM error_key", [], |row| {
            row.get::<_, i64>(0)
        })
    });
    assert_eq!(indexed.unwrap(), 2_000);
    let mut sent = Vec::new();
    database
        .each_intervention(|facts| sent.push(facts))
        .unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].level, sent[0].score), (2, None));
    let found = |letters: &str| {
        let text = format!("KeyError app.py no column {letters} in the table");
        let similar = database.similar(&text, 0.999, 5).unwrap();
        assert!(similar.len() < 2);
        similar
            .into_iter()
            .next()
            .map(|one| one.record.error_signature)
    };
    let signature = found("accjj").unwrap();
    // An error without keys can be forgotten, too.
    assert_eq!(found("aaaah"), None);
    let old = event("KeyError", "app.py", "no column aaaah in the table");
    let old = database.record(&old, &place("/a"), at(5)).unwrap();
    assert_eq!(old.occurrences, 2);
    for signature in [signature, old.signature] {
        assert!(database.forget(&signature, "/a").unwrap());
    }
    assert_eq!(found("accjj"), None);
}
