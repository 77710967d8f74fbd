//! One test binary: the whole service, driven from outside.

mod gateway;
mod template;
