//! Search by words.

use super::Store;
use super::sample::{self, NOW, document, item, scope, stored_item};
use grov_agent::{
    Category, MemoryChange, MemoryStatus, MemoryType, ProjectId, SearchBy, SearchFilter, SearchScope,
};
use grov_redact::Redacted;
use time::Duration;

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The texts of the chunks that the words find, best first.
async fn texts(store: &Store, project: ProjectId, words: &[&str]) -> Vec<String> {
    let filter = SearchFilter::default();
    let words = owned(words);
    let found = store
        .find_chunks(&SearchBy::Words(&words), &scope(project, &filter))
        .await
        .unwrap();
    assert!(
        found.windows(2).all(|pair| pair[0].score >= pair[1].score),
        "best first"
    );
    found.into_iter().map(|found| found.text).collect()
}

async fn contents(store: &Store, scope: &SearchScope<'_>, words: &[&str]) -> Vec<String> {
    let words = owned(words);
    let found = store.find_items(&SearchBy::Words(&words), scope).await.unwrap();
    found.into_iter().map(|found| found.item.content).collect()
}

/// See the name.
pub async fn words_find_chunks_of_the_project_only(store: Store) {
    let (mine, other) = (sample::project(&*store).await, sample::project(&*store).await);
    for (project, text) in [
        (mine, "The shop opens at nine."),
        (other, "The shop opens at ten."),
    ] {
        let parts: [(&[&str], &str); 2] = [(&["Hours"], text), (&["Staff"], "Anna and Bert.")];
        let new = document(project, "guide.md", Category::Facts, &parts);
        store.store_document(&new).await.unwrap();
    }
    let filter = SearchFilter::default();
    let words = owned(&["opens", "unknown"]);
    let found = store
        .find_chunks(&SearchBy::Words(&words), &scope(mine, &filter))
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    let chunk = &found[0];
    assert_eq!(chunk.text, "The shop opens at nine.");
    assert_eq!(
        (chunk.title.as_str(), chunk.category),
        ("guide.md", Category::Facts)
    );
    assert_eq!(chunk.heading_path, ["Hours"]);
    assert_eq!(chunk.updated_at, NOW);
    assert_eq!(chunk.range, 0..23);
    assert_eq!(texts(&store, mine, &["unknown"]).await, [""; 0]);
    assert_eq!(texts(&store, mine, &[]).await, [""; 0]);
    assert_eq!(texts(&store, ProjectId::fresh(), &["opens"]).await, [""; 0]);
    let none = SearchScope {
        limit: 0,
        ..scope(mine, &filter)
    };
    let nothing = store.find_chunks(&SearchBy::Words(&words), &none).await.unwrap();
    assert_eq!(nothing, []);
}

/// See the name.
pub async fn titles_and_headings_count_more(store: Store) {
    let project = sample::project(&*store).await;
    let filler = "Something else entirely is written in these lines.";
    let in_text = format!("{filler} It names refunds once.");
    for (title, heading, text) in [
        ("notes", "Misc", in_text.as_str()),
        ("notes 2", "Refunds", filler),
        ("Refunds", "Misc", filler),
        ("notes 3", "Misc", filler),
    ] {
        let new = document(project, title, Category::Facts, &[(&[heading], text)]);
        store.store_document(&new).await.unwrap();
    }
    let filter = SearchFilter::default();
    let words = owned(&["refunds"]);
    let found = store
        .find_chunks(&SearchBy::Words(&words), &scope(project, &filter))
        .await
        .unwrap();
    let titles: Vec<&str> = found.iter().map(|found| found.title.as_str()).collect();
    assert_eq!(titles, ["Refunds", "notes 2", "notes"]);
}

/// See the name.
pub async fn rare_words_count_more(store: Store) {
    let project = sample::project(&*store).await;
    let mut parts: Vec<String> = (0..30)
        .map(|number| format!("The server number {number} keeps a log of the day."))
        .collect();
    parts.push("The certificate ends in May, says the office.".to_owned());
    let parts: Vec<(&[&str], &str)> = parts.iter().map(|text| (&[] as &[&str], text.as_str())).collect();
    let new = document(project, "a", Category::Facts, &parts);
    store.store_document(&new).await.unwrap();
    let found = texts(&store, project, &["server", "log", "certificate"]).await;
    assert!(found[0].contains("certificate"), "{found:?}");
}

/// See the name.
pub async fn words_are_found_without_accents_and_in_scripts_without_spaces(store: Store) {
    let project = sample::project(&*store).await;
    for (title, text, words) in [
        ("fr", "Le café est fermé à midi.", ["cafe", "fermé"]),
        ("de", "Die Größe der Übergabe steht fest.", ["ubergabe", "größe"]),
        ("ja", "東京の店は九時に開きます。", ["東京", "九時"]),
        ("zh", "商店九点开门", ["商店", "开门"]),
        ("ru", "Магазин открывается утром.", ["магазин", "утром"]),
        ("hi", "दुकान सुबह खुलती है।", ["दुकान", "सुबह"]),
        ("ko", "가게는 아침에 연다.", ["가게는", "아침에"]),
        ("ar", "يفتح المتجر صباحا", ["المتجر", "صباحا"]),
    ] {
        let new = document(project, title, Category::Facts, &[(&[], text)]);
        store.store_document(&new).await.unwrap();
        for word in words {
            assert_eq!(texts(&store, project, &[word]).await, [text], "{word}");
        }
    }
}

