//! [`UniqueKeys`]: JSON without duplicate keys in any object.
//!
//! Of two values under one key, one reader takes the first and another the last, both silently.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value as Json};

/// Most characters of a key that an error shows.
const LONGEST_SHOWN: usize = 80;

/// A JSON value; deserializing one with a duplicate key fails and names the key.
pub struct UniqueKeys(pub Json);

struct UniqueKeysVisitor;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                let shown: String = key.chars().take(LONGEST_SHOWN).collect();
                return Err(A::Error::custom(format_args!("duplicate key `{shown}`")));
            }
            let UniqueKeys(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_an_error() {
        for json in [
            r#"{"a": [1, -2, 1.5, null, true, "x\n"], "b": {"a": {}}}"#,
            "18446744073709551615",
            "\"a\"",
        ] {
            let UniqueKeys(read) = serde_json::from_str(json).unwrap();
            assert_eq!(read, serde_json::from_str::<Json>(json).unwrap());
        }
        for json in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "\u0061": 2}}]"#] {
            let refused = serde_json::from_str::<UniqueKeys>(json).err().unwrap();
            let message = refused.to_string();
            assert!(message.starts_with("duplicate key `a`"), "{message}");
        }
    }
}
