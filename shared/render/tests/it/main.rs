//! The renderer from outside.

mod copy;
mod desk;
mod handlebars;
mod links;
