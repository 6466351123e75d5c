//! [`Machine`]: a home folder with session files, and the index of them.

use std::path::PathBuf;

use callosum_host::Disk;
use callosum_memory::{
    Client, ClientFolder, Memory, MemoryScope, Origin, RankBy, SessionHit, SessionSearch,
    UpdateReport,
};
use callosum_search::Query;

/// A home folder with session files, and the index of them.
pub(crate) struct Machine {
    home: tempfile::TempDir,
    pub(crate) disk: Disk,
    pub(crate) memory: Memory,
    pub(crate) excluded: Vec<PathBuf>,
    pub(crate) forgotten: Vec<(Origin, String)>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let memory = Memory::open(&disk, &home.path().join("state/memory/turns.db")).unwrap();
        Self {
            home,
            disk,
            memory,
            excluded: Vec::new(),
            forgotten: Vec::new(),
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn append(&self, path: &str, text: &str) {
        let before = std::fs::read_to_string(self.path(path)).unwrap();
        self.write(path, &format!("{before}{text}"));
    }

    pub(crate) fn scope(&self) -> MemoryScope {
        let folders = [
            (Client::ClaudeCode, ".claude"),
            (Client::Codex, ".codex"),
            (Client::Gemini, ".gemini"),
            (Client::Qwen, ".qwen"),
            (Client::Opencode, ".local/share/opencode"),
        ];
        let folder = |(client, path): (Client, &str)| ClientFolder {
            client,
            path: self.path(path),
        };
        MemoryScope {
            folders: folders.map(folder).to_vec(),
            excluded: self.excluded.clone(),
            forgotten: self.forgotten.clone(),
        }
    }

    pub(crate) fn update(&mut self) -> UpdateReport {
        let scope = self.scope();
        self.memory
            .update(&self.disk, &scope, &mut |_| true)
            .unwrap()
    }

    pub(crate) fn search(&self, question: &str) -> Vec<SessionHit> {
        self.memory.search(&search(question)).unwrap()
    }

    /// Returns the ids of the sessions that are found.
    pub(crate) fn found(&self, question: &str) -> Vec<String> {
        let hits = self.search(question).into_iter();
        hits.map(|hit| hit.session).collect()
    }
}

pub(crate) fn search(question: &str) -> SessionSearch {
    SessionSearch {
        question: Query::read(question),
        folders: None,
        since: None,
        origin: None,
        by: RankBy::All,
        limit: 10,
    }
}

/// A user's line of Claude Code.
pub(crate) fn claude(uuid: &str, session: &str, text: &str) -> String {
    let line = serde_json::json!({
        "type": "user", "uuid": uuid, "sessionId": session, "cwd": "/src/shop", "timestamp": "2026-03-01T10:00:00Z",
        "message": { "role": "user", "content": text },
    });
    format!("{line}\n")
}
