//! [`is_renewal`]: checks whether the login that an agent leaves is the one that it was given, renewed.
//!
//! A sandboxed agent may write its copy, and so may every command that its model runs. The result
//! is copied back, and the user's next run, which may have no sandbox, relies on it. Only tokens
//! may change, only if they were about to expire, and only if the claims about their owner stay the
//! same. The expiry alone never changes: an agent that could bring it near would have the next
//! run's tokens accepted.
//!
//! Deliberately not here: whether a token is genuine. Only its issuer knows.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// Keys of tokens that are asked with.
const ACCESS: [&str; 3] = ["access", "access_token", "accessToken"];

/// Keys of tokens by which others are got.
const REFRESH: [&str; 3] = ["refresh", "refresh_token", "refreshToken"];

/// Keys of other fields that are new in a renewed login.
const RENEWED: [&str; 14] = [
    "id_token",
    "idToken",
    "expires",
    "expires_at",
    "expiresAt",
    "expires_in",
    "expiry_date",
    "refreshTokenExpiresAt",
    LAST,
    "scope",
    "scopes",
    "subscriptionType",
    "rateLimitTier",
    "isUsingOverage",
];

/// Keys of the moment at which a token ends, in seconds or milliseconds since 1970.
const ENDS: [&str; 4] = ["expires", "expires_at", "expiresAt", "expiry_date"];

/// The key of the moment at which a login was last renewed: Codex renews by it.
const LAST: &str = "last_refresh";

/// Claims of a readable token that identify its owner.
const WHOSE: [&str; 6] = [
    "iss",
    "sub",
    "email",
    "chatgpt_account_id",
    "chatgpt_user_id",
    "user_id",
];

/// So long before a token ends a client may renew it. They do so minutes before.
const SOON: SignedDuration = SignedDuration::from_hours(1);

/// So long after it was last renewed Codex may renew its login. It does so after eight days.
const OLD: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Milliseconds since 1970 are larger, and seconds smaller, for some thousand years.
const LEAST_MILLISECONDS: f64 = 1e11;

/// Whether a login is the one before, renewed by now.
pub(super) fn is_renewal(was: &[u8], renewed: &[u8], now: Timestamp) -> bool {
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let (Some(Value::Object(was)), Some(Value::Object(renewed))) = (read(was), read(renewed))
    else {
        return false;
    };
    let last = was.get(LAST).and_then(Value::as_str);
    let last = last.and_then(|last| last.parse::<Timestamp>().ok());
    let is_old = last.is_some_and(|last| now.duration_since(last) > OLD);
    may_become(&was, &renewed, now, is_old)
}

fn may_become(
    was: &Map<String, Value>,
    renewed: &Map<String, Value>,
    now: Timestamp,
    is_old: bool,
) -> bool {
    let differs = |keys: &[&str]| keys.iter().any(|key| was.get(*key) != renewed.get(*key));
    if was != renewed && !gets_another_token(was, renewed) {
        return false;
    }
    // A login without an expiry is not known to be about to end.
    let is_due = is_old || ends(was).is_some_and(|ends| ends.duration_since(now) <= SOON);
    if differs(&ACCESS) && !is_due {
        return false;
    }
    if !differs(&ACCESS) && has(was, &ACCESS) && (differs(&REFRESH) || differs(&RENEWED)) {
        return false;
    }
    let is_earlier = ends(was).is_some_and(|was| ends(renewed).is_some_and(|now| now < was));
    if is_earlier || (differs(&[LAST]) && !is_recent(renewed, now)) {
        return false;
    }
    let is_kept = was
        .iter()
        .all(|(key, value)| value.is_null() || renewed.contains_key(key));
    is_kept
        && renewed.iter().all(|(key, value)| {
            let known = [&ACCESS[..], &REFRESH, &RENEWED];
            let is_token = known.iter().any(|keys| keys.contains(&key.as_str()));
            match (was.get(key), value) {
                (Some(before), value) if before == value => true,
                (Some(Value::String(before)), Value::String(value)) => {
                    is_token && !value.is_empty() && is_of_same(before, value)
                }
                (Some(Value::Object(before)), Value::Object(value)) => {
                    may_become(before, value, now, is_old)
                }
                // A renewal may bring more fields than before, but no token that was not there.
                (None | Some(Value::Null), _) => RENEWED.contains(&key.as_str()),
                (Some(before), value) => {
                    is_token && std::mem::discriminant(before) == std::mem::discriminant(value)
                }
            }
        })
}

