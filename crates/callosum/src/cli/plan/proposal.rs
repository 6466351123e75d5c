//! A model's proposal of a plan: accepted within the allowed bounds, or rejected, with the reasons
//! on record.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::plan::proposal`].

use callosum_app::plan::proposal::{parsed, source_at};
use callosum_app::plan::source::Source;
use callosum_plan::{Colours, Rejection};

use crate::ui::Ui;

/// Reports the rejections, with the places in the sources of the proposal.
pub(super) fn tell(rejections: &[Rejection], handed_in: &Source, ui: Ui) {
    let json = parsed(handed_in);
    for rejection in rejections {
        if let Some(source) = source_at(&json, rejection) {
            let name = format!("{}{}", handed_in.name, rejection.path);
            ui.say(&rejection.render(source, &name, Colours::Styled));
            ui.say("");
            continue;
        }
        ui.say(&rejection.to_string());
        if let Some(hint) = &rejection.hint {
            ui.hint(hint);
        }
    }
}
