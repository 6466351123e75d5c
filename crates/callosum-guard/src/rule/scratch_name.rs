//! Names of databases, volumes and files that are for tests or for temporary use: [`says_scratch`].

/// Whether a name is one for tests or for temporary use: `test`, `tmp_x`, `shop-dev`,
/// `compose.ci.yml`, but neither `contest` nor `latest`.
pub(super) fn says_scratch(name: &str) -> bool {
    const SAYS: [&str; 14] = [
        "test",
        "tests",
        "testing",
        "tmp",
        "temp",
        "dev",
        "development",
        "ci",
        "e2e",
        "scratch",
        "sandbox",
        "example",
        "demo",
        "local",
    ];
    let last = crate::path::name(name.trim_matches(['"', '\'', '`']));
    let last = last.split('?').next().unwrap_or(last).to_ascii_lowercase();
    let mut parts = last.split(['_', '-', '.']);
    let lasting = parts
        .clone()
        .any(|part| matches!(part, "prod" | "production" | "live"));
    !lasting
        && parts.any(|part| SAYS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())))
}
