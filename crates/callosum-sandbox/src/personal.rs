//! [`personal`]: files in a home folder that a person's own programs obey, wherever they run.
//!
//! A grant as wide as `~/` is for the person's files. It does not cover files that shells, git,
//! editors, coding agents and the login itself start or trust: the next run without a sandbox would
//! obey what a confined run left there.

use std::path::{Path, PathBuf};

use callosum_host::Disk;

/// Files and folders below the home folder, whether they exist yet or not.
const OBEYED: [&str; 101] = [
    // Coding agents and their instructions.
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".aws/amazonq",
    ".claude",
    ".claude.json",
    ".codex",
    ".config/claude",
    ".config/crush",
    ".config/goose",
    ".config/opencode",
    ".continue",
    ".copilot",
    ".cursor",
    ".gemini",
    ".junie",
    ".kiro",
    ".mcp.json",
    ".opencode",
    ".openhands",
    ".qwen",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    // Shells.
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/fish",
    ".inputrc",
    ".kshrc",
    ".login",
    ".oh-my-zsh",
    ".profile",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zsh",
    ".zshenv",
    ".zshrc",
    // Git, and what gives rights.
    ".config/gh",
    ".config/git",
    ".git-credentials",
    ".gitconfig",
    ".gnupg",
    ".netrc",
    ".ssh",
    // Editors and what else starts with a project or a terminal.
    ".config/Code/User",
    ".config/Cursor/User",
    ".config/VSCodium/User",
    ".config/alacritty",
    ".config/direnv",
    ".config/ghostty",
    ".config/kitty",
    ".config/mise",
    ".config/nvim",
    ".config/tmux",
    ".config/wezterm",
    ".config/zed",
    ".direnvrc",
    ".emacs",
    ".emacs.d",
    ".envrc",
    ".gdbinit",
    ".idea",
    ".screenrc",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".vscode",
    ".vscode-server",
    ".wezterm.lua",
    "Library/Application Support/Code/User",
    "Library/Application Support/Cursor/User",
    // Build tools and package managers, by which programs of others are started.
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/pip",
    ".docker/cli-plugins",
    ".docker/config.json",
    ".kube/config",
    ".npmrc",
    ".nvm",
    ".pyenv/bin",
    ".pyenv/shims",
    ".pypirc",
    ".yarnrc",
    ".yarnrc.yml",
    // Programs, and what starts with a session.
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".local/bin",
    // Every Python program of this user runs `usercustomize.py` and `.pth` files in it.
    ".local/lib",
    ".local/share/applications",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    "bin",
];

/// Returns the files in a home folder that a person's programs obey; for a link, also its current
/// target.
pub fn personal(home: &Path, disk: &Disk) -> Vec<PathBuf> {
    let home = disk.canonicalize(home).unwrap_or_else(|_| home.to_owned());
    let mut all = Vec::new();
    for name in OBEYED {
        let path = home.join(name);
        if let Ok(real) = disk.canonicalize(&path)
            && real != path
        {
            all.push(real);
        }
        all.push(path);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// CAL-SEC-1: a settings file that is kept elsewhere and linked is protected there too.
    #[test]
    fn a_linked_settings_file_is_protected_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let home = disk.canonicalize(folder.path()).unwrap();
        disk.create_dir_all(&home.join("dotfiles")).unwrap();
        disk.replace(&home.join("dotfiles/zshrc"), b"", 0o644)
            .unwrap();
        symlink("dotfiles/zshrc", home.join(".zshrc")).unwrap();
        let all = personal(&home, &disk);
        for path in [
            "dotfiles/zshrc",
            ".zshrc",
            ".gitconfig",
            ".config/Code/User",
            ".config/ghostty",
            ".config/kitty",
            ".config/tmux",
            ".docker/config.json",
            ".kube/config",
            ".local/lib",
            ".nvm",
        ] {
            assert!(all.contains(&home.join(path)), "{path}");
        }
        assert!(!all.contains(&home.join("dotfiles")));
    }
}
