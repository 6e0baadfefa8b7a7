//! The judge without a model: deterministic rules over prompts, actions and answers.
