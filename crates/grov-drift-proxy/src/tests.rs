//! Tests with a store and a judge in memory.

mod bench;
mod corrections;
mod double;
mod judging;
mod restart;
mod resumed;
mod users;
mod waiting;
