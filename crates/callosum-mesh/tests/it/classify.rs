//! Categories of prompts: from the built-in rules, from the user's own matrix, from examples.

use callosum_mesh::{
    classify::{Classification, Example, THRESHOLD, classify},
    route::{Matrix, Route},
};
use jiff::SignedDuration;
use proptest::prelude::*;

fn route(category: &str, about: &str, primary: &str) -> Route {
    Route {
        category: category.to_owned(),
        about: about.to_owned(),
        primary: primary.parse().expect("it is a name"),
        fallback: "codex".parse().expect("it is a name"),
        within: SignedDuration::from_mins(5),
    }
}

fn example(prompt: &str, category: &str) -> Example {
    Example {
        prompt: prompt.to_owned(),
        category: category.to_owned(),
    }
}

fn by_seed(prompt: &str) -> Classification {
    classify(&Matrix::seed(), &[], prompt)
}

#[test]
fn a_prompt_gets_the_category_of_the_task_that_it_asks_for() {
    for (prompt, expected) in [
        (
            "Archive the app and upload it to TestFlight",
            Some("ios-build"),
        ),
        (
            "the provisioning profile expired, CI can't sign the ipa",
            Some("ios-build"),
        ),
        (
            "Should we split billing out of the monolith?",
            Some("architecture"),
        ),
        (
            "redis streams or kafka for the outbox? pros and cons pls",
            Some("architecture"),
        ),
        (
            "Review the entire repository for unsafe code",
            Some("large-review"),
        ),
        (
            "Read all 240 pages of the manual and flag what contradicts our API",
            Some("large-review"),
        ),
        (
            "Merge these three design proposals into one plan",
            Some("synthesis"),
        ),
        (
            "Take the reports of all four agents and reconcile where they disagree",
            Some("synthesis"),
        ),
        (
            "median latency per endpoint from access.csv, as JSON",
            Some("data-analysis"),
        ),
        (
            "Extract name and amount of every row in orders.xlsx to JSON",
            Some("data-analysis"),
        ),
        (
            "Which deals in HubSpot slipped a stage this quarter?",
            Some("crm-math"),
        ),
        (
            "Compute the payback period at 4% churn and $30 per seat",
            Some("crm-math"),
        ),
        (
            "Set up nginx as a reverse proxy on the staging server",
            Some("infrastructure"),
        ),
        (
            "roll out the new image to the k8s cluster w/o downtime",
            Some("infrastructure"),
        ),
        ("Write a landing page for our Docker tool", Some("creative")),
        ("give me ten playful names for the mascot", Some("creative")),
        (
            "Which of our repos still depend on log4j 1.x?",
            Some("dependency-scan"),
        ),
        (
            "list licenses of every package across all projects",
            Some("dependency-scan"),
        ),
        ("Fix the off-by-one in paginate()", None),
        ("rename the variable tmp and add a unit test", None),
        ("what's the best pizza in Naples?", None),
        ("thanks!", None),
        ("", None),
    ] {
        let found = by_seed(prompt);
        assert_eq!(found.category.as_deref(), expected, "{prompt}: {found:#?}");
        let seed = Matrix::seed();
        let primary = expected.map(|category| seed.route(category).unwrap().primary.clone());
        assert_eq!(found.agent, primary, "{prompt}");
        assert_eq!(
            found.confidence >= THRESHOLD,
            expected.is_some(),
            "{prompt}"
        );
    }
}

#[test]
fn the_reasons_name_words_of_the_prompt() {
    let found = by_seed("Review the entire repository");
    let first = &found.reasons[0];
    assert_eq!(first.feature, "request");
    assert_eq!(first.text, "review + entire repository");
    assert_eq!(first.category.as_deref(), Some("large-review"));
    let found = by_seed("have a look at deploy/main.tf");
    assert_eq!(
        (found.reasons[0].feature, found.reasons[0].text.as_str()),
        ("file", "main.tf")
    );
}

#[test]
fn an_empty_matrix_gets_no_category_and_a_reason() {
    let examples = [example("archive the app", "ios-build")];
    let found = classify(&Matrix::default(), &examples, "archive the app");
    assert_eq!((found.category, found.agent), (None, None));
    assert!(found.confidence.abs() < f64::EPSILON);
    assert_eq!(found.reasons[0].text, "no categories are configured");
}

