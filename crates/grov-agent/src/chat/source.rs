//! What an answer may cite: the passages and items that the model was given.

use crate::{Category, MemoryItem, Passage, Retrieved, SourceKind};

/// A passage or an item of memory that the model is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    /// What it is.
    pub(crate) kind: SourceKind,
    /// The id of the chunk or item.
    pub(crate) id: String,
    /// The document's title, or the item's type.
    pub(crate) title: String,
    /// Headings above the chunk, outermost first.
    pub(crate) heading_path: Vec<String>,
    /// The category of the document; `None` for memory.
    pub(crate) category: Option<Category>,
    /// The text.
    pub(crate) text: String,
    /// Why an item is given whatever was asked; `None` for what was found.
    pub(crate) standing: Option<Standing>,
}

/// Why an item is given whatever was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An accepted rule.
    Rule,
    /// A commitment that is not done.
    OpenLoop,
    /// One of the last events.
    Event,
    /// An idea in force.
    Idea,
}

/// Returns the sources: documents in the order of their categories, memory that was found, then the situation. Within a
/// category the best come first.
pub(crate) fn sources(retrieved: &Retrieved) -> Vec<Source> {
    let mut found: Vec<Source> = retrieved.passages.iter().map(of_passage).collect();
    // Stable: within a category the order of the search stays. Memory has no category and comes last.
    found.sort_by_key(|source| source.category.map_or((1, None), |category| (0, Some(category))));
    let situation = &retrieved.situation;
    let standing = [
        (&situation.rules, Standing::Rule),
        (&situation.open_loops, Standing::OpenLoop),
        (&situation.recent_events, Standing::Event),
        (&situation.active_ideas, Standing::Idea),
    ];
    let standing: Vec<Source> = standing
        .into_iter()
        .flat_map(|(items, standing)| items.iter().map(move |item| of_item(item, standing)))
        .collect();
    found.retain(|source| {
        !standing
            .iter()
            .any(|other| other.kind == source.kind && other.id == source.id)
    });
    found.extend(standing);
    found
}

fn of_passage(passage: &Passage) -> Source {
    let document = passage.document.as_ref();
    let item_type = passage.item_type.map_or("memory", crate::MemoryType::as_str);
    Source {
        kind: passage.kind,
        id: passage.id.clone(),
        title: document.map_or_else(|| item_type.to_owned(), |document| document.title.clone()),
        heading_path: document
            .map(|document| document.heading_path.clone())
            .unwrap_or_default(),
        category: document.map(|document| document.category),
        text: passage.text.clone(),
        standing: None,
    }
}

fn of_item(item: &MemoryItem, standing: Standing) -> Source {
    Source {
        kind: SourceKind::Memory,
        id: item.id.to_string(),
        title: item.kind.as_str().to_owned(),
        heading_path: Vec::new(),
        category: None,
        text: item.content.clone(),
        standing: Some(standing),
    }
}
