//! [`Schema::mismatch_of_known`]: a type checked against the parts of a value that are known before the program runs.
//!
//! Follows `fit`, part by part; a part that the program computes fits every type.

use std::collections::BTreeSet;

use super::{Predicate, Presence, Schema, Shape, fit::Misfit, fit::at_key};
use crate::{
    call_site::KnownValue,
    value::{Key, Value},
};

impl Schema {
    /// Returns the first thing about the known parts that doesn't fit, and nothing if they may be a part of a value
    /// that fits.
    ///
    /// Looks at no more than `work` parts; a value that has more does not fit.
    pub fn mismatch_of_known(&self, value: &KnownValue, work: u64) -> Option<String> {
        let mut left = work;
        let mut permit = |parts: u64| {
            left = left.checked_sub(parts).ok_or(())?;
            Ok::<(), ()>(())
        };
        let mut misfit = Misfit::default();
        match self.shape.may_fit(value, &mut misfit, &mut permit) {
            Ok(true) => None,
            Ok(false) => Some(self.mismatch_text(misfit)),
            Err(()) => Some(self.too_large_text()),
        }
    }

    /// Returns the keys that the type's maps name; nothing if it takes a map with any keys.
    pub fn named_keys(&self) -> Option<BTreeSet<Key>> {
        let mut keys = BTreeSet::new();
        self.shape.name_keys(&mut keys).then_some(keys)
    }
}

impl Shape {
    /// Collects the keys of maps, and returns whether the type names all of them.
    fn name_keys(&self, keys: &mut BTreeSet<Key>) -> bool {
        match self {
            Self::Record(entries) => {
                keys.extend(entries.iter().map(|(key, ..)| key.clone()));
                true
            }
            Self::Union(shapes) => shapes.iter().all(|shape| shape.name_keys(keys)),
            Self::And(base, _) => base.name_keys(keys),
            Self::Any | Self::AnyMap | Self::MapOf(..) | Self::Literals(_) => false,
            _ => true,
        }
    }

