//! The tables of the recall database (Seed CAKE §3), and how a file of another version is treated.

/// Counts up with each change of the tables. A file of a newer version is not written.
pub(super) const VERSION: i64 = 2;

/// Every table. The seed's inline `INDEX` is not SQLite; the indexes follow the table. `error_key` finds candidates for
/// similar errors (see [`super::keys`]): a search is a few look-ups, however frequent the words are. FTS5 over words or
/// trigrams reads long lists for frequent ones, and needed 2 to 9 ms at 100,000 errors.
pub(super) const TABLES: &str = "
CREATE TABLE error_memory (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  error_signature TEXT NOT NULL,
  project TEXT NOT NULL,
  error_type TEXT NOT NULL,
  file_path TEXT,
  message TEXT NOT NULL,
  normalized TEXT NOT NULL,
  first_seen TEXT NOT NULL,
  last_seen TEXT NOT NULL,
  occurrence_count INTEGER NOT NULL DEFAULT 1,
  intervention_count INTEGER NOT NULL DEFAULT 0,
  success_count INTEGER NOT NULL DEFAULT 0,
  last_intervention TEXT,
  last_client TEXT NOT NULL,
  last_session TEXT NOT NULL,
  last_command TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  UNIQUE (error_signature, project));
CREATE INDEX idx_expires ON error_memory (expires_at);
CREATE INDEX idx_type ON error_memory (error_type, last_seen);
CREATE TABLE error_key (
  key INTEGER NOT NULL,
  error INTEGER NOT NULL,
  PRIMARY KEY (key, error)) WITHOUT ROWID;
CREATE TABLE error_total (
  error_signature TEXT NOT NULL,
  project TEXT NOT NULL,
  error_type TEXT NOT NULL,
  occurrence_count INTEGER NOT NULL,
  intervention_count INTEGER NOT NULL,
  success_count INTEGER NOT NULL,
  first_seen TEXT NOT NULL,
  last_seen TEXT NOT NULL,
  PRIMARY KEY (error_signature, project)) WITHOUT ROWID;
CREATE TABLE pattern_violations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  pattern_type TEXT NOT NULL,
  details TEXT,
  project TEXT NOT NULL,
  session TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  prevented INTEGER NOT NULL DEFAULT 1);
CREATE TABLE fix (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  error_signature TEXT NOT NULL,
  project TEXT NOT NULL,
  error_type TEXT NOT NULL,
  normalized TEXT NOT NULL,
  commands TEXT NOT NULL,
  files TEXT NOT NULL,
  note TEXT,
  client TEXT NOT NULL,
  learned_at TEXT NOT NULL,
  worked INTEGER NOT NULL DEFAULT 1,
  failed INTEGER NOT NULL DEFAULT 0,
  seconds INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 1,
  confirmed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (error_signature, project, commands, files));
CREATE INDEX idx_fix_type ON fix (project, error_type);
CREATE TABLE intervention (
  id TEXT PRIMARY KEY,
  error_signature TEXT NOT NULL,
  project TEXT NOT NULL,
  session TEXT NOT NULL,
  client TEXT NOT NULL,
  error_type TEXT NOT NULL,
  level INTEGER NOT NULL,
  text TEXT NOT NULL,
  fix INTEGER,
  at TEXT NOT NULL,
  success INTEGER,
  seconds INTEGER,
  severity TEXT NOT NULL DEFAULT 'high',
  score REAL,
  took_us INTEGER) WITHOUT ROWID;
CREATE INDEX idx_intervention ON intervention (error_signature, project);
CREATE TABLE episode (
  project TEXT NOT NULL,
  session TEXT NOT NULL,
  state TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (project, session)) WITHOUT ROWID;
";

/// Brings a file of version 1 to this one. Its index of words is replaced by an empty `error_key`.
pub(super) const FROM_VERSION_1: &str = "
ALTER TABLE intervention ADD COLUMN severity TEXT NOT NULL DEFAULT 'high';
ALTER TABLE intervention ADD COLUMN score REAL;
ALTER TABLE intervention ADD COLUMN took_us INTEGER;
DROP TABLE error_text;
CREATE TABLE error_key (
  key INTEGER NOT NULL,
  error INTEGER NOT NULL,
  PRIMARY KEY (key, error)) WITHOUT ROWID;
";
