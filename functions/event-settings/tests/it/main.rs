//! The function from outside: requests in, answers out, on a table in memory.

#[cfg(test)]
mod api;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod undelivered;