    fn may_fit<E>(
        &self,
        value: &KnownValue,
        misfit: &mut Misfit,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        permit(1)?;
        Ok(match (self, value) {
            (_, KnownValue::Whole(value)) => return self.fits(value, misfit, permit),
            (_, KnownValue::Unknown)
            | (Self::Any | Self::Literals(_), _)
            | (Self::AnyVector, KnownValue::Vector(_))
            | (Self::AnyMap, KnownValue::Map(_)) => true,
            (Self::Vector(item), KnownValue::Vector(items)) => {
                for (index, value) in items.iter().enumerate() {
                    if !within(item, value, misfit, &format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Tuple(shapes), KnownValue::Vector(items)) => {
                if shapes.len() != items.len() {
                    return Ok(false);
                }
                for (index, (shape, value)) in shapes.iter().zip(items).enumerate() {
                    if !within(shape, value, misfit, &format!("[{index}]"), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Record(entries), KnownValue::Map(map)) => {
                for (key, shape, presence) in entries {
                    permit(1 + key.weight() / 256)?;
                    let Some(value) = map.get(key) else {
                        if *presence == Presence::Required {
                            *misfit = Misfit::new(at_key(key), "is missing");
                            return Ok(false);
                        }
                        continue;
                    };
                    if !within(shape, value, misfit, &at_key(key), permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::MapOf(key_shape, shape), KnownValue::Map(map)) => {
                for (key, value) in map {
                    permit(1 + key.weight() / 256)?;
                    let own = KnownValue::Whole(key.to_value());
                    if !within(key_shape, &own, misfit, &at_key(key), permit)?
                        || !within(shape, value, misfit, &at_key(key), permit)?
                    {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Union(shapes), value) => {
                for shape in shapes {
                    let mut of_shape = Misfit::default();
                    if shape.may_fit(value, &mut of_shape, permit)? {
                        return Ok(true);
                    }
                    of_shape.replace_if_further(misfit);
                }
                false
            }
            (Self::And(base, predicates), value) => {
                if !base.may_fit(value, misfit, permit)? {
                    return Ok(false);
                }
                for predicate in predicates {
                    if !predicate.may_hold(value, misfit, permit)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }
}

impl Predicate {
    /// Checks what depends on keys and lengths alone; values may still be computed.
    fn may_hold<E>(
        &self,
        value: &KnownValue,
        misfit: &mut Misfit,
        permit: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        let keys_or_length = matches!(
            self,
            Self::OnlyKeys(_) | Self::HasKeys(_) | Self::Length(..)
        );
        // The length and the keys of a map or vector are those of one with nil for each value.
        let outline = match value {
            KnownValue::Map(map) if keys_or_length => {
                Value::map(map.keys().map(|key| (key.clone(), Value::Nil)).collect())
            }
            KnownValue::Vector(items) if keys_or_length => {
                Value::vector(vec![Value::Nil; items.len()])
            }
            _ => return Ok(true),
        };
        let fits = Shape::And(Box::new(Shape::Any), vec![self.clone()]);
        fits.fits(&outline, misfit, permit)
    }
}

fn within<E>(
    shape: &Shape,
    value: &KnownValue,
    misfit: &mut Misfit,
    step: &str,
    permit: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<bool, E> {
    let fits = shape.may_fit(value, misfit, permit)?;
    if !fits {
        if misfit.why.is_empty() {
            misfit.why = match value {
                KnownValue::Whole(value) => format!("is {}", value.noun()),
                KnownValue::Vector(_) => "is a vector".to_owned(),
                KnownValue::Map(_) => "is a map".to_owned(),
                KnownValue::Unknown => "does not fit".to_owned(),
            };
        }
        misfit.way.insert_str(0, step);
    }
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, compile};

    fn mismatch(schema: &str, argument: &str) -> Option<String> {
        let source = format!("(defplan p (x) (call :a {argument}))");
        let program = compile(&source, &CompileOptions::default()).unwrap();
        let [site] = program.calls() else {
            panic!("{source} has one call");
        };
        let schema = Schema::read(schema).unwrap();
        schema.mismatch_of_known(&site.arguments[0], 1000)
    }

    #[test]
    fn computed_parts_fit_and_the_others_are_checked() {
        let record = "[:map [:a String] [:b [:vector Int] ?]]";
        for fine in [
            "x",
            "{:a x}",
            "{:a \"s\" :b x}",
            "{:a x :b [1 x (inc 2)]}",
            "{:a (str x)}",
        ] {
            assert_eq!(mismatch(record, fine), None, "{fine}");
        }
        for (wrong, why) in [
            ("{:b [x]}", "the value{:a} is missing"),
            ("{:a 1 :b x}", "the value{:a} is an integer"),
            ("{:a x :b [1 \"2\" x]}", "the value{:b}[1] is a string"),
            ("{:a [x]}", "the value{:a} is a vector"),
            ("[x]", "the value is not of type"),
        ] {
            let message = mismatch(record, wrong).expect(wrong);
            assert!(message.starts_with(why), "{wrong}: {message}");
        }
    }

    #[test]
    fn keys_and_lengths_are_checked_beside_computed_values() {
        let closed = "[:and [:map [:a Any ?]] [:only-keys [:a]]]";
        assert_eq!(mismatch(closed, "{:a x}"), None);
        assert!(mismatch(closed, "{:a x :b 1}").is_some());
        let short = "[:and [:vector Int] [:max-length 2]]";
        assert_eq!(mismatch(short, "[x 1]"), None);
        assert!(mismatch(short, "[x 1 2]").is_some());
        let either = "[:union String [:map [:path String]]]";
        assert_eq!(mismatch(either, "{:path x}"), None);
        assert!(mismatch(either, "{:pth x}").is_some());
    }

    #[test]
    fn the_names_of_a_types_keys_are_known_unless_it_takes_any() {
        let keys = |schema: &str| {
            let keys = Schema::read(schema).unwrap().named_keys()?;
            Some(
                keys.iter()
                    .map(|key| key.to_value().to_string())
                    .collect::<Vec<_>>(),
            )
        };
        let either = "[:union String [:map [:a Int] [:b Int ?]] [:vector Never]]";
        assert_eq!(keys(either), Some(vec![":a".to_owned(), ":b".to_owned()]));
        assert_eq!(keys("[:union Map [:map [:a Int]]]"), None);
        assert_eq!(keys("Any"), None);
    }
}
