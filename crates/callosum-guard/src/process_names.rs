//! Names under which the agent itself may run, or much else on the machine: who ends all processes of such a name ends
//! what belongs to others.

/// Runtimes, shells, agents, databases and browsers, in lower case.
const OF_MANY: [&str; 48] = [
    "node",
    "nodejs",
    "npm",
    "npx",
    "python",
    "java",
    "ruby",
    "perl",
    "php",
    "dotnet",
    "bun",
    "deno",
    "electron",
    "bash",
    "sh",
    "zsh",
    "fish",
    "pwsh",
    "powershell",
    "ssh",
    "tmux",
    "screen",
    "code",
    "cursor",
    "claude",
    "codex",
    "gemini",
    "qwen",
    "postgres",
    "postmaster",
    "mysqld",
    "mariadbd",
    "mongod",
    "redis-server",
    "docker",
    "dockerd",
    "containerd",
    "chrome",
    "google-chrome",
    "google chrome",
    "chromium",
    "chromium-browser",
    "firefox",
    "safari",
    "msedge",
    "brave",
    "explorer",
    "cmd",
];

/// Whether a name or a pattern takes in all processes of such a name: `node`, `^node$`, `[n]ode`, `vite|node`.
pub(crate) fn is_of_many(pattern: &str) -> bool {
    pattern.split(['|', ',']).any(|one| {
        let bare = one.replace("\\b", "");
        let bare: String = bare
            .chars()
            .filter(|letter| !"[]()\\^$*<>\"'".contains(*letter))
            .collect();
        let lower = bare.trim_matches(['.', ' ']).to_ascii_lowercase();
        let name = lower.rsplit("/bin/").next().unwrap_or(&lower);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        // `python3.12`
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let name = match name.strip_prefix("python") {
            Some(rest) if rest.chars().all(is_number) => "python",
            _ => name,
        };
        OF_MANY.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_many;

    /// CAKE-SHIM-1: a pattern that includes every process of a name differs from one that selects
    /// among them.
    #[test]
    fn a_pattern_for_all_of_a_kind_differs_from_one_for_some() {
        for pattern in [
            "node",
            "^node$",
            "[n]ode",
            "node.*",
            ".*node.*",
            "\\bnode\\b",
            "vite|node",
            "jest\\|python3.12",
            "/usr/bin/python3",
            "Node.exe",
            "Google Chrome",
        ] {
            assert!(is_of_many(pattern), "{pattern}");
        }
        for pattern in [
            "node server.js",
            "node.*vite",
            "vite",
            "next-server",
            "python -m http.server",
            "postgres -D /tmp/pg",
            "chromedriver",
            "target/debug/p",
            "/srv/app/node_modules",
            "pythonista",
            "",
        ] {
            assert!(!is_of_many(pattern), "{pattern}");
        }
    }
}
