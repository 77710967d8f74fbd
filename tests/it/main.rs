//! One test binary: the whole service, driven from outside.

mod aws;
mod callers;
mod circles;
mod command_line;
mod deadly_job;
mod doors;
mod faults;
mod features;
mod first_account;
mod gateway;
mod journeys;
mod layers;
mod limits;
mod mx;
mod names;
mod reference;
mod service;
mod sizes;
mod smtp;
mod template;
mod throttled;
mod traps;
mod upgrade;
mod variables;
