//! What the offline answers say when nothing was found, in the language of the message.

/// The sentences of one language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Phrases {
    /// Words by which the language is recognised: frequent in it and rare in the others. In lower case.
    marks: &'static str,
    /// The question back.
    pub(super) question: &'static str,
    /// Why nothing is answered: nothing was found.
    pub(super) nothing: &'static str,
    /// Why nothing is answered: what was found has no answer.
    pub(super) no_answer: &'static str,
}

/// English comes first, because the first of several languages with as many marks is taken.
const LANGUAGES: [Phrases; 13] = [
    Phrases {
        marks: "the is are what which how many much when where who does do did can should must our we of for and to",
        question: "I have no answer to this in the documents and in memory. Can you say it in other words, or say exactly what shall be done?",
        nothing: "Nothing was found in the documents and in memory.",
        no_answer: "What was found does not contain an answer that could be quoted.",
    },
    Phrases {
        marks: "der das den dem ein eine einen ist sind wie viel wann wo wer welche welcher welches wir unsere unser und für mit nicht kann darf muss werden wird bitte",
        question: "Dazu finde ich keine Antwort in den Dokumenten und im Gedächtnis. Können Sie es anders sagen, oder genau sagen, was getan werden soll?",
        nothing: "In den Dokumenten und im Gedächtnis wurde nichts gefunden.",
        no_answer: "Was gefunden wurde, enthält keine Antwort, die man zitieren könnte.",
    },
    Phrases {
        marks: "le la les des du une est sont quel quelle quels quelles combien quand où qui nous notre nos pour avec dans sur faut peut",
        question: "Je n’ai pas de réponse à cela dans les documents ni en mémoire. Pouvez-vous le dire autrement, ou dire exactement ce qu’il faut faire ?",
        nothing: "Rien n’a été trouvé dans les documents ni en mémoire.",
        no_answer: "Ce qui a été trouvé ne contient pas de réponse à citer.",
    },
    Phrases {
        marks: "el los las una es son cuál cuáles cuánto cuántos cuándo dónde quién cómo qué nuestro nuestra para con por puede debe hay",
        question: "No tengo respuesta a esto en los documentos ni en la memoria. ¿Puede decirlo con otras palabras, o decir exactamente qué hay que hacer?",
        nothing: "No se encontró nada en los documentos ni en la memoria.",
        no_answer: "Lo que se encontró no contiene una respuesta que se pueda citar.",
    },
    Phrases {
        marks: "il lo gli della delle dei degli è sono quale quali quanto quanti quando dove chi nostro nostra per con può deve",
        question: "Non ho una risposta nei documenti e nella memoria. Può dirlo con altre parole, o dire esattamente che cosa va fatto?",
        nothing: "Non è stato trovato nulla nei documenti e nella memoria.",
        no_answer: "Ciò che è stato trovato non contiene una risposta da citare.",
    },
    Phrases {
        marks: "o os as um uma é são qual quais quanto quantos quando onde quem nosso nossa para com pode deve não do da dos",
        question: "Não tenho resposta para isto nos documentos nem na memória. Pode dizê-lo por outras palavras, ou dizer exatamente o que deve ser feito?",
        nothing: "Nada foi encontrado nos documentos nem na memória.",
        no_answer: "O que foi encontrado não contém uma resposta que se possa citar.",
    },
    Phrases {
        marks: "het een zijn wat wie waar wanneer welke hoe hoeveel onze ons voor met van niet kan mag moet wordt",
        question: "Ik heb hierop geen antwoord in de documenten en in het geheugen. Kunt u het anders zeggen, of precies zeggen wat er moet gebeuren?",
        nothing: "In de documenten en in het geheugen is niets gevonden.",
        no_answer: "Wat gevonden is, bevat geen antwoord dat geciteerd kan worden.",
    },
    Phrases {
        marks: "jest są jak jaki jaka jakie kiedy gdzie kto ile czy nasz nasza nasze dla oraz nie można trzeba który która się",
        question: "Nie mam na to odpowiedzi w dokumentach ani w pamięci. Czy możesz ująć to inaczej albo powiedzieć dokładnie, co należy zrobić?",
        nothing: "W dokumentach ani w pamięci niczego nie znaleziono.",
        no_answer: "To, co znaleziono, nie zawiera odpowiedzi, którą można by zacytować.",
    },
    Phrases {
        marks: "este sunt cum care când unde cine cât câte câți ce noastre noastră nostru pentru și din nu poate trebuie",
        question: "Nu am un răspuns la aceasta în documente și în memorie. Puteți să o spuneți altfel sau să spuneți exact ce trebuie făcut?",
        nothing: "Nu s-a găsit nimic în documente și în memorie.",
        no_answer: "Ceea ce s-a găsit nu conține un răspuns care să poată fi citat.",
    },
    Phrases {
        marks: "є який яка яке які коли де скільки що чи як наш наша наші для та від можна треба цей",
        question: "Відповіді на це немає ні в документах, ні в пам’яті. Чи можете сказати це інакше або точно сказати, що слід зробити?",
        nothing: "У документах і в пам’яті нічого не знайдено.",
        no_answer: "У знайденому немає відповіді, яку можна процитувати.",
    },
    Phrases {
        marks: "какой какая какое какие когда где сколько что ли как наш наша наши для и от можно нужно это кто",
        question: "Ответа на это нет ни в документах, ни в памяти. Можете сказать это иначе или точно сказать, что нужно сделать?",
        nothing: "В документах и в памяти ничего не найдено.",
        no_answer: "В найденном нет ответа, который можно процитировать.",
    },
    Phrases {
        marks: "",
        question: "文档和记忆中没有答案。能换一种说法，或者明确说明要做什么吗？",
        nothing: "文档和记忆中没有找到任何内容。",
        no_answer: "找到的内容中没有可以引用的答案。",
    },
    Phrases {
        marks: "",
        question: "文書と記憶の中に答えがありません。別の言い方をするか、何をすべきか正確に教えてもらえますか。",
        nothing: "文書と記憶の中に何も見つかりませんでした。",
        no_answer: "見つかったものに、引用できる答えはありません。",
    },
];

