//! Presets: programs of one language that build, check and test a project, as patterns for the user's list.
//!
//! None of them starts what the project serves (`cargo run`), fetches and runs a package (`npx`), or installs one.

/// A preset: its name, and its patterns.
pub type Preset = (&'static str, &'static [&'static str]);

/// All presets, by name.
pub const PRESETS: &[Preset] = &[
    (
        "go",
        &[
            "go build *",
            "go test *",
            "go vet *",
            "go fmt *",
            "go list *",
            "go doc *",
            "gofmt *",
            "golangci-lint run *",
            "staticcheck *",
        ],
    ),
    (
        "java",
        &[
            "mvn compile *",
            "mvn test *",
            "mvn verify *",
            "mvn -q test *",
            "./mvnw compile *",
            "./mvnw test *",
            "./mvnw verify *",
            "gradle build *",
            "gradle check *",
            "gradle test *",
            "./gradlew build *",
            "./gradlew check *",
            "./gradlew test *",
        ],
    ),
    (
        "node",
        &[
            "npm test *",
            "npm run build *",
            "npm run lint *",
            "npm run test *",
            "npm run test:unit *",
            "npm run typecheck *",
            "npm run type-check *",
            "npm run format:check *",
            "npm ls *",
            "pnpm build *",
            "pnpm lint *",
            "pnpm test *",
            "pnpm run build *",
            "pnpm run lint *",
            "pnpm run test *",
            "pnpm typecheck *",
            "yarn build *",
            "yarn lint *",
            "yarn test *",
            "yarn typecheck *",
            "node --test *",
            "node --check *",
            "eslint *",
            "jest *",
            "prettier --check *",
            "tsc *",
            "vitest run *",
        ],
    ),
    (
        "python",
        &[
            "pytest *",
            "python -m pytest *",
            "python3 -m pytest *",
            "python -m unittest *",
            "python3 -m unittest *",
            "python -m mypy *",
            "python3 -m mypy *",
            "python -m py_compile *",
            "python3 -m py_compile *",
            "black *",
            "flake8 *",
            "isort *",
            "mypy *",
            "pyright *",
            "ruff check *",
            "ruff format *",
            "pip list *",
            "pip show *",
        ],
    ),
    (
        "ruby",
        &[
            "rspec *",
            "rubocop *",
            "bundle exec rspec *",
            "bundle exec rubocop *",
            "bundle exec rake test *",
            "rake test *",
            "rails test *",
            "bin/rails test *",
            "bin/rspec *",
        ],
    ),
    (
        "rust",
        &[
            "cargo build *",
            "cargo check *",
            "cargo clippy *",
            "cargo doc *",
            "cargo fmt *",
            "cargo metadata *",
            "cargo nextest run *",
            "cargo test *",
            "cargo tree *",
        ],
    ),
];

/// Returns the patterns of a preset. `None` if there is none of this name.
pub fn patterns(name: &str) -> Option<&'static [&'static str]> {
    let mut presets = PRESETS.iter();
    let (_, patterns) = presets.find(|(known, _)| *known == name)?;
    Some(patterns)
}

#[cfg(test)]
mod tests {
    use super::PRESETS;
    use crate::{Permission, auto_allow::may_be_listed};

    #[test]
    fn every_pattern_of_a_preset_may_be_listed() {
        for pattern in PRESETS.iter().flat_map(|(_, patterns)| *patterns) {
            let parsed = Permission::parse(pattern).expect("it is a pattern");
            assert!(may_be_listed(&parsed), "{pattern}");
        }
    }
}
