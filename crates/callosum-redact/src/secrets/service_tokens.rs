//! Tokens of services, by prefix, alphabet and length.
//!
//! Start with [`TOKENS`]: a row is a fact about a service's tokens. Matching is one pass over the text and compiles
//! nothing, since hooks mask commands too. Forms that need more than a prefix are in
//! [`token_patterns`](super::token_patterns).

use std::{ops::Range, sync::LazyLock};

use super::{
    assignments::{QUOTED_BITS, is_name, is_secret},
    entropy::is_jumbled_key,
    kind::Kind,
};

/// The characters of a part of a token.
#[derive(Clone, Copy)]
enum Letters {
    Hex,
    /// Capitals and digits.
    Capitals,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `-`, `_` and `=`, as in base64 for addresses.
    Url,
    /// The same and `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, as in base64.
    Base64,
}

/// A part of a token after its prefix.
#[derive(Clone, Copy)]
enum Part {
    /// A number of letters in a range.
    Run(Letters, usize, usize),
    Text(&'static str),
}

use Letters::{Alnum, Base64, Capitals, Dotted, Hex, Url};
use Part::{Run, Text};

type Token = (Kind, &'static str, &'static [Part]);

/// The parts of a UUID.
const UUID: &[Part] = &[
    Run(Hex, 8, 8),
    Text("-"),
    Run(Hex, 4, 4),
    Text("-"),
    Run(Hex, 4, 4),
    Text("-"),
    Run(Hex, 4, 4),
    Text("-"),
    Run(Hex, 12, 12),
];

/// One for each kind of token. A prefix begins a word.
const TOKENS: [Token; 98] = [
    // Adobe, a client secret.
    (Kind::AccessToken, "p8e-", &[Run(Alnum, 32, 32)]),
    // Airtable.
    (
        Kind::AccessToken,
        "pat",
        &[Run(Alnum, 14, 14), Text("."), Run(Hex, 64, 64)],
    ),
    // Alibaba Cloud, the id of an access key.
    (Kind::AccessToken, "LTAI", &[Run(Alnum, 16, 24)]),
    // Amazon Bedrock.
    (Kind::Aws, "ABSK", &[Run(Base64, 109, 269)]),
    // Artifactory.
    (Kind::AccessToken, "AKCp", &[Run(Alnum, 69, 69)]),
    (Kind::AccessToken, "cmVmdGtu", &[Run(Alnum, 56, 56)]),
    // Bitbucket.
    (Kind::AccessToken, "ATBB", &[Run(Alnum, 32, 32)]),
    (Kind::AccessToken, "ATCTT3x", &[Run(Url, 60, 300)]),
    // Beamer.
    (Kind::AccessToken, "b_", &[Run(Url, 44, 44)]),
    // Buildkite.
    (Kind::AccessToken, "bkua_", &[Run(Hex, 40, 40)]),
    // CircleCI.
    (
        Kind::AccessToken,
        "CCIPAT_",
        &[Run(Alnum, 20, 24), Text("_"), Run(Hex, 40, 40)],
    ),
    (
        Kind::AccessToken,
        "CCIPRJ_",
        &[Run(Alnum, 20, 24), Text("_"), Run(Hex, 40, 40)],
    ),
    // ClickHouse Cloud.
    (Kind::AccessToken, "4b1d", &[Run(Alnum, 38, 38)]),
    // Clojars.
    (Kind::AccessToken, "CLOJARS_", &[Run(Alnum, 60, 60)]),
    // Cloudflare, an origin CA key.
    (
        Kind::AccessToken,
        "v1.0-",
        &[Run(Hex, 24, 24), Text("-"), Run(Hex, 146, 146)],
    ),
    // Contentful.
    (Kind::AccessToken, "CFPAT-", &[Run(Url, 40, 48)]),
    // crates.io.
    (Kind::AccessToken, "cio", &[Run(Alnum, 32, 32)]),
    // Defined Networking.
    (Kind::AccessToken, "dnkey-", &[Run(Url, 79, 79)]),
    // Discord, of an account with two factors.
    (Kind::AccessToken, "mfa.", &[Run(Url, 80, 96)]),
    // Doppler.
    (Kind::AccessToken, "dp.audit.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.ct.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.pt.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.sa.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.said.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.scim.", &[Run(Alnum, 40, 44)]),
    (Kind::AccessToken, "dp.st.", &[Run(Dotted, 40, 80)]),
    // Dropbox, short-lived.
    (Kind::AccessToken, "sl.", &[Run(Url, 130, 300)]),
    // Duffel.
    (Kind::AccessToken, "duffel_live_", &[Run(Url, 43, 43)]),
    (Kind::AccessToken, "duffel_test_", &[Run(Url, 43, 43)]),
    // Dynatrace.
    (
        Kind::AccessToken,
        "dt0c01.",
        &[Run(Alnum, 24, 24), Text("."), Run(Alnum, 64, 64)],
    ),
    // E2B.
    (Kind::AccessToken, "e2b_", &[Run(Hex, 40, 40)]),
    // EasyPost.
    (Kind::AccessToken, "EZAK", &[Run(Alnum, 54, 54)]),
    (Kind::AccessToken, "EZTK", &[Run(Alnum, 54, 54)]),
    // ElevenLabs.
    (Kind::ModelProvider, "sk_", &[Run(Hex, 48, 48)]),
    // Facebook.
    (Kind::AccessToken, "EAAM", &[Run(Alnum, 28, 400)]),
    // Firecrawl.
    (Kind::AccessToken, "fc-", &[Run(Hex, 32, 32)]),
    // Flutterwave.
    (
        Kind::AccessToken,
        "FLWSECK-",
        &[Run(Hex, 32, 32), Text("-X")],
    ),
    (
        Kind::AccessToken,
        "FLWSECK_TEST-",
        &[Run(Hex, 32, 32), Text("-X")],
    ),
    (Kind::AccessToken, "FLWSECK_TEST", &[Run(Hex, 12, 12)]),
    // Fly.io.
    (Kind::AccessToken, "fo1_", &[Run(Url, 43, 43)]),
    (Kind::AccessToken, "fm1a_", &[Run(Base64, 100, 1000)]),
    (Kind::AccessToken, "fm1r_", &[Run(Base64, 100, 1000)]),
    (Kind::AccessToken, "fm2_", &[Run(Base64, 100, 1000)]),
    // Frame.io.
    (Kind::AccessToken, "fio-u-", &[Run(Url, 64, 64)]),
    // GitLab: agents, builds, feature flags, feeds, incoming mail, runners, SCIM.
    (Kind::GitLab, "GR1348941", &[Run(Url, 20, 20)]),
    (Kind::GitLab, "glagent-", &[Run(Url, 50, 64)]),
    (Kind::GitLab, "glcbt-", &[Run(Url, 20, 64)]),
    (Kind::GitLab, "glffct-", &[Run(Url, 20, 64)]),
    (Kind::GitLab, "glft-", &[Run(Url, 20, 64)]),
    (Kind::GitLab, "glimt-", &[Run(Url, 20, 64)]),
    (Kind::GitLab, "glrtr-", &[Run(Url, 20, 64)]),
    (Kind::GitLab, "glsoat-", &[Run(Url, 20, 64)]),
    // Google, an OAuth client's secret.
    (Kind::Google, "GOCSPX-", &[Run(Url, 28, 28)]),
    // Grafana.
    (Kind::AccessToken, "glc_", &[Run(Base64, 32, 400)]),
    (Kind::AccessToken, "eyJrIjoi", &[Run(Base64, 70, 400)]),
    // Harness.
    (
        Kind::AccessToken,
        "pat.",
        &[
            Run(Url, 22, 22),
            Text("."),
            Run(Hex, 24, 24),
            Text("."),
            Run(Alnum, 20, 20),
        ],
    ),
    (
        Kind::AccessToken,
        "sat.",
        &[
            Run(Url, 22, 22),
            Text("."),
            Run(Hex, 24, 24),
            Text("."),
            Run(Alnum, 20, 20),
        ],
    ),
    // Heroku.
    (Kind::AccessToken, "HRKU-AA", &[Run(Url, 58, 58)]),
    // HubSpot.
    (Kind::AccessToken, "pat-eu1-", UUID),
    (Kind::AccessToken, "pat-na1-", UUID),
    // Infracost.
    (Kind::AccessToken, "ico-", &[Run(Alnum, 32, 32)]),
    // Intra42.
    (Kind::AccessToken, "s-s4t2af-", &[Run(Hex, 64, 64)]),
    (Kind::AccessToken, "s-s4t2ud-", &[Run(Hex, 64, 64)]),
    // LangSmith.
    (
        Kind::ModelProvider,
        "lsv2_pt_",
        &[Run(Hex, 32, 32), Text("_"), Run(Hex, 10, 10)],
    ),
    (
        Kind::ModelProvider,
        "lsv2_sk_",
        &[Run(Hex, 32, 32), Text("_"), Run(Hex, 10, 10)],
    ),
    // LaunchDarkly.
    (Kind::AccessToken, "sdk-", UUID),
    // Mapbox, a secret token.
    (
        Kind::AccessToken,
        "sk.eyJ",
        &[Run(Url, 40, 200), Text("."), Run(Url, 22, 22)],
    ),
    // Netlify.
    (Kind::AccessToken, "nfp_", &[Run(Alnum, 36, 40)]),
    // New Relic: a user's key, a browser's key, an insert key.
    (Kind::AccessToken, "NRAK-", &[Run(Capitals, 27, 27)]),
    (Kind::AccessToken, "NRJS-", &[Run(Hex, 19, 19)]),
    (Kind::AccessToken, "NRII-", &[Run(Url, 32, 32)]),
    // NuGet.
    (Kind::AccessToken, "oy2", &[Run(Alnum, 43, 43)]),
    // Octopus Deploy.
    (Kind::AccessToken, "API-", &[Run(Capitals, 26, 26)]),
    // 1Password, a service account.
    (Kind::AccessToken, "ops_eyJ", &[Run(Base64, 250, 2000)]),
    // OpenShift.
    (Kind::AccessToken, "sha256~", &[Run(Url, 43, 43)]),
    // Pinecone.
    (Kind::ModelProvider, "pcsk_", &[Run(Url, 60, 90)]),
    // PostHog, a personal key.
    (Kind::AccessToken, "phx_", &[Run(Alnum, 40, 48)]),
    // Prefect.
    (Kind::AccessToken, "pnu_", &[Run(Alnum, 36, 36)]),
    // Pulumi.
    (Kind::AccessToken, "pul-", &[Run(Hex, 40, 40)]),
    // ReadMe.
    (Kind::AccessToken, "rdme_", &[Run(Alnum, 70, 70)]),
    // Resend.
    (
        Kind::AccessToken,
        "re_",
        &[Run(Alnum, 8, 8), Text("_"), Run(Alnum, 24, 24)],
    ),
    // Scalingo.
    (Kind::AccessToken, "tk-us-", &[Run(Url, 48, 48)]),
    // Sendinblue, now Brevo.
    (
        Kind::AccessToken,
        "xkeysib-",
        &[Run(Hex, 64, 64), Text("-"), Run(Alnum, 16, 16)],
    ),
    // SettleMint.
    (Kind::AccessToken, "sm_aat_", &[Run(Alnum, 16, 16)]),
    (Kind::AccessToken, "sm_pat_", &[Run(Alnum, 16, 16)]),
    (Kind::AccessToken, "sm_sat_", &[Run(Alnum, 16, 16)]),
    // Shippo.
    (Kind::AccessToken, "shippo_live_", &[Run(Hex, 40, 40)]),
    (Kind::AccessToken, "shippo_test_", &[Run(Hex, 40, 40)]),
    // SonarQube: of a user, of a project, of all projects.
    (Kind::AccessToken, "sqa_", &[Run(Hex, 40, 40)]),
    (Kind::AccessToken, "sqp_", &[Run(Hex, 40, 40)]),
    (Kind::AccessToken, "squ_", &[Run(Hex, 40, 40)]),
    // Sourcegraph.
    (Kind::AccessToken, "sgp_", &[Run(Hex, 40, 40)]),
    (Kind::AccessToken, "sgp_local_", &[Run(Hex, 40, 40)]),
    (
        Kind::AccessToken,
        "sgp_",
        &[Run(Hex, 16, 16), Text("_"), Run(Hex, 40, 40)],
    ),
    // Square.
    (Kind::AccessToken, "EAAA", &[Run(Url, 60, 60)]),
    (Kind::AccessToken, "sq0atp-", &[Run(Url, 22, 22)]),
    (Kind::AccessToken, "sq0csp-", &[Run(Url, 43, 43)]),
    // Typeform.
    (Kind::AccessToken, "tfp_", &[Run(Dotted, 59, 59)]),
];

/// The same for tokens whose identifying part is not at their start: letters, that part, and the
/// rest.
const MARKED: [(Letters, usize, &str, &[Part]); 4] = [
    // Terraform Cloud.
    (Alnum, 14, ".atlasv1.", &[Run(Url, 60, 70)]),
    // Mailchimp, with the number of its data center.
    (Hex, 32, "-us", &[Run(Capitals, 1, 2)]),
    // Microsoft Entra, an application's secret.
    (Dotted, 4, "Q~", &[Run(Dotted, 31, 34)]),
    // MaxMind.
    (Alnum, 29, "_mmk", &[]),
];

/// The rows of [`TOKENS`] by the first byte of their prefixes.
static BY_FIRST: LazyLock<[Vec<&'static Token>; 256]> = LazyLock::new(|| {
    let mut rows = [const { Vec::new() }; 256];
    for token in &TOKENS {
        if let Some(first) = token.1.bytes().next() {
            rows[usize::from(first)].push(token);
        }
    }
    rows
});

