//! What the service itself says in answers, in the language of the message.

/// The sentences of one language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phrases {
    /// Words by which the language is recognised: frequent in it and rare in the others. In lower case.
    marks: &'static str,
    /// The question back.
    pub(crate) question: &'static str,
    /// Why nothing is answered: nothing was found.
    pub(crate) nothing: &'static str,
    /// Why nothing is answered: what was found has no answer.
    pub(crate) no_answer: &'static str,
    /// Before the reason of a question.
    pub(crate) why: &'static str,
    /// The headings of quotations and of what was proposed.
    pub(crate) sources: &'static str,
    pub(crate) memory: &'static str,
    /// Before the type of an item that was proposed, or is kept.
    pub(crate) proposed: &'static str,
    pub(crate) kept: &'static str,
    /// The states of a call.
    pub(crate) waits: &'static str,
    pub(crate) allowed: &'static str,
    /// How many items say something else, for `{count}`.
    pub(crate) contradicts: &'static str,
    /// The answer to a request to remember something, as an item of the type `{kind}`.
    pub(crate) remember: &'static str,
    /// The reason of that call.
    pub(crate) asked: &'static str,
}

/// English comes first, because the first of several languages with as many marks is taken.
const LANGUAGES: [Phrases; 13] = [
    Phrases {
        marks: "the is are what which how many much when where who does do did can should must our we of for and to",
        question: "I have no answer to this in the documents and in memory. Can you say it in other words, or say exactly what shall be done?",
        nothing: "Nothing was found in the documents and in memory.",
        no_answer: "What was found does not contain an answer that could be quoted.",
        why: "Why I ask:",
        sources: "Sources:",
        memory: "Memory:",
        proposed: "proposed as",
        kept: "kept as",
        waits: "waits for approval",
        allowed: "may be executed",
        contradicts: "contradicts {count} items in force",
        remember: "I propose to remember this as {kind}. It holds once it is approved.",
        asked: "The user asked to remember this.",
    },
    Phrases {
        marks: "der das den dem ein eine einen ist sind wie viel wann wo wer welche welcher welches wir unsere unser und für mit nicht kann darf muss werden wird bitte dir dass merk merke merken notiere",
        question: "Dazu finde ich keine Antwort in den Dokumenten und im Gedächtnis. Können Sie es anders sagen, oder genau sagen, was getan werden soll?",
        nothing: "In den Dokumenten und im Gedächtnis wurde nichts gefunden.",
        no_answer: "Was gefunden wurde, enthält keine Antwort, die man zitieren könnte.",
        why: "Warum ich frage:",
        sources: "Quellen:",
        memory: "Gedächtnis:",
        proposed: "vorgeschlagen als",
        kept: "behalten als",
        waits: "wartet auf Genehmigung",
        allowed: "darf ausgeführt werden",
        contradicts: "widerspricht {count} geltenden Einträgen",
        remember: "Ich schlage vor, mir das als {kind} zu merken. Es gilt, sobald es genehmigt ist.",
        asked: "In der Nachricht wurde darum gebeten, sich das zu merken.",
    },
    Phrases {
        marks: "le la les des du une est sont quel quelle quels quelles combien quand où qui nous notre nos pour avec dans sur faut peut souviens toi retiens notez",
        question: "Je n’ai pas de réponse à cela dans les documents ni en mémoire. Pouvez-vous le dire autrement, ou dire exactement ce qu’il faut faire ?",
        nothing: "Rien n’a été trouvé dans les documents ni en mémoire.",
        no_answer: "Ce qui a été trouvé ne contient pas de réponse à citer.",
        why: "Pourquoi je demande :",
        sources: "Sources :",
        memory: "Mémoire :",
        proposed: "proposé comme",
        kept: "conservé comme",
        waits: "attend une approbation",
        allowed: "peut être exécuté",
        contradicts: "contredit {count} éléments en vigueur",
        remember: "Je propose de retenir cela comme {kind}. Cela vaudra une fois approuvé.",
        asked: "Le message demande de retenir cela.",
    },
    Phrases {
        marks: "el los las una es son cuál cuáles cuánto cuántos cuándo dónde quién cómo qué nuestro nuestra para con por puede debe hay recuerda anota",
        question: "No tengo respuesta a esto en los documentos ni en la memoria. ¿Puede decirlo con otras palabras, o decir exactamente qué hay que hacer?",
        nothing: "No se encontró nada en los documentos ni en la memoria.",
        no_answer: "Lo que se encontró no contiene una respuesta que se pueda citar.",
        why: "Por qué pregunto:",
        sources: "Fuentes:",
        memory: "Memoria:",
        proposed: "propuesto como",
        kept: "guardado como",
        waits: "espera aprobación",
        allowed: "puede ejecutarse",
        contradicts: "contradice {count} elementos vigentes",
        remember: "Propongo recordar esto como {kind}. Valdrá cuando se apruebe.",
        asked: "El mensaje pide recordar esto.",
    },
    Phrases {
        marks: "il lo gli della delle dei degli è sono quale quali quanto quanti quando dove chi nostro nostra per con può deve ricorda ricordati",
        question: "Non ho una risposta nei documenti e nella memoria. Può dirlo con altre parole, o dire esattamente che cosa va fatto?",
        nothing: "Non è stato trovato nulla nei documenti e nella memoria.",
        no_answer: "Ciò che è stato trovato non contiene una risposta da citare.",
        why: "Perché chiedo:",
        sources: "Fonti:",
        memory: "Memoria:",
        proposed: "proposto come",
        kept: "conservato come",
        waits: "in attesa di approvazione",
        allowed: "può essere eseguito",
        contradicts: "contraddice {count} elementi in vigore",
        remember: "Propongo di ricordarlo come {kind}. Varrà una volta approvato.",
        asked: "Il messaggio chiede di ricordarlo.",
    },
    Phrases {
        marks: "o os as um uma é são qual quais quanto quantos quando onde quem nosso nossa para com pode deve não do da dos lembra lembre anote",
        question: "Não tenho resposta para isto nos documentos nem na memória. Pode dizê-lo por outras palavras, ou dizer exatamente o que deve ser feito?",
        nothing: "Nada foi encontrado nos documentos nem na memória.",
        no_answer: "O que foi encontrado não contém uma resposta que se possa citar.",
        why: "Porque pergunto:",
        sources: "Fontes:",
        memory: "Memória:",
        proposed: "proposto como",
        kept: "guardado como",
        waits: "aguarda aprovação",
        allowed: "pode ser executado",
        contradicts: "contradiz {count} itens em vigor",
        remember: "Proponho lembrar isto como {kind}. Valerá depois de aprovado.",
        asked: "A mensagem pede para lembrar isto.",
    },
    Phrases {
        marks: "het een zijn wat wie waar wanneer welke hoe hoeveel onze ons voor met van niet kan mag moet wordt dat onthoud",
        question: "Ik heb hierop geen antwoord in de documenten en in het geheugen. Kunt u het anders zeggen, of precies zeggen wat er moet gebeuren?",
        nothing: "In de documenten en in het geheugen is niets gevonden.",
        no_answer: "Wat gevonden is, bevat geen antwoord dat geciteerd kan worden.",
        why: "Waarom ik dit vraag:",
        sources: "Bronnen:",
        memory: "Geheugen:",
        proposed: "voorgesteld als",
        kept: "bewaard als",
        waits: "wacht op goedkeuring",
        allowed: "mag worden uitgevoerd",
        contradicts: "spreekt {count} geldende items tegen",
        remember: "Ik stel voor dit te onthouden als {kind}. Het geldt zodra het is goedgekeurd.",
        asked: "In het bericht werd gevraagd dit te onthouden.",
    },
    Phrases {
        marks: "jest są jak jaki jaka jakie kiedy gdzie kto ile czy nasz nasza nasze dla oraz nie można trzeba który która się że zapamiętaj zapisz",
        question: "Nie mam na to odpowiedzi w dokumentach ani w pamięci. Czy możesz ująć to inaczej albo powiedzieć dokładnie, co należy zrobić?",
        nothing: "W dokumentach ani w pamięci niczego nie znaleziono.",
        no_answer: "To, co znaleziono, nie zawiera odpowiedzi, którą można by zacytować.",
        why: "Dlaczego pytam:",
        sources: "Źródła:",
        memory: "Pamięć:",
        proposed: "zaproponowano jako",
        kept: "zachowano jako",
        waits: "czeka na zatwierdzenie",
        allowed: "może zostać wykonane",
        contradicts: "przeczy obowiązującym wpisom: {count}",
        remember: "Proponuję zapamiętać to jako {kind}. Będzie obowiązywać po zatwierdzeniu.",
        asked: "Wiadomość zawiera prośbę o zapamiętanie tego.",
    },
    Phrases {
        marks: "este sunt cum care când unde cine cât câte câți ce noastre noastră nostru pentru și din nu poate trebuie",
        question: "Nu am un răspuns la aceasta în documente și în memorie. Puteți să o spuneți altfel sau să spuneți exact ce trebuie făcut?",
        nothing: "Nu s-a găsit nimic în documente și în memorie.",
        no_answer: "Ceea ce s-a găsit nu conține un răspuns care să poată fi citat.",
        why: "De ce întreb:",
        sources: "Surse:",
        memory: "Memorie:",
        proposed: "propus ca",
        kept: "păstrat ca",
        waits: "așteaptă aprobarea",
        allowed: "poate fi executat",
        contradicts: "contrazice {count} elemente în vigoare",
        remember: "Propun să rețin aceasta ca {kind}. Va fi valabil după aprobare.",
        asked: "Mesajul cere reținerea acestui lucru.",
    },
    Phrases {
        marks: "є який яка яке які коли де скільки що чи як наш наша наші для та від можна треба цей запам",
        question: "Відповіді на це немає ні в документах, ні в пам’яті. Чи можете сказати це інакше або точно сказати, що слід зробити?",
        nothing: "У документах і в пам’яті нічого не знайдено.",
        no_answer: "У знайденому немає відповіді, яку можна процитувати.",
        why: "Чому я питаю:",
        sources: "Джерела:",
        memory: "Пам’ять:",
        proposed: "запропоновано як",
        kept: "збережено як",
        waits: "чекає на схвалення",
        allowed: "можна виконати",
        contradicts: "суперечить чинним записам: {count}",
        remember: "Пропоную запам’ятати це як {kind}. Це діятиме після схвалення.",
        asked: "У повідомленні є прохання це запам’ятати.",
    },
    Phrases {
        marks: "какой какая какое какие когда где сколько что ли как наш наша наши для и от можно нужно это кто запомни",
        question: "Ответа на это нет ни в документах, ни в памяти. Можете сказать это иначе или точно сказать, что нужно сделать?",
        nothing: "В документах и в памяти ничего не найдено.",
        no_answer: "В найденном нет ответа, который можно процитировать.",
        why: "Почему я спрашиваю:",
        sources: "Источники:",
        memory: "Память:",
        proposed: "предложено как",
        kept: "сохранено как",
        waits: "ожидает одобрения",
        allowed: "можно выполнить",
        contradicts: "противоречит действующим записям: {count}",
        remember: "Предлагаю запомнить это как {kind}. Это будет действовать после одобрения.",
        asked: "В сообщении есть просьба это запомнить.",
    },
    Phrases {
        marks: "",
        question: "文档和记忆中没有答案。能换一种说法，或者明确说明要做什么吗？",
        nothing: "文档和记忆中没有找到任何内容。",
        no_answer: "找到的内容中没有可以引用的答案。",
        why: "询问原因：",
        sources: "来源：",
        memory: "记忆：",
        proposed: "提议记为",
        kept: "保存为",
        waits: "等待批准",
        allowed: "可以执行",
        contradicts: "与 {count} 条有效内容矛盾",
        remember: "我建议将其记为 {kind}。批准后生效。",
        asked: "消息要求记住这一点。",
    },
    Phrases {
        marks: "",
        question: "文書と記憶の中に答えがありません。別の言い方をするか、何をすべきか正確に教えてもらえますか。",
        nothing: "文書と記憶の中に何も見つかりませんでした。",
        no_answer: "見つかったものに、引用できる答えはありません。",
        why: "お尋ねする理由：",
        sources: "出典：",
        memory: "記憶：",
        proposed: "提案：",
        kept: "保存：",
        waits: "承認待ち",
        allowed: "実行可",
        contradicts: "有効な {count} 件と矛盾",
        remember: "これを {kind} として記憶することを提案します。承認後に有効になります。",
        asked: "記憶するよう求められました。",
    },
];

/// Places of the languages that are recognised by their script.
const CHINESE: usize = 11;
const JAPANESE: usize = 12;

/// Returns the sentences in the language of a message, or English ones.
pub(crate) fn of(message: &str) -> &'static Phrases {
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
            ("Merke dir, dass freitags geliefert wird.", "Dazu"),
            ("Souviens-toi que je préfère le thé", "Je n’ai"),
            ("Recuerda que el puerto cierra a las 9", "No tengo"),
            ("Zapamiętaj, że brama jest zamknięta", "Nie mam"),
            ("Запам’ятай, що ми вирішили чекати", "Відповіді"),
            ("Запомни, что склад закрыт", "Ответа"),
            ("Remember that the gate closes at nine.", "I have"),
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
