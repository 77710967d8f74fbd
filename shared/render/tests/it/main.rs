//! The renderer from outside.

mod copy;
mod desk;
mod golden;
mod handlebars;
mod links;
