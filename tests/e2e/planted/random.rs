//! Numbers that look random and are the same in every run, and texts made from them.

/// SplitMix64, by Sebastiano Vigna (public domain).
pub struct Random(u64);

impl Random {
    /// The sequence that begins with this number.
    pub fn from(start: u64) -> Self {
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    /// A text of `count` characters of an alphabet. Contains at least one digit if the alphabet has digits and the text
    /// is long enough, like nearly every issued key.
    pub fn signs(&mut self, alphabet: &[u8], count: usize) -> String {
        let mut signs: Vec<u8> = (0..count).map(|_| alphabet[self.below(alphabet.len())]).collect();
        let digits: Vec<u8> = alphabet.iter().copied().filter(u8::is_ascii_digit).collect();
        if count >= 8 && !digits.is_empty() && !signs.iter().any(u8::is_ascii_digit) {
            let at = self.below(count);
            signs[at] = digits[self.below(digits.len())];
        }
        signs.into_iter().map(char::from).collect()
    }

    /// A password as people choose them: syllables, one capital, two digits.
    pub fn password(&mut self) -> String {
        let mut password = String::new();
        for syllable in 0..5 {
            let consonant = char::from(b"bdfgklmnprstvz"[self.below(14)]);
            password.push(if syllable == 0 {
                consonant.to_ascii_uppercase()
            } else {
                consonant
            });
            password.push(char::from(b"aeiou"[self.below(5)]));
        }
        let digits = self.signs(b"23456789", 2);
        password.push_str(&digits);
        password
    }
}
