//! The function from outside: requests in, answers out, on a table in memory.

#[cfg(test)]
mod fresh;
mod posts;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod test_app;
#[cfg(test)]
mod trial;
#[cfg(test)]
mod undelivered;