fn has(login: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().any(|key| login.contains_key(*key))
}

/// Whether an access token differs, here or at a deeper level.
fn gets_another_token(was: &Map<String, Value>, renewed: &Map<String, Value>) -> bool {
    ACCESS.iter().any(|key| was.get(*key) != renewed.get(*key))
        || was.iter().any(|(key, before)| {
            let objects = before
                .as_object()
                .zip(renewed.get(key).and_then(Value::as_object));
            objects.is_some_and(|(before, after)| gets_another_token(before, after))
        })
}

/// Whether a login claims that it was renewed just now, so that it is not old at once.
fn is_recent(login: &Map<String, Value>, now: Timestamp) -> bool {
    let last = login.get(LAST).and_then(Value::as_str);
    let last = last.and_then(|last| last.parse::<Timestamp>().ok());
    last.is_some_and(|last| now.duration_since(last) <= OLD)
}

/// Returns the expiry of a login, if it has one.
fn ends(login: &Map<String, Value>) -> Option<Timestamp> {
    let expiry = ENDS.iter().find_map(|key| login.get(*key)?.as_f64());
    let of_token = || {
        let token = ACCESS.iter().find_map(|key| login.get(*key)?.as_str())?;
        claims(token)?.get("exp")?.as_f64()
    };
    let expiry = expiry.or_else(of_token)?;
    let seconds = if expiry >= LEAST_MILLISECONDS {
        expiry / 1e3
    } else {
        expiry
    };
    Timestamp::from_second(seconds as i64).ok()
}

/// Whether two tokens belong to the same account, as far as they can be read.
fn is_of_same(before: &str, token: &str) -> bool {
    let Some(before) = claims(before) else {
        return true;
    };
    claims(token).is_some_and(|claims| whose(&before) == whose(&claims))
}

/// Returns the claims of a token, if it can be read (RFC 7519).
fn claims(token: &str) -> Option<Map<String, Value>> {
    let mut parts = token.split('.');
    let (_, claims, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&claims).ok()
}

