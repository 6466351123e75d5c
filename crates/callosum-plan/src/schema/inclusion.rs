//! [`Schema::first_excluded`]: whether a type takes all that another type takes.
//!
//! Start with [`Inclusion::includes`]. The other type is split into parts of one kind (an integer, a map), each with the
//! predicates on it, and each part must be included. Deliberately incomplete where several members of a union together
//! include one part: then it reports a difference that is none. It never misses one.

use super::{
    Comparison, Predicate, Presence, Schema, Shape,
    fit::{Misfit, at_key},
    interval::{integers, is_bounded_by},
    part::{Part, is_map},
};
use crate::value::{Key, Value};

/// A value that one type takes and another does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The way to it from the whole, as `{:a}[]`; empty if it is the whole.
    pub place: String,
    /// Description of it, as `a string`.
    pub what: String,
}

/// Most integers of a range that are compared one by one.
const FEW: i128 = 64;

/// Characters of a literal in a message.
const SHOWN_LITERAL: usize = 40;

/// The kinds of values, which [`Shape::Any`] is the union of.
static KINDS: [Shape; 9] = [
    Shape::Nil,
    Shape::Bool,
    Shape::Int,
    Shape::Float,
    Shape::Text,
    Shape::Keyword,
    Shape::Function,
    Shape::AnyVector,
    Shape::AnyMap,
];

static BOOLEANS: [Value; 2] = [Value::Boolean(false), Value::Boolean(true)];

impl Schema {
    /// Returns the first thing that `other` takes and this type does not, or nothing if this type takes all of it.
    ///
    /// Looks at no more than `work` parts; larger types count as different. Reports a difference that is none for some
    /// unions, and never misses one.
    pub fn first_excluded(&self, other: &Self, work: u64) -> Option<Excluded> {
        if self.text == other.text {
            return None;
        }
        let mut inclusion = Inclusion { left: work };
        let included = inclusion.includes(&self.shape, Part::of(&other.shape));
        included.err().map(|misfit| Excluded {
            place: misfit.way,
            what: misfit.why,
        })
    }
}

struct Inclusion {
    left: u64,
}

type Included = Result<(), Misfit>;

impl Inclusion {
    /// Whether `whole` takes each value of a part.
    fn includes(&mut self, whole: &Shape, mut part: Part<'_>) -> Included {
        self.spend()?;
        while let Shape::And(base, predicates) = part.base {
            part.base = base;
            part.predicates.extend(predicates);
        }
        let members: &[Shape] = match part.base {
            _ if matches!(whole, Shape::Any) => return Ok(()),
            Shape::Never => return Ok(()),
            Shape::Union(members) => members,
            Shape::Any => &KINDS,
            // The same list has both.
            Shape::Number => &KINDS[2..4],
            Shape::Bool => return self.includes_each(whole, &BOOLEANS, &part),
            Shape::Nil => return self.includes_each(whole, &[Value::Nil], &part),
            Shape::Literals(literals) => return self.includes_each(whole, literals, &part),
            _ => return self.includes_kind(whole, &part),
        };
        for member in members {
            self.includes(whole, part.with(member))?;
        }
        Ok(())
    }

    /// Of a part that is of one kind.
    fn includes_kind(&mut self, whole: &Shape, part: &Part<'_>) -> Included {
        if self.is_empty(part)? {
            return Ok(());
        }
        for predicate in &part.predicates {
            if let Predicate::Equal(only) = predicate {
                return self.includes_each(whole, std::slice::from_ref(only), part);
            }
        }
        let holds_nothing = part.counts().1 == Some(0)
            || matches!(part.base, Shape::Vector(item) if self.is_empty_shape(item)?);
        if let Some(nothing) = part.nothing().filter(|_| holds_nothing) {
            return self.includes_each(whole, &[nothing], part);
        }
        if matches!(part.base, Shape::Int) {
            let (least, most) = integers(&part.predicates);
            if most - least < FEW {
                let few = (least..=most).filter_map(|one| i64::try_from(one).ok());
                let few: Vec<Value> = few.map(Value::Integer).collect();
                return self.includes_each(whole, &few, part);
            }
        }
        match whole {
            Shape::Union(members) => {
                let mut misfit = Misfit::default();
                for member in members {
                    match self.includes(member, part.clone()) {
                        Ok(()) => return Ok(()),
                        Err(too_large) if self.left == 0 => return Err(too_large),
                        Err(of_member) => of_member.replace_if_further(&mut misfit),
                    }
                }
                Err(misfit)
            }
            Shape::And(base, predicates) => {
                self.includes(base, part.clone())?;
                for predicate in predicates {
                    self.implies(part, predicate)?;
                }
                Ok(())
            }
            Shape::Vector(item) => self.items_included(item, part),
            Shape::Tuple(items) => match part.base {
                Shape::Tuple(own) if own.len() == items.len() => {
                    for (index, (item, own)) in items.iter().zip(own).enumerate() {
                        let included = self.includes(item, Part::of(own));
                        at(&format!("[{index}]"), included)?;
                    }
                    Ok(())
                }
                _ => Err(whole_of(part)),
            },
            Shape::Record(entries) => self.entries_included(entries, part),
            Shape::MapOf(key, value) => self.pairs_included(key, value, part),
            _ if is_kind_of(part.base, whole) => Ok(()),
            _ => Err(whole_of(part)),
        }
    }