/// See the name: nothing that a question has is an operator.
pub async fn words_of_a_query_language_are_only_words(store: Store) {
    let project = sample::project(&*store).await;
    let text = "Use AND, OR and NOT near the title.";
    let new = document(project, "a", Category::Facts, &[(&[], text)]);
    store.store_document(&new).await.unwrap();
    for words in [
        &["near"] as &[&str],
        &["not"],
        &["\"title"],
        &["title\"", "'"],
        &["'title'", ":*", "&", "|", "!"],
        &["title:a", "scope : x", "{", ")"],
        &["title\0"],
        &["title*", "^title", "(title", "title -x"],
    ] {
        assert_eq!(texts(&store, project, words).await, [text], "{words:?}");
    }
    let many: Vec<String> = (0..5_000).map(|number| format!("w{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(texts(&store, project, &many).await, [""; 0]);
}

/// See the name.
pub async fn categories_and_types_filter(store: Store) {
    let project = sample::project(&*store).await;
    for category in Category::ALL {
        let new = document(project, category.as_str(), category, &[(&[], "The shop opens.")]);
        store.store_document(&new).await.unwrap();
    }
    for kind in [MemoryType::Fact, MemoryType::Decision, MemoryType::Lesson] {
        let accepted = item(project, kind, MemoryStatus::Accepted, kind.as_str());
        let mut accepted = accepted;
        accepted.content = format!("The shop opens, says the {}.", kind.as_str());
        stored_item(&*store, &accepted).await;
    }
    let filter = SearchFilter {
        categories: vec![Category::Rules, Category::State],
        types: vec![MemoryType::Decision],
    };
    let words = owned(&["shop"]);
    let found = store
        .find_chunks(&SearchBy::Words(&words), &scope(project, &filter))
        .await
        .unwrap();
    let mut categories: Vec<Category> = found.iter().map(|found| found.category).collect();
    categories.sort_unstable();
    assert_eq!(categories, [Category::Rules, Category::State]);
    let found = contents(&store, &scope(project, &filter), &["shop"]).await;
    assert_eq!(found, ["The shop opens, says the decision."]);
    let all = SearchFilter::default();
    let found = contents(&store, &scope(project, &all), &["shop"]).await;
    assert_eq!(found.len(), 3);
}

/// See the name.
pub async fn items_out_of_force_are_not_found(store: Store) {
    let project = sample::project(&*store).await;
    let accepted = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Shop fact.");
    let mut metric = item(project, MemoryType::Metric, MemoryStatus::Active, "Shop metric.");
    metric.expires_at = Some(NOW + Duration::days(7));
    let mut old = item(
        project,
        MemoryType::Fact,
        MemoryStatus::Accepted,
        "Old shop fact.",
    );
    old.created_at -= Duration::days(1);
    let mut new = item(
        project,
        MemoryType::Fact,
        MemoryStatus::Accepted,
        "New shop fact.",
    );
    new.supersedes = Some(old.id);
    for item in [&accepted, &metric, &old, &new] {
        stored_item(&*store, item).await;
    }
    for status in [
        MemoryStatus::Proposed,
        MemoryStatus::Rejected,
        MemoryStatus::Done,
        MemoryStatus::Blocked,
    ] {
        stored_item(
            &*store,
            &item(project, MemoryType::Fact, status, "Shop out of force."),
        )
        .await;
    }
    let filter = SearchFilter::default();
    let mut found = contents(&store, &scope(project, &filter), &["shop"]).await;
    found.sort_unstable();
    assert_eq!(found, ["New shop fact.", "Shop fact.", "Shop metric."]);
    let later = SearchScope {
        now: NOW + Duration::days(7),
        ..scope(project, &filter)
    };
    let mut found = contents(&store, &later, &["shop"]).await;
    found.sort_unstable();
    assert_eq!(found, ["New shop fact.", "Shop fact."]);
}

/// See the name.
pub async fn an_edited_item_is_found_by_its_new_words(store: Store) {
    let project = sample::project(&*store).await;
    let fact = item(
        project,
        MemoryType::Fact,
        MemoryStatus::Accepted,
        "The shop opens at nine.",
    );
    stored_item(&*store, &fact).await;
    let edit = MemoryChange::Edit {
        content: Some("The shop opens at noon.".to_owned()),
        expires_at: None,
    };
    store
        .change_item(project, fact.id, &Redacted::of(&edit), &sample::text("anna"), NOW)
        .await
        .unwrap();
    let filter = SearchFilter::default();
    let scope = scope(project, &filter);
    assert_eq!(
        contents(&store, &scope, &["noon"]).await,
        ["The shop opens at noon."]
    );
    assert_eq!(contents(&store, &scope, &["nine"]).await, [""; 0]);
}
