//! One test binary: the whole service, driven from outside.

mod callers;
mod command_line;
mod gateway;
mod inbound_smtp;
mod journeys;
mod layers;
mod limits;
mod service;
mod smtp;
mod template;
mod traps;
