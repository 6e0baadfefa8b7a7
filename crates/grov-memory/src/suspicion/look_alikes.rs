//! Letters that look like others.

/// Full-width, mathematical and enclosed letters as ordinary ones.
pub(super) fn narrow(character: char) -> char {
    let letter = |number: u32| u8::try_from(number).map_or(character, char::from);
    match character {
        // Thirteen alphabets, capital letters before small ones.
        '\u{1d400}'..='\u{1d6a3}' => match (u32::from(character) - 0x1d400) % 52 {
            capital @ 0..=25 => letter(capital + 65),
            small => letter(small - 26 + 97),
        },
        '\u{24b6}'..='\u{24cf}' => letter(u32::from(character) - 0x24b6 + 65),
        '\u{24d0}'..='\u{24e9}' => letter(u32::from(character) - 0x24d0 + 97),
        '\u{1f130}'..='\u{1f149}' => letter(u32::from(character) - 0x1f130 + 65),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
        _ => character,
    }
}

/// A lower-case letter of another alphabet as the Latin one that it looks like.
pub(super) fn look_alike(character: char) -> char {
    match character {
        'а' | 'α' | 'ɑ' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'с' | 'ϲ' => 'c',
        'у' | 'γ' => 'y',
        'х' | 'χ' => 'x',
        'і' | 'ι' | 'ı' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ν' => 'v',
        'ԁ' => 'd',
        'һ' => 'h',
        'ɡ' => 'g',
        'ո' | 'п' => 'n',
        'т' | 'τ' => 't',
        'в' | 'β' => 'b',
        'н' => 'h',
        'м' => 'm',
        'к' | 'κ' => 'k',
        'ԝ' => 'w',
        _ => character,
    }
}
