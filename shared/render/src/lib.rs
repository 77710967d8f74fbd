//! Renders each recipient's copy of a mail: its content, and the targets of its links.
//!
//! Pure: settings, template, data, keys and the time come in, text goes out. The order is fixed
//! (API facts 7): substitutions or template, footer, unsubscribe tags, utm parameters, click
//! tracking, open pixel. Everything else stays byte for byte as it came.

mod budget;
mod content;
mod copy;
mod entity;
mod finish;
mod html;
mod link;
mod longest;
mod pictures;
mod plain;
mod rewrite;
pub mod settings;
mod substitute;
mod tags;
mod template;
mod token;
mod unsubscribe;
mod wire;

pub use budget::{Budget, MAX_OUTPUT, RenderError};
pub use content::Input;
pub use copy::{Rendered, render};
pub use entity::{EntityContext, decode as decode_entities};
pub use html::memory as html_memory;
pub use link::{CLICK_PATH, Links, OPEN_PATH, PREFERENCES_PATH, TOKEN_PARAMETER, UNSUBSCRIBE_PATH};
pub use pictures::{OwnPictures, with_pictures};
pub use plain::from_html as plain_from_html;
pub use posthaste_model::AccountDefaults;
pub use settings::{Effective, effective};
pub use substitute::substituted;
pub use template::{
    CompileError, Compiled, Generation, LARGEST as LARGEST_TEMPLATE, TemplateField,
    TemplateVersion, has_body_tag, missing_variables,
};
pub use token::{InvalidKey, InvalidToken, KeyRing, LinkAction, LinkPart, LinkToken};
