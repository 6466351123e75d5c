//! [`pieces`]: the files of the system zone, as the seed names them (Seed LOA §9.1, appendix A).

/// Marks the beginning of our part in a file of others.
pub(super) const BEGIN: &str = "<!-- callosum:begin -->";
/// Marks the end of it.
pub(super) const END: &str = "<!-- callosum:end -->";

/// A file of the system zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Path from the root.
    pub(super) path: &'static str,
    /// Content of a new file; if it is empty, the block alone.
    pub(super) text: &'static str,
    /// Addition to a file that existed before us.
    pub(super) block: Option<&'static str>,
    /// Its permissions.
    pub(super) mode: u32,
}

impl Piece {
    /// Returns the whole content of a new file.
    pub(super) fn whole(&self) -> String {
        match self.block {
            Some(block) if self.text.is_empty() => marked(block),
            _ => self.text.to_owned(),
        }
    }
}

/// Returns a block between its marks.
pub(super) fn marked(block: &str) -> String {
    format!("{BEGIN}\n{block}{END}\n")
}

const fn text(path: &'static str, text: &'static str) -> Piece {
    Piece {
        path,
        text,
        block: None,
        mode: 0o644,
    }
}

const fn script(path: &'static str, text: &'static str) -> Piece {
    Piece {
        path,
        text,
        block: None,
        mode: 0o755,
    }
}

const fn shared(path: &'static str, text: &'static str, block: &'static str) -> Piece {
    Piece {
        path,
        text,
        block: Some(block),
        mode: 0o644,
    }
}

/// Every file, in the order of reports.
const PIECES: [Piece; 17] = [
    text(
        ".claude/protocols/session-continuity.md",
        include_str!("zone/protocols/session-continuity.md"),
    ),
    text(
        ".claude/protocols/synthesis-checkpoint.md",
        include_str!("zone/protocols/synthesis-checkpoint.md"),
    ),
    text(
        ".claude/protocols/jit-retrieval.md",
        include_str!("zone/protocols/jit-retrieval.md"),
    ),
    text(
        ".claude/protocols/attention-budget.md",
        include_str!("zone/protocols/attention-budget.md"),
    ),
    text(
        ".claude/protocols/grounding-enforcement.md",
        include_str!("zone/protocols/grounding-enforcement.md"),
    ),
    shared(
        ".claude/protocols/structured-memory.md",
        include_str!("zone/protocols/structured-memory.md"),
        "See session-continuity.md for the section Session Continuity of `loa-grimoire/NOTES.md`.\n",
    ),
    shared(
        ".claude/protocols/self-audit-checkpoint.md",
        include_str!("zone/protocols/self-audit-checkpoint.md"),
        "See grounding-enforcement.md: `.claude/scripts/grounding-check.sh` computes the ratio.\n",
    ),
    shared(
        ".claude/protocols/trajectory-evaluation.md",
        include_str!("zone/protocols/trajectory-evaluation.md"),
        "Further phases: `delta_sync`, `grounding_check`, `session_handoff`.\n",
    ),
    script(
        ".claude/scripts/grounding-check.sh",
        include_str!("zone/scripts/grounding-check.sh"),
    ),
    script(
        ".claude/scripts/synthesis-checkpoint.sh",
        include_str!("zone/scripts/synthesis-checkpoint.sh"),
    ),
    script(
        ".claude/scripts/self-heal-state.sh",
        include_str!("zone/scripts/self-heal-state.sh"),
    ),
    script(
        ".claude/hooks/pre-clear.sh",
        include_str!("zone/hooks/pre-clear.sh"),
    ),
    shared(
        ".claude/commands/ride.md",
        include_str!("zone/commands/ride.md"),
        "Begin with `callosum session recover` and `callosum bead ready`; keep decisions with `callosum session \
         decide`; end with `.claude/scripts/synthesis-checkpoint.sh` and `callosum session handoff`.\n",
    ),
    text(
        ".claude/commands/callosum-undo.md",
        include_str!("zone/commands/callosum-undo.md"),
    ),
    text(
        ".claude/skills/session-continuity/SKILL.md",
        include_str!("zone/skills/session-continuity/SKILL.md"),
    ),
    text(
        ".claude/skills/session-continuity/index.yaml",
        include_str!("zone/skills/session-continuity/index.yaml"),
    ),
    shared("CLAUDE.md", "", include_str!("zone/CLAUDE.block.md")),
];

/// Clients with files of their own here, in addition to Claude Code.
pub(super) const CLIENTS: [&str; 3] = ["codex", "gemini", "qwen"];

/// Files that other clients read in a form of their own, each with the clients that do. All but
/// Claude Code find skills in one folder; commands are Gemini CLI's and Qwen Code's, for Codex a
/// skill is one.
const FORMS: [(&[&str], Piece); 7] = [
    (
        &CLIENTS,
        text(
            ".agents/skills/session-continuity/SKILL.md",
            include_str!("zone/skills/session-continuity/SKILL.md"),
        ),
    ),
    (
        &["codex"],
        text(
            ".agents/skills/ride/SKILL.md",
            include_str!("zone/forms/ride.SKILL.md"),
        ),
    ),
    (
        &["gemini"],
        text(
            ".gemini/commands/ride.toml",
            include_str!("zone/forms/ride.toml"),
        ),
    ),
    (
        &["qwen"],
        text(
            ".qwen/commands/ride.md",
            include_str!("zone/forms/ride.qwen.md"),
        ),
    ),
    (
        &["codex"],
        text(
            ".agents/skills/callosum-undo/SKILL.md",
            include_str!("zone/forms/callosum-undo.SKILL.md"),
        ),
    ),
    (
        &["gemini"],
        text(
            ".gemini/commands/callosum-undo.toml",
            include_str!("zone/forms/callosum-undo.toml"),
        ),
    ),
    (
        &["qwen"],
        text(
            ".qwen/commands/callosum-undo.md",
            include_str!("zone/forms/callosum-undo.qwen.md"),
        ),
    ),
];

/// Returns every file that is written for these clients, with their own forms.
pub(super) fn pieces(clients: &[&str]) -> impl Iterator<Item = &'static Piece> {
    let wanted = |of: &[&str]| of.iter().any(|client| clients.contains(client));
    let forms = FORMS.iter().filter(move |(of, _)| wanted(of));
    PIECES.iter().chain(forms.map(|(_, piece)| piece))
}

/// Content of a new `.loa.config.yaml` (Seed LOA §5.4).
pub(super) const CONFIG: &str = include_str!("zone/loa.config.yaml");
