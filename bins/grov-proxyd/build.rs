//! Configures how the program is linked.

#[path = "../link.rs"]
mod link;

fn main() {
    link::configure("grov-proxyd");
}
