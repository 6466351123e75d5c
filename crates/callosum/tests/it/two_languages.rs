//! [`two_languages`]: a small project in Rust and Python.

use callosum_testkit::TestEnv;

/// A machine with a small project of two languages in a git repository.
pub(crate) fn two_languages() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "Cargo.toml",
        "[package]\nname = \"abacus\"\nversion = \"0.3.0\"\nedition = \"2024\"\n\
         description = \"Adds numbers that stand in a file\"\n\n[dependencies]\nserde = \"1\"\n",
    );
    env.write(
        "src/main.rs",
        "//! Adds the numbers of a file.\n\nmod sum;\n\nfn main() {\n    \
         println!(\"{}\", sum::total(\"1 2 3\"));\n}\n",
    );
    env.write(
        "src/sum.rs",
        "//! The sum of a text.\n\n/// Adds all numbers of `text`.\npub fn total(text: &str) -> i64 {\n    \
         text.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).sum()\n}\n\n\
         #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds_all() {\n        \
         assert_eq!(total(\"1 2 3\"), 6);\n    }\n}\n",
    );
    env.write(
        "tools/report.py",
        "\"\"\"Prints a report of the sums.\"\"\"\n\nimport json\n\n\ndef report(sums):\n    \
         \"\"\"Formats the sums.\"\"\"\n    return json.dumps(sums)\n\n\nif __name__ == \"__main__\":\n    \
         print(report([6]))\n",
    );
    env.write("README.md", "# abacus\n\nAdds numbers.\n");
    env.git_init();
    env
}