    /// Whether `whole` takes each of these values that a part has.
    fn includes_each(&mut self, whole: &Shape, values: &[Value], part: &Part<'_>) -> Included {
        for value in values {
            if self.has(part, value)? && !self.fits(whole, value)? {
                return Err(Misfit::new(String::new(), &shown(value)));
            }
        }
        Ok(())
    }

    /// Whether a value is one of a part's.
    fn has(&mut self, part: &Part<'_>, value: &Value) -> Result<bool, Misfit> {
        if !self.fits(part.base, value)? {
            return Ok(false);
        }
        for predicate in &part.predicates {
            let mut permit = |parts| self.spend_many(parts);
            if !predicate.holds(value, &mut permit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fits(&mut self, shape: &Shape, value: &Value) -> Result<bool, Misfit> {
        let mut permit = |parts| self.spend_many(parts);
        shape.fits(value, &mut Misfit::default(), &mut permit)
    }

    fn items_included(&mut self, item: &Shape, part: &Part<'_>) -> Included {
        let own: &[Shape] = match part.base {
            Shape::AnyVector => std::slice::from_ref(&Shape::Any),
            Shape::Vector(own) => std::slice::from_ref(own.as_ref()),
            Shape::Tuple(own) => own,
            _ => return Err(whole_of(part)),
        };
        for own in own {
            at("[]", self.includes(item, Part::of(own)))?;
        }
        Ok(())
    }

    fn entries_included(
        &mut self,
        entries: &[(Key, Shape, Presence)],
        part: &Part<'_>,
    ) -> Included {
        if !is_map(part.base) {
            return Err(whole_of(part));
        }
        let possible = part.possible_keys();
        for (key, shape, presence) in entries {
            if *presence == Presence::Required && !part.requires(key) {
                return Err(Misfit::new(at_key(key), "an absent key"));
            }
            if possible.as_ref().is_none_or(|keys| keys.contains(key)) {
                self.value_included(shape, part, key)?;
            }
        }
        Ok(())
    }

    /// Whether a type takes the values that a part's maps have for a key.
    fn value_included(&mut self, shape: &Shape, part: &Part<'_>, key: &Key) -> Included {
        if let Shape::MapOf(keys, _) = part.base
            && !self.fits(keys, &key.to_value())?
        {
            return Ok(());
        }
        let types = part.types_of(key);
        let types = if types.is_empty() {
            vec![&Shape::Any]
        } else {
            types
        };
        let mut included = Ok(());
        for own in types {
            included = at(&at_key(key), self.includes(shape, Part::of(own)));
            if included.is_ok() {
                break;
            }
        }
        included
    }

    fn pairs_included(&mut self, key: &Shape, value: &Shape, part: &Part<'_>) -> Included {
        if !is_map(part.base) {
            return Err(whole_of(part));
        }
        if let Some(keys) = part.possible_keys() {
            for own in &keys {
                if !self.fits(key, &own.to_value())? {
                    return Err(Misfit::new(at_key(own), "this key"));
                }
                self.value_included(value, part, own)?;
            }
            return Ok(());
        }
        let (keys, values): (&Shape, &Shape) = match part.base {
            Shape::MapOf(keys, values) => (keys, values),
            _ => (&Shape::Any, &Shape::Any),
        };
        at("{}", self.includes(key, Part::of(keys)))?;
        at("{}", self.includes(value, Part::of(values)))
    }

    /// Whether a predicate holds for each value of a part.
    fn implies(&mut self, part: &Part<'_>, predicate: &Predicate) -> Included {
        let differs = |what: &str| Err(Misfit::new(String::new(), what));
        match predicate {
            Predicate::Compare(how, bound) if is_bounded_by(part, *how, bound) => Ok(()),
            Predicate::InRange(from, to)
                if is_bounded_by(part, Comparison::AtLeast, from)
                    && is_bounded_by(part, Comparison::AtMost, to) =>
            {
                Ok(())
            }
            Predicate::Compare(..) | Predicate::InRange(..) => {
                differs("a number out of these bounds")
            }
            Predicate::NotEqual(value) if !self.has(part, value)? => Ok(()),
            Predicate::Equal(_) | Predicate::NotEqual(_) => differs("another value"),
            Predicate::Length(how, bound) => {
                let (least, most) = part.counts();
                let allows = |count: usize| how.allows(count.cmp(bound));
                let is_implied = match how {
                    Comparison::AtLeast | Comparison::More => allows(least),
                    Comparison::Less | Comparison::AtMost => most.is_some_and(allows),
                    Comparison::Exactly => allows(least) && most.is_some_and(allows),
                };
                if is_implied {
                    Ok(())
                } else {
                    differs("another length")
                }
            }
            Predicate::Matches(pattern) => {
                let is_it = |own: &&Predicate| match own {
                    Predicate::Matches(own) => own.regex().as_str() == pattern.regex().as_str(),
                    _ => false,
                };
                if part.predicates.iter().any(is_it) {
                    Ok(())
                } else {
                    differs("a string that does not match this pattern")
                }
            }
            Predicate::HasKeys(keys) => match keys.iter().find(|key| !part.requires(key)) {
                Some(key) => Err(Misfit::new(at_key(key), "an absent key")),
                None => Ok(()),
            },
            Predicate::OnlyKeys(keys) => {
                let Some(possible) = part.possible_keys() else {
                    return differs("other keys");
                };
                for key in possible.iter().filter(|key| !keys.contains(key)) {
                    if self.may_have(part, key)? {
                        return Err(Misfit::new(at_key(key), "this key"));
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether a value of this part may have this key.
    fn may_have(&mut self, part: &Part<'_>, key: &Key) -> Result<bool, Misfit> {
        if let Shape::MapOf(keys, _) = part.base
            && !self.fits(keys, &key.to_value())?
        {
            return Ok(false);
        }
        for shape in part.types_of(key) {
            if self.is_empty_shape(shape)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_empty_shape(&mut self, shape: &Shape) -> Result<bool, Misfit> {
        self.spend()?;
        let mut part = Part::of(shape);
        while let Shape::And(base, predicates) = part.base {
            part.base = base;
            part.predicates.extend(predicates);
        }
        match part.base {
            Shape::Never => Ok(true),
            Shape::Union(members) => {
                for member in members {
                    let member = part.with(member);
                    let is_empty = if member.predicates.is_empty() {
                        self.is_empty_shape(member.base)?
                    } else {
                        self.is_empty(&member)?
                    };
                    if !is_empty {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => self.is_empty(&part),
        }
    }

    /// Whether no value is of a part, as far as that is easily seen.
    fn is_empty(&mut self, part: &Part<'_>) -> Result<bool, Misfit> {
        let is_number = matches!(part.base, Shape::Int | Shape::Float);
        let is_counted = part.nothing().is_some();
        let is_one_kind = is_number
            || is_counted
            || matches!(part.base, Shape::Keyword | Shape::Function | Shape::Text);
        let never_holds = |predicate: &&Predicate| match predicate {
            Predicate::Compare(..) | Predicate::InRange(..) => !is_number,
            Predicate::Length(..) => !is_counted,
            Predicate::Matches(_) => !matches!(part.base, Shape::Text),
            Predicate::HasKeys(_) | Predicate::OnlyKeys(_) => !is_map(part.base),
            Predicate::Equal(_) | Predicate::NotEqual(_) => false,
        };
        if is_one_kind && part.predicates.iter().any(never_holds) {
            return Ok(true);
        }
        if is_counted {
            let (least, most) = part.counts();
            if most.is_some_and(|most| most < least) {
                return Ok(true);
            }
            if let Shape::Vector(item) = part.base
                && least > 0
            {
                return self.is_empty_shape(item);
            }
        }
        if let (Shape::Int, (least, most)) = (part.base, integers(&part.predicates)) {
            return Ok(most < least);
        }
        if let Shape::Tuple(items) = part.base {
            for item in items {
                if self.is_empty_shape(item)? {
                    return Ok(true);
                }
            }
        }
        let possible = part.possible_keys();
        for key in part.required_keys() {
            let is_possible = possible.as_ref().is_none_or(|keys| keys.contains(&key));
            if !is_possible || !self.may_have(part, &key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn spend(&mut self) -> Result<(), Misfit> {
        self.spend_many(1)
    }

    fn spend_many(&mut self, parts: u64) -> Result<(), Misfit> {
        let left = self.left.checked_sub(parts);
        self.left = left.ok_or_else(|| {
            Misfit::new(
                String::new(),
                "what a type that is too large to compare takes",
            )
        })?;
        Ok(())
    }
}

/// Whether each value of a shape of one kind is of a simple shape.
fn is_kind_of(shape: &Shape, simple: &Shape) -> bool {
    match simple {
        Shape::Int | Shape::Float => {
            std::mem::discriminant(shape) == std::mem::discriminant(simple)
        }
        Shape::Number => matches!(shape, Shape::Int | Shape::Float),
        Shape::Text => matches!(shape, Shape::Text),
        Shape::Keyword => matches!(shape, Shape::Keyword),
        Shape::Function => matches!(shape, Shape::Function),
        Shape::AnyVector => {
            matches!(shape, Shape::AnyVector | Shape::Vector(_) | Shape::Tuple(_))
        }
        Shape::AnyMap => is_map(shape),
        _ => false,
    }
}

fn whole_of(part: &Part<'_>) -> Misfit {
    Misfit::new(String::new(), part.noun())
}

fn at(step: &str, included: Included) -> Included {
    included.map_err(|mut misfit| {
        misfit.way.insert_str(0, step);
        misfit
    })
}

/// A literal for a message, or its kind if it is long.
fn shown(value: &Value) -> String {
    let text = value.to_text(SHOWN_LITERAL as u64);
    text.unwrap_or_else(|_| value.noun().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(of: &str, other: &str) -> Option<String> {
        let (of, other) = (Schema::read(of).unwrap(), Schema::read(other).unwrap());
        let excluded = of.first_excluded(&other, 100_000)?;
        Some(format!("{} {}", excluded.place, excluded.what))
    }

    /// CCOS-CAP-1: what one type takes and another does not is found, with its place.
    #[test]
    fn a_type_includes_another_or_its_first_difference_is_named() {
        for (of, other) in [
            ("Any", "[:union Int [:vector String]]"),
            ("[:union Int Float Nil]", "[:union Number Nil]"),
            ("[:union [:val true] [:val false]]", "Bool"),
            ("[:and Int [:>= 0] [:<= 10]]", "[:and Int [:> 0] [:< 10]]"),
            ("[:enum 1 2 3]", "[:and Int [:>= 1] [:<= 3]]"),
            ("[:and Number [:>= 0]]", "[:and Number [:> 0.5]]"),
            ("[:and String [:min-length 1]]", "[:enum \"a\" \"bc\"]"),
            (
                "[:map [:a Int ?]]",
                "[:and [:map [:a Int] [:b Int]] [:only-keys [:a :b]]]",
            ),
            (
                "[:map-of Keyword Int]",
                "[:and [:map [:a Int]] [:only-keys [:a]]]",
            ),
            ("[:map [:a Int ?]]", "[:and Map [:only-keys [:b]]]"),
            ("[:vector Int]", "[:vector Never]"),
            ("[:vector Int]", "[:tuple Int [:val 3]]"),
            ("Int", "[:and String [:> 3]]"),
            ("Int", "[:map [:a Never]]"),
            (
                "[:and Map [:only-keys [:a]]]",
                "[:and [:map [:a Int] [:b Never ?]] [:only-keys [:a :b]]]",
            ),
        ] {
            assert_eq!(excluded(of, other), None, "{of} {other}");
        }
        for (of, other, expected) in [
            ("Int", "Number", " a float"),
            ("[:map [:a Int]]", "[:map [:a Int ?]]", "{:a} an absent key"),
            (
                "[:map [:a [:vector String]]]",
                "[:map [:a [:vector [:union Nil String]]]]",
                "{:a}[] nil",
            ),
            ("[:enum :a :b]", "[:enum :b :c]", " :c"),
            (
                "[:and Int [:>= 1]]",
                "[:and Int [:>= 0]]",
                " a number out of these bounds",
            ),
            (
                "[:and [:map [:a Int]] [:only-keys [:a]]]",
                "[:map [:a Int]]",
                " other keys",
            ),
            (
                "[:and String [:matches-regex \"a\"]]",
                "[:and String [:matches-regex \"b\"]]",
                " a string that does not match this pattern",
            ),
        ] {
            assert_eq!(
                excluded(of, other).as_deref(),
                Some(expected),
                "{of} {other}"
            );
        }
    }

    #[test]
    fn types_that_are_too_large_to_compare_count_as_different() {
        let large: Vec<String> = (0..2_000).map(|n| format!("[:map [:k{n} Int]]")).collect();
        let large = format!("[:union {}]", large.join(" "));
        let other = Schema::read(&format!("[:union Int {large}]")).unwrap();
        let large = Schema::read(&large).unwrap();
        assert_eq!(large.first_excluded(&large, 10), None);
        let excluded = other.first_excluded(&large, 100_000).unwrap();
        assert!(excluded.what.contains("too large"), "{excluded:?}");
    }
}
