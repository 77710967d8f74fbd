//! The worker between queues in memory and receivers that behave and misbehave.

#[cfg(test)]
mod count;
#[cfg(test)]
mod env;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod forward;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod news;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod search;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod visits;
