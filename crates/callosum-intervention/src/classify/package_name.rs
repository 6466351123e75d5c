//! Names of packages taken from tool output. Output is not trusted: [`is_package_name`] lets through only what the
//! registry of the ecosystem itself would accept as a name.

/// A registry of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecosystem {
    /// PyPI.
    Python,
    /// npm.
    Node,
    /// crates.io.
    Rust,
    /// Go modules.
    Go,
    /// RubyGems.
    Ruby,
}

/// Most characters of a name.
const LONGEST: usize = 100;

/// Popular names, for which a name one edit away is more likely a typo, or an attack that uses typos, than a package.
const POPULAR: [&str; 55] = [
    "aiohttp",
    "anyhow",
    "axios",
    "beautifulsoup4",
    "boto3",
    "celery",
    "chalk",
    "chrono",
    "colorama",
    "commander",
    "cryptography",
    "django",
    "eslint",
    "express",
    "fastapi",
    "flask",
    "jinja2",
    "lodash",
    "matplotlib",
    "mongoose",
    "nodemon",
    "numpy",
    "opencv-python",
    "pandas",
    "pillow",
    "preact",
    "prettier",
    "psycopg2",
    "puppeteer",
    "pydantic",
    "pytest",
    "python-dateutil",
    "pyyaml",
    "rails",
    "react",
    "react-dom",
    "regex",
    "request",
    "requests",
    "reqwest",
    "rspec",
    "scikit-learn",
    "scipy",
    "selenium",
    "serde",
    "serde_json",
    "setuptools",
    "sqlalchemy",
    "tensorflow",
    "thiserror",
    "tokio",
    "torch",
    "typescript",
    "urllib3",
    "webpack",
];

/// Returns whether this is the name of a package: no version, no address, no option and no path.
pub fn is_package_name(name: &str, ecosystem: Ecosystem) -> bool {
    if name.is_empty() || name.len() > LONGEST || !name.is_ascii() {
        return false;
    }
    match ecosystem {
        Ecosystem::Python => is_plain(name, "._-"),
        Ecosystem::Ruby | Ecosystem::Rust => is_plain(name, "_-"),
        Ecosystem::Node => match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
            Some(Some((scope, rest))) => is_plain(scope, "_-") && is_plain(rest, "._-"),
            Some(None) => false,
            None => is_plain(name, "._-") && !name.bytes().any(|byte| byte.is_ascii_uppercase()),
        },
        Ecosystem::Go => {
            let mut parts = name.split('/');
            parts
                .next()
                .is_some_and(|host| host.contains('.') && is_plain(host, ".-"))
                && name.contains('/')
                && parts.all(|part| is_plain(part, "._-"))
        }
    }
}

/// Returns whether the text is letters, digits and the given marks, begins and ends with a letter or digit, and has no two marks
/// in a row.
fn is_plain(text: &str, marks: &str) -> bool {
    let mut was_mark = true;
    for letter in text.chars() {
        let is_mark = marks.contains(letter);
        if !(letter.is_ascii_alphanumeric() || is_mark && !was_mark) {
            return false;
        }
        was_mark = is_mark;
    }
    !was_mark
}

/// Returns whether the name is one edit away from a popular one, and is not popular itself. Costs 55 comparisons of short texts.
pub fn resembles_popular(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.len() >= 5
        && !POPULAR.contains(&name.as_str())
        && POPULAR.iter().any(|popular| {
            popular.len().abs_diff(name.len()) <= 1
                && strsim::damerau_levenshtein(popular, &name) == 1
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-CLS-1: a name that could be an option, a path, an address or a second command is refused.
    #[test]
    fn hostile_names_are_no_packages() {
        for hostile in [
            "",
            "x; rm -rf /",
            "$(id)",
            "`id`",
            "-r",
            "-r http://evil.example/x",
            "--index-url=http://evil.example",
            "re quests",
            "requests\nrm",
            "../evil",
            "./evil",
            "/etc/passwd",
            "git+https://evil.example/x",
            "http://evil.example/x.tgz",
            "x|sh",
            "x&&y",
            "x>y",
            "a..b",
            "r\u{435}quests",
            "x\u{1b}[31m",
            "name@latest",
            "'x'",
            "~",
            "*",
        ] {
            for ecosystem in [
                Ecosystem::Python,
                Ecosystem::Node,
                Ecosystem::Rust,
                Ecosystem::Go,
                Ecosystem::Ruby,
            ] {
                assert!(!is_package_name(hostile, ecosystem), "{hostile:?}");
            }
        }
        assert!(!is_package_name(
            &"x".repeat(LONGEST + 1),
            Ecosystem::Python
        ));
    }

    /// CAKE-CLS-1: real names of each registry are accepted.
    #[test]
    fn real_names_are_packages() {
        for (name, ecosystem) in [
            ("requests", Ecosystem::Python),
            ("zope.interface", Ecosystem::Python),
            ("@types/node", Ecosystem::Node),
            ("lodash.merge", Ecosystem::Node),
            ("serde_json", Ecosystem::Rust),
            ("github.com/acme/pay", Ecosystem::Go),
            ("gopkg.in/yaml.v3", Ecosystem::Go),
            ("shop_pay", Ecosystem::Ruby),
        ] {
            assert!(is_package_name(name, ecosystem), "{name}");
        }
        assert!(!is_package_name("fmt", Ecosystem::Go));
    }

    /// CAKE-CLS-1: a name one edit away from a popular one is suspicious; the popular names themselves are not.
    #[test]
    fn typos_of_popular_names_are_recognized() {
        for typo in ["reqeusts", "requestss", "nunpy", "loadash", "expres"] {
            assert!(resembles_popular(typo), "{typo}");
        }
        for name in POPULAR.iter().chain(&["shop-pay", "yaml", "left-pad"]) {
            assert!(!resembles_popular(name), "{name}");
        }
        assert!(POPULAR.is_sorted());
    }
}
