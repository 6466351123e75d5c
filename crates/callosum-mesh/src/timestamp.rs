//! A point of time as it is written in JSON: a text, as in `2026-01-02T03:04:05.678Z`.

use jiff::Timestamp;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

pub(crate) fn serialize<S: Serializer>(moment: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(moment)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    text.parse().map_err(D::Error::custom)
}

/// The same, where there may be none.
pub(crate) mod optional {
    use jiff::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    #[expect(clippy::ref_option, reason = "serde hands a field over like this")]
    pub(crate) fn serialize<S: Serializer>(
        moment: &Option<Timestamp>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        moment.map(|moment| moment.to_string()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let moment = text.map(|text| text.parse()).transpose();
        moment.map_err(D::Error::custom)
    }
}