/// Returns the claims that identify a token's owner, down to the second level.
fn whose(claims: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let deeper = claims.values().filter_map(Value::as_object);
    let all = std::iter::once(claims).chain(deeper);
    all.flat_map(|claims| {
        WHOSE
            .iter()
            .filter_map(|key| Some((*key, claims.get(*key)?)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn becomes(was: &Value, renewed: &Value) -> bool {
        is_renewal(
            was.to_string().as_bytes(),
            renewed.to_string().as_bytes(),
            now(),
        )
    }

    fn token(claims: &Value) -> String {
        format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
    }

    /// CAL-SEC-1: logins as each client renews them are taken back.
    #[test]
    fn a_renewed_login_is_known() {
        let soon = now().as_millisecond() + 60_000;
        let [ending, after] =
            [60, 7_200].map(|left| token(&json!({"exp": now().as_second() + left})));
        let codex = |number: u32, last: &str| {
            let claims = json!({
                "sub": "u", "exp": 1_768_000_000 + i64::from(number),
                "https://api.openai.com/auth": {"chatgpt_account_id": "a"},
            });
            json!({
                "OPENAI_API_KEY": null, "last_refresh": last,
                "tokens": {
                    "id_token": token(&claims), "access_token": token(&claims),
                    "refresh_token": format!("r{number}"), "account_id": "a",
                },
            })
        };
        for (was, renewed) in [
            (
                json!({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": soon, "scopes": ["x"]}}),
                json!({"claudeAiOauth": {"accessToken": "b", "refreshToken": "s", "expiresAt": soon + 1, "scopes": ["x"]}}),
            ),
            (
                json!({"anthropic": {"type": "oauth", "access": "a", "refresh": "r", "expires": 1}}),
                json!({"anthropic": {"type": "oauth", "access": "b", "refresh": "s", "expires": soon}}),
            ),
            (
                json!({"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "expiry_date": soon}),
                json!({"access_token": "b", "refresh_token": "r", "token_type": "Bearer", "expiry_date": soon + 1}),
            ),
            (
                codex(1, "2025-12-20T00:00:00Z"),
                codex(2, "2026-01-02T03:00:00.123456Z"),
            ),
            (
                json!({"OPENAI_API_KEY": null, "last_refresh": null, "tokens": {"access_token": ending}}),
                json!({"last_refresh": "2026-01-02T03:00:00Z", "tokens": {"access_token": after}}),
            ),
        ] {
            assert!(becomes(&was, &renewed), "{renewed}");
        }
    }

    /// CAL-SEC-1: nothing else is: another account, key, address or form, nor one that did not have to be renewed.
    #[test]
    fn what_is_no_renewal_is_left() {
        let later = now().as_millisecond() + 7_200_000;
        let soon = now().as_millisecond() + 60_000;
        let of = |name: &str| {
            let claims = token(&json!({"sub": name}));
            json!({"tokens": {"access_token": claims, "refresh_token": name, "account_id": "a"}})
        };
        for (was, renewed) in [
            (
                json!({"OPENAI_API_KEY": "a", "tokens": null}),
                json!({"OPENAI_API_KEY": "b"}),
            ),
            (
                json!({"OPENAI_API_KEY": "a"}),
                json!({"OPENAI_API_KEY": "b"}),
            ),
            (
                json!({"OPENAI_API_KEY": null}),
                json!({"OPENAI_API_KEY": "b"}),
            ),
            (json!({"a": {"access": "a"}}), json!({})),
            (json!({"a": {"access": "a"}}), json!({"a": {"access": ""}})),
            (
                json!({"a": {"access": "a"}}),
                json!({"a": {"access": "b", "refresh": "r"}}),
            ),
            (
                json!({"a": {"type": "oauth", "access": "a"}}),
                json!({"a": {"type": "wellknown", "access": "b"}}),
            ),
            (
                json!({"a": {"access": "a"}}),
                json!({"a": {"access": "a"}, "https://evil": {"access": "b"}}),
            ),
            (
                json!({"access_token": "a", "resource_url": "x"}),
                json!({"access_token": "b", "resource_url": "evil"}),
            ),
            (
                json!({"access": "a", "refresh": "r"}),
                json!({"access": "a", "refresh": "s"}),
            ),
            (
                json!({"accessToken": "a", "expiresAt": later}),
                json!({"accessToken": "b", "expiresAt": later}),
            ),
            // A stranger who brings the end near has his own tokens taken the next time.
            (
                json!({"accessToken": "a", "refreshToken": "r", "expiresAt": later}),
                json!({"accessToken": "a", "refreshToken": "r", "expiresAt": soon}),
            ),
            (
                json!({"last_refresh": "2026-01-01T00:00:00Z", "tokens": {"access_token": "a"}}),
                json!({"last_refresh": "2000-01-01T00:00:00Z", "tokens": {"access_token": "a"}}),
            ),
            (
                json!({"accessToken": "a", "expiresAt": soon}),
                json!({"accessToken": "b", "expiresAt": soon - 1}),
            ),
            (
                json!({"last_refresh": "2025-12-20T00:00:00Z", "tokens": {"access_token": "a"}}),
                json!({"last_refresh": "2000-01-01T00:00:00Z", "tokens": {"access_token": "b"}}),
            ),
            // These are not known to be about to expire.
            (
                json!({"access": "a", "refresh": "r"}),
                json!({"access": "b", "refresh": "s"}),
            ),
            (of("me"), of("evil")),
            (
                of("me"),
                json!({"tokens": {"access_token": "opaque", "refresh_token": "r", "account_id": "a"}}),
            ),
            (json!({"a": 1}), json!([])),
        ] {
            assert!(!becomes(&was, &renewed), "{renewed}");
        }
    }
}
