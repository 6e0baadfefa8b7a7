//! How the program is linked.

#[path = "../link.rs"]
mod link;

fn main() {
    link::ask("grov-proxyd");
}
