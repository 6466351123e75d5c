//! [`Layout`]: the frame of every page, with the menu and the project.

use askama::Template;

use super::{VIEWS, View};
use crate::{
    assets, command::CommandFailure, project::Project, rendered::Rendered, site::Notice,
    visit::Visit,
};

/// The frame of a view.
#[derive(Template)]
#[template(path = "layout.html")]
pub(crate) struct Layout {
    version: &'static str,
    assets: &'static str,
    view: &'static View,
    project: Project,
    projects: Vec<Project>,
    subjects: String,
    token: String,
    notice: Option<Notice>,
    faults: Vec<CommandFailure>,
    main: Rendered,
}

impl Layout {
    /// Returns the page of a view, whose part below the menu is `main`.
    pub(crate) fn new(
        visit: &Visit,
        view: &'static View,
        main: String,
        notice: Option<Notice>,
    ) -> Self {
        let subjects: Vec<_> = view
            .subjects
            .iter()
            .map(|subject| subject.as_str())
            .collect();
        Self {
            version: visit.shared.setting.version,
            assets: assets::version(),
            view,
            project: visit.project.clone(),
            projects: visit.shared.projects(),
            subjects: subjects.join(" "),
            token: visit.shared.setting.token.as_str().to_owned(),
            notice,
            faults: visit.faults(),
            main: Rendered(with_form_fields(&main, visit)),
        }
    }
}

/// Mark in a template at which a form gets the secret of this page and the way back.
const FORM_FIELDS: &str = "<!--form-->";

/// Fills the forms of a view. No text from elsewhere can be taken for the mark, since templates escape `<`.
fn with_form_fields(main: &str, visit: &Visit) -> String {
    let fields = FormFields {
        token: visit.shared.setting.token.as_str(),
        back: visit.here(),
    };
    main.replace(FORM_FIELDS, &fields.render().unwrap_or_default())
}

/// Hidden fields of a form.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<input type="hidden" name="token" value="{{ token }}"><input type="hidden" name="back" value="{{ back }}">"#
)]
struct FormFields<'t> {
    token: &'t str,
    back: String,
}

/// The page that asks for the token of a proxy.
#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    assets: &'static str,
}

/// The page of a machine without projects.
#[derive(Template)]
#[template(path = "empty.html")]
struct Empty {
    assets: &'static str,
}

/// Returns the page that asks for the token of a proxy.
pub(crate) fn login() -> String {
    let page = Login {
        assets: assets::version(),
    };
    page.render().unwrap_or_default()
}

/// Returns the page of a machine without projects.
pub(crate) fn without_projects() -> String {
    let page = Empty {
        assets: assets::version(),
    };
    page.render().unwrap_or_default()
}
