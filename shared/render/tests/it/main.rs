//! The renderer from outside.

mod copy;
mod corpus;
mod desk;
mod golden;
mod handlebars;
mod links;