/// Finds the tokens in a text. Linear in its length.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut before = b' ';
    for (at, byte) in bytes.iter().copied().enumerate() {
        let begins_word = !is_of_word(before) && byte.is_ascii_alphanumeric();
        before = byte;
        if !begins_word {
            continue;
        }
        let rows = BY_FIRST[usize::from(byte)].iter();
        let ends = rows.filter_map(|token| Some((token.0, end_of_token(text, at, token)?)));
        found.extend(ends.map(|(kind, end)| (at..end, kind)));
    }
    for (letters, count, mark, parts) in MARKED {
        let places = text.match_indices(mark).map(|(at, _)| at);
        let marked = places.filter_map(|at| {
            let start = at.checked_sub(count)?;
            let head = bytes.get(start..at)?;
            let is_alone = start == 0 || !is_of_word(bytes[start - 1]) || mark == "_mmk";
            // The fourth character of such a secret is a digit.
            let is_shaped = mark != "Q~" || head[3].is_ascii_digit();
            let end = end_of(bytes, at + mark.len(), parts)?;
            let is_it = is_alone && is_shaped && head.iter().all(|byte| letters.has(*byte));
            (is_it && is_random(text.get(start..end)?)).then_some((start..end, Kind::AccessToken))
        });
        found.extend(marked);
    }
    found
}