#[test]
fn built_in_rules_need_the_category_in_the_matrix() {
    let matrix = Matrix {
        routes: vec![route("creative", "creative content, copywriting", "gemini")],
        roles: Vec::new(),
    };
    let prompt = "Set up nginx as a reverse proxy on the staging server";
    let found = classify(&matrix, &[], prompt);
    assert_eq!(found.category, None);
    assert!(found.others.is_empty(), "{found:?}");
}

#[test]
fn own_categories_are_matched_by_key_and_about() {
    let mut matrix = Matrix::seed();
    matrix
        .routes
        .push(route("payments", "invoices, refunds, chargebacks", "qwen"));
    matrix
        .routes
        .push(route("bugfix", "failing tests, crashes", "codex"));
    let found = classify(&matrix, &[], "Refund the duplicate invoice of order 812");
    assert_eq!(found.category.as_deref(), Some("payments"));
    assert_eq!(found.agent.unwrap().as_str(), "qwen-code");
    assert_eq!(found.reasons[0].feature, "own word");
    let found = classify(&matrix, &[], "fix the failing test in parser.rs");
    assert_eq!(found.category.as_deref(), Some("bugfix"));
    let found = classify(&matrix, &[], "Archive the app and upload it to TestFlight");
    assert_eq!(found.category.as_deref(), Some("ios-build"));
}

#[test]
fn another_about_adds_words_to_a_default_category() {
    let mut matrix = Matrix::seed();
    let prompt = "Renew the turnstile badges";
    assert_eq!(classify(&matrix, &[], prompt).category, None);
    let at = matrix
        .routes
        .iter()
        .position(|it| it.category == "infrastructure")
        .unwrap();
    matrix.routes[at].about = "servers, turnstiles, badges".to_owned();
    let found = classify(&matrix, &[], prompt);
    assert_eq!(found.category.as_deref(), Some("infrastructure"));
    let found = classify(&matrix, &[], "Set up nginx on the staging server");
    assert_eq!(found.category.as_deref(), Some("infrastructure"));
}

#[test]
fn the_same_text_as_an_example_wins_outright() {
    let examples = [
        example("Archive the app and upload it to TestFlight", "creative"),
        example("anything", "no-such-category"),
    ];
    let matrix = Matrix::seed();
    let found = classify(
        &matrix,
        &examples,
        "  Archive the app and upload it to TestFlight\n",
    );
    assert_eq!(found.category.as_deref(), Some("creative"));
    assert!((found.confidence - 1.0).abs() < f64::EPSILON);
    assert_eq!(classify(&matrix, &examples, "anything").category, None);
}

#[test]
fn a_near_example_outweighs_the_built_in_rules() {
    let matrix = Matrix::seed();
    let prompt = "Refresh the Docker base images of the demo";
    assert_eq!(
        classify(&matrix, &[], prompt).category.as_deref(),
        Some("infrastructure")
    );
    let examples = [example(
        "refresh the base images of the Docker demo site",
        "dependency-scan",
    )];
    let found = classify(&matrix, &examples, prompt);
    assert_eq!(
        found.category.as_deref(),
        Some("dependency-scan"),
        "{found:#?}"
    );
    assert_eq!(found.reasons[0].feature, "example");
}

#[test]
fn evidence_for_two_categories_is_below_the_threshold() {
    let matrix = Matrix {
        routes: vec![
            route("turbines", "", "claude"),
            route("gaskets", "", "gemini"),
        ],
        roles: Vec::new(),
    };
    let found = classify(&matrix, &[], "the gasket of the turbine");
    assert_eq!(found.category, None, "{found:#?}");
    assert!(found.confidence > 0.2 && found.confidence < THRESHOLD);
    assert!(found.others.len() >= 2);
    assert!(found.others.is_sorted_by(|a, b| a.1 >= b.1));
}

#[test]
fn the_order_of_the_matrix_does_not_matter() {
    let mut matrix = Matrix::seed();
    matrix
        .routes
        .push(route("payments", "invoices, docker", "qwen"));
    let examples = [
        example("invoice docker hours", "payments"),
        example("dock the boat", "creative"),
    ];
    let prompt =
        "Set up the invoice service in Docker, review the CSV exports and draft an announcement";
    let first = classify(&matrix, &examples, prompt);
    assert_eq!(first, classify(&matrix, &examples, prompt));
    for _ in 0..matrix.routes.len() {
        matrix.routes.rotate_left(1);
        assert_eq!(first, classify(&matrix, &examples, prompt));
    }
    matrix.routes.reverse();
    assert_eq!(first, classify(&matrix, &examples, prompt));
}