/// Places of the languages that are recognised by their script.
const CHINESE: usize = 11;
const JAPANESE: usize = 12;

/// Returns the sentences in the language of a message, or English ones.
pub(super) fn of(message: &str) -> &'static Phrases {
    let [english, ..] = &LANGUAGES;
    if message
        .chars()
        .any(|letter| ('\u{3040}'..='\u{30ff}').contains(&letter))
    {
        return &LANGUAGES[JAPANESE];
    }
    if message
        .chars()
        .any(|letter| ('\u{3400}'..='\u{9fff}').contains(&letter))
    {
        return &LANGUAGES[CHINESE];
    }
    let lower = message.to_lowercase();
    let marks = |language: &Phrases| {
        let words = lower.split(|letter: char| !letter.is_alphabetic());
        words
            .filter(|word| {
                language
                    .marks
                    .split(' ')
                    .any(|mark| mark == *word && !word.is_empty())
            })
            .count()
    };
    LANGUAGES
        .iter()
        .fold((english, marks(english)), |(best, most), language| {
            let found = marks(language);
            if found > most {
                (language, found)
            } else {
                (best, most)
            }
        })
        .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_question_is_recognised() {
        for (message, beginning) in [
            ("What is the minimum order value?", "I have"),
            ("Wie hoch ist der Mindestbestellwert?", "Dazu"),
            ("Quelle est la durée de la garantie ?", "Je n’ai"),
            ("¿Cuánto cuesta el envío?", "No tengo"),
            ("Quanto costa la spedizione per gli uffici?", "Non ho"),
            ("Qual é o prazo de entrega?", "Não tenho"),
            ("Hoe lang is de garantie van het apparaat?", "Ik heb"),
            ("Jak długa jest gwarancja?", "Nie mam"),
            ("Cât este termenul de livrare pentru clienți?", "Nu am"),
            ("Який термін доставки?", "Відповіді"),
            ("Сколько стоит доставка?", "Ответа"),
            ("保修期多长？", "文档"),
            ("保証期間はどれくらいですか", "文書"),
            ("", "I have"),
            ("kubectl get pods", "I have"),
        ] {
            assert!(
                of(message).question.starts_with(beginning),
                "{message}: {}",
                of(message).question
            );
        }
    }
}