/// Returns the end of a token that begins at `at`, if there is one.
fn end_of_token(text: &str, at: usize, (_, prefix, parts): &Token) -> Option<usize> {
    let bytes = text.as_bytes();
    if !bytes[at..].starts_with(prefix.as_bytes()) {
        return None;
    }
    let body = at + prefix.len();
    let end = end_of(bytes, body, parts)?;
    let body = text.get(body..end)?;
    // Names of files and of programs begin with such a prefix, too.
    let may_be_name = prefix.len() <= 3;
    (is_random(body) && !(may_be_name && is_name(body))).then_some(end)
}

/// Returns the end of the parts that begin at `at`, if all are there and no letter follows.
fn end_of(bytes: &[u8], mut at: usize, parts: &[Part]) -> Option<usize> {
    for part in parts {
        let rest = bytes.get(at..)?;
        match part {
            Text(text) if rest.starts_with(text.as_bytes()) => at += text.len(),
            Text(_) => return None,
            Run(letters, least, most) => {
                let run = rest.iter().take(*most);
                let run = run.take_while(|byte| letters.has(**byte)).count();
                if run < *least {
                    return None;
                }
                at += run;
            }
        }
    }
    let is_cut = bytes.get(at).is_some_and(|next| is_of_word(*next));
    (!is_cut).then_some(at)
}

/// Returns true if the letters of a token are as random as a token's are.
fn is_random(body: &str) -> bool {
    is_secret(body, QUOTED_BITS) || is_jumbled_key(body)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Letters {
    fn has(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alnum => byte.is_ascii_alphanumeric(),
            Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'='),
            Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'),
            Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}
