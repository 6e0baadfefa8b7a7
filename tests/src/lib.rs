//! Whole-system tests of Grov.