#[test]
fn a_megabyte_is_read_and_the_request_at_its_end_counts() {
    let paste = "2026-01-01T00:00:00 GET /docker/index.html 200 mail grafana ".repeat(17_000);
    let prompt = format!("{paste}\n\nWrite a slogan and a tagline.");
    assert!(prompt.len() > 1_000_000);
    let found = by_seed(&prompt);
    assert_eq!(found.category.as_deref(), Some("creative"), "{found:#?}");
    assert!((0.0..=1.0).contains(&found.confidence));
    assert!(
        found
            .reasons
            .iter()
            .all(|reason| reason.text.chars().count() <= 80)
    );
    for hostile in [
        "a".repeat(1 << 20),
        "'".repeat(1 << 20),
        "9".repeat(1 << 20),
        ".a".repeat(1 << 19),
    ] {
        assert_eq!(by_seed(&hostile).category, None);
    }
}

/// The labeled prompts: what `tests/routing/README.md` describes.
fn labeled() -> Vec<(String, String)> {
    let lines = include_str!("../routing/prompts.jsonl").lines();
    lines
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            let text = |key: &str| line[key].as_str().expect("it is text").to_owned();
            (text("prompt"), text("category"))
        })
        .collect()
}

/// The obvious way: the words of the table in Seed CALC §7, one list for each category, the first match wins.
const TABLE_WORDS: [(&str, &[&str]); 9] = [
    ("ios-build", &["ios", "xcode"]),
    ("architecture", &["architecture"]),
    ("large-review", &["review"]),
    ("synthesis", &["synthesis"]),
    ("data-analysis", &["data", "json"]),
    ("crm-math", &["crm", "pipeline", "pipelines", "math"]),
    ("infrastructure", &["docker", "vm", "infrastructure"]),
    ("creative", &["copy", "copywriting", "creative"]),
    ("dependency-scan", &["dependency", "dependencies"]),
];

fn by_table_words(prompt: &str) -> &'static str {
    let prompt = prompt.to_lowercase();
    let words: Vec<&str> = prompt
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let found = TABLE_WORDS
        .iter()
        .find(|(_, keys)| keys.iter().any(|key| words.contains(key)));
    found.map_or("none", |(category, _)| category)
}

/// CALC-ROUTE-1: at least 90 % of the labeled prompts, where "none" is right only without a category.
#[test]
fn nine_of_ten_labeled_prompts_get_their_category() {
    let prompts = labeled();
    assert_eq!(prompts.len(), 200);
    let matrix = Matrix::seed();
    let mut confusions = Vec::new();
    for (prompt, label) in &prompts {
        let found = classify(&matrix, &[], prompt);
        let category = found.category.as_deref().unwrap_or("none");
        if category != label {
            confusions.push(format!(
                "{label} taken for {category} ({:.2}): {prompt}",
                found.confidence
            ));
        }
    }
    let percent = |right: usize| 100.0 * right as f64 / prompts.len() as f64;
    let ours = percent(prompts.len() - confusions.len());
    let baseline = prompts
        .iter()
        .filter(|(prompt, label)| by_table_words(prompt) == label);
    let baseline = percent(baseline.count());
    let summary = format!(
        "{ours} % right, table words {baseline} %:\n{}",
        confusions.join("\n")
    );
    assert!(ours >= 90.0, "{summary}");
    assert!(ours > baseline, "{summary}");
    assert!(baseline < 50.0, "the set has easy words now: {summary}");
}

proptest! {
    #[test]
    fn any_prompt_has_a_confidence_between_0_and_1(
        prompt in "\\PC{0,200}|[a-z0-9 .,$%'`\n/-]{0,200}",
        about in "\\PC{0,40}",
        other in "\\PC{0,80}",
    ) {
        let mut matrix = Matrix::seed();
        matrix.routes.push(route("own", &about, "qwen"));
        let found = classify(&matrix, &[example(&other, "own")], &prompt);
        prop_assert!((0.0..=1.0).contains(&found.confidence));
        prop_assert_eq!(found.category.is_some(), found.confidence >= THRESHOLD);
        prop_assert_eq!(found.category.is_some(), found.agent.is_some());
        prop_assert!(found.others.iter().all(|(_, share)| (0.0..=1.0).contains(share)));
    }
}
