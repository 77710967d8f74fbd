//! The rules of a version (API facts, section 1, "Templates"): from a draft to what is stored.

use posthaste_http::Rejection;
use posthaste_model::{Problems, TemplateId};
use posthaste_render::{
    Compiled, Generation, LARGEST_TEMPLATE, TemplateVersion, has_body_tag, plain_from_html,
};
use posthaste_store::{Version, VersionTexts};

use crate::wire::Draft;

/// The longest name, in characters.
pub(crate) const LONGEST_NAME: usize = 100;

/// The longest subject, in characters.
const LONGEST_SUBJECT: usize = 255;

/// Applies a draft to a new version, which must have a name and a subject.
pub(crate) async fn apply_new(
    template: &TemplateId,
    draft: Draft,
    version: &mut Version,
    texts: &mut VersionTexts,
) -> Result<(), Rejection> {
    let mut found = Problems::default();
    for (field, given) in [("name", &draft.name), ("subject", &draft.subject)] {
        found.unless(given.is_some(), field, "missing required argument");
    }
    apply_with(template, draft, version, texts, found).await
}

/// Applies a draft to a version and its texts: omitted fields are unchanged, and all problems are
/// reported at once. Only a version that can be sent is stored.
///
/// # Errors
/// 400 with every problem; a template that cannot be compiled with its line and reason.
pub(crate) async fn apply(
    template: &TemplateId,
    draft: Draft,
    version: &mut Version,
    texts: &mut VersionTexts,
) -> Result<(), Rejection> {
    apply_with(template, draft, version, texts, Problems::default()).await
}

async fn apply_with(
    template: &TemplateId,
    draft: Draft,
    version: &mut Version,
    texts: &mut VersionTexts,
    found: Problems,
) -> Result<(), Rejection> {
    let own = [&draft.html_content, &draft.plain_content, &draft.test_data];
    let own: usize = own.into_iter().flatten().map(String::len).sum();
    let size = own + texts.html_content.len() + texts.plain_content.len();
    posthaste_offload::run(size, || apply_draft(template, draft, version, texts, found)).await
}

fn apply_draft(
    template: &TemplateId,
    draft: Draft,
    version: &mut Version,
    texts: &mut VersionTexts,
    mut found: Problems,
) -> Result<(), Rejection> {
    name(draft.name.as_deref(), &mut found);
    check_flags(template, &draft, &mut found);
    check_texts(template, &draft, &mut found);
    found.into_result()?;
    let made = as_rendered(template, version, texts).makes_plain();
    let own = draft.plain_content.is_some();
    set(&mut version.name, draft.name);
    set(&mut version.subject, draft.subject);
    set(&mut version.editor, draft.editor);
    set(&mut texts.html_content, draft.html_content);
    set(&mut texts.plain_content, draft.plain_content);
    set(&mut texts.test_data, draft.test_data);
    if let Some(generate) = draft.generate_plain_content {
        version.generate_plain_content = generate;
    }
    // A text generated from the old HTML is generated again from the new one.
    if version.generate_plain_content && made && !own {
        texts.plain_content.clear();
    }
    if as_rendered(template, version, texts).makes_plain() {
        texts.plain_content = plain_from_html(&texts.html_content);
    }
    version.has_content = !(texts.html_content.is_empty() && texts.plain_content.is_empty());
    compile(template, version, texts).map(|_| ()).map_err(|e| {
        Rejection::on(
            &e.field.to_string(),
            format!("line {}: {}", e.line, e.reason),
        )
    })
}

fn set(slot: &mut String, value: Option<String>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// A given name must be valid.
pub(crate) fn name(name: Option<&str>, found: &mut Problems) {
    let Some(name) = name else { return };
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    let message = format!("name must have 1 to {LONGEST_NAME} characters");
    found.unless(fits, "name", &message);
}

fn check_flags(template: &TemplateId, draft: &Draft, found: &mut Problems) {
    let active = matches!(draft.active, None | Some(0 | 1));
    found.unless(active, "active", "active must be 0 or 1");
    let editor = matches!(draft.editor.as_deref(), None | Some("code" | "design"));
    found.unless(editor, "editor", "editor must be code or design");
    let Some(data) = draft.test_data.as_deref().filter(|data| !data.is_empty()) else {
        return;
    };
    if !template.is_dynamic() {
        found.add("test_data", "test_data is for dynamic templates only");
    } else if !matches!(serde_json::from_str(data), Ok(serde_json::Value::Object(_))) {
        found.add("test_data", "test_data must be a JSON object");
    }
}

fn check_texts(template: &TemplateId, draft: &Draft, found: &mut Problems) {
    let subject = draft.subject.as_deref().unwrap_or_default();
    let message = format!("subject exceeds {LONGEST_SUBJECT} characters");
    let fits = subject.chars().count() <= LONGEST_SUBJECT;
    found.unless(fits, "subject", &message);
    for (field, text) in [
        ("html_content", &draft.html_content),
        ("plain_content", &draft.plain_content),
    ] {
        let text = text.as_deref().unwrap_or_default();
        let message = format!("{field} exceeds {LARGEST_TEMPLATE} bytes");
        found.unless(text.len() <= LARGEST_TEMPLATE, field, &message);
        if !template.is_dynamic() && !text.is_empty() && !has_body_tag(text) {
            found.add(field, "a legacy template must contain <%body%>");
        }
    }
}

/// The version as the renderer sends it.
pub(crate) fn compile(
    template: &TemplateId,
    version: &Version,
    texts: &VersionTexts,
) -> Result<Compiled, posthaste_render::CompileError> {
    Compiled::compile(&as_rendered(template, version, texts))
}

fn as_rendered<'a>(
    template: &TemplateId,
    version: &'a Version,
    texts: &'a VersionTexts,
) -> TemplateVersion<'a> {
    TemplateVersion {
        generation: Generation::of(template),
        subject: &version.subject,
        html_content: &texts.html_content,
        plain_content: &texts.plain_content,
        generate_plain_content: version.generate_plain_content,
    }
}
