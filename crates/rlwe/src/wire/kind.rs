//! Kinds of objects, and the format version of their files.

use std::fmt;

/// First eight bytes of a file: no text, and changed by whatever converts ends of lines.
pub const MAGIC: [u8; 8] = *b"\x89SUNZI\r\n";
/// Version of the file format that is written and read.
pub const VERSION: u16 = 1;

/// Declares the kinds of objects with their numbers and names.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $name:literal;)*) => {
        /// A kind of objects, whose number in files never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Kind {
            $($(#[$doc])* $kind = $number,)*
        }

        impl Kind {
            /// All kinds of objects, by ascending number.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the kind of objects with the given number; `None` for an unknown number.
            #[must_use]
            pub fn of(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)*
                    _ => None,
                }
            }

            const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// Parameters of BFV.
    BfvParameters = 0x0101, "BFV parameters";
    /// Parameters of BGV.
    BgvParameters = 0x0102, "BGV parameters";
    /// Parameters of CKKS.
    CkksParameters = 0x0103, "CKKS parameters";
    /// Parameters of BFV with several plaintext moduli.
    CrtParameters = 0x0104, "BFV parameters of several plaintext moduli";
    /// Parameters of BFV modulo 2^g − 1.
    FermatParameters = 0x0105, "BFV parameters modulo 2^g - 1";
    /// Parameters of encrypted integers.
    IntegerParameters = 0x0106, "parameters of encrypted integers";
    /// Parameters of CKKS with bootstrapping.
    BootstrapParameters = 0x0107, "parameters of CKKS with bootstrapping";
    /// A secret key.
    SecretKey = 0x0200, "a SECRET key";
    /// A sharing ledger, which counts the decryptions shared under a key.
    SharingLedger = 0x0201, "a sharing ledger";
    /// A file with a secret, encrypted under a passphrase.
    LockedSecret = 0x0202, "a SECRET under a passphrase";
    /// Label and expiry of a key.
    KeyProperties = 0x0203, "label and expiry of a key";
    /// A file with a secret, encrypted under a data key that a key management service wraps.
    WrappedSecret = 0x0204, "a SECRET under a wrapped key";
    /// A public key.
    PublicKey = 0x0300, "a public key";
    /// A public key for re-encryption.
    ReencryptionPublicKey = 0x0301, "a public key for re-encryption";
    /// A relinearisation key.
    RelinearizationKey = 0x0400, "a relinearisation key";
    /// A re-encryption key, for a proxy alone.
    ReencryptionKey = 0x0401, "a SECRET re-encryption key";
    /// A rekeying key, from an old secret of an owner to a new one.
    RekeyingKey = 0x0402, "a rekeying key";
    /// Galois keys, for several automorphisms.
    GaloisKeys = 0x0500, "Galois keys";
    /// Encapsulation keys, to a sparse secret and back.
    EncapsulationKeys = 0x0600, "encapsulation keys";
    /// Raising keys, to a sparse secret and back by a linear map.
    RaisingKeys = 0x0601, "raising keys";
    /// All keys of a bootstrapping.
    BootstrapKeys = 0x0700, "bootstrapping keys";
    /// All keys of a bootstrapping of ciphertexts of a real ring.
    RealBootstrapKeys = 0x0701, "bootstrapping keys of a real ring";
    /// A plaintext of BFV.
    BfvPlaintext = 0x0801, "a BFV plaintext";
    /// A plaintext of BGV.
    BgvPlaintext = 0x0802, "a BGV plaintext";
    /// A plaintext of CKKS.
    CkksPlaintext = 0x0803, "a CKKS plaintext";
    /// A ciphertext of BFV.
    BfvCiphertext = 0x0901, "a BFV ciphertext";
    /// A ciphertext of BGV.
    BgvCiphertext = 0x0902, "a BGV ciphertext";
    /// A ciphertext of CKKS.
    CkksCiphertext = 0x0903, "a CKKS ciphertext";
    /// An array of ciphertexts of BFV.
    BfvCiphertexts = 0x0A01, "BFV ciphertexts";
    /// An array of ciphertexts of BGV.
    BgvCiphertexts = 0x0A02, "BGV ciphertexts";
    /// An array of ciphertexts of CKKS.
    CkksCiphertexts = 0x0A03, "CKKS ciphertexts";
    /// A table with columns encrypted in BFV.
    BfvTable = 0x0B01, "a table encrypted in BFV";
    /// A table with columns encrypted in BGV.
    BgvTable = 0x0B02, "a table encrypted in BGV";
    /// A table with columns encrypted in CKKS.
    CkksTable = 0x0B03, "a table encrypted in CKKS";
    /// A table with columns encrypted as integers in digits.
    IntegerTable = 0x0B04, "a table encrypted as integers";
    /// A table packed for a program and encrypted in BFV.
    BfvPackedTable = 0x0B11, "a packed table encrypted in BFV";
    /// A table packed for a program and encrypted in BGV.
    BgvPackedTable = 0x0B12, "a packed table encrypted in BGV";
    /// Results of a program, with a description of them.
    Results = 0x0C00, "results of a program";
    /// An array of the Python package.
    PythonArray = 0x0D01, "an encrypted array";
    /// Public and evaluation keys of the Python package, with their parameters.
    PythonKeys = 0x0D02, "public keys";
    /// A planned program of the Python package.
    PythonPlan = 0x0D03, "a planned program";
    /// A context of the Python package that has the name of a bootstrapping set.
    PythonContext = 0x0D04, "the context of a bootstrapping set";
    /// A table of the Python package, to train on.
    PythonTable = 0x0D05, "an encrypted table to train on";
    /// An array of field elements of the Python package.
    PythonElements = 0x0D06, "an encrypted array of field elements";
    /// An array of messages of the Python package.
    PythonMessages = 0x0D07, "an encrypted array of messages";
    /// An array of encrypted integers of the Python package.
    PythonIntegers = 0x0D08, "an encrypted array of integers";
    /// An array of encrypted conditions of the Python package.
    PythonConditions = 0x0D09, "an encrypted array of conditions";
    /// A request of the Python package to encrypt additive shares.
    PythonSharesRequest = 0x0D0A, "a request to encrypt additive shares";
    /// An additive share of the Python package, encrypted under a joint key.
    PythonShare = 0x0D0B, "an encrypted additive share";
    /// A party's share of a public key.
    PublicKeyShare = 0x0E01, "a share of a public key";
    /// A party's shares of Galois keys.
    GaloisShares = 0x0E02, "shares of Galois keys";
    /// A party's share of the first round of a relinearisation key.
    RelinearizationShare = 0x0E03, "a first share of a relinearisation key";
    /// A party's share of the second round of a relinearisation key.
    RoundTwoShare = 0x0E04, "a second share of a relinearisation key";
    /// A party's share of the decryption of a ciphertext.
    DecryptionShare = 0x0E05, "a share of a decryption";
    /// A party's ephemeral secret between the rounds of a relinearisation key.
    EphemeralSecret = 0x0E06, "a SECRET of a relinearisation key in the making";
    /// A piece of the secret of one party for another, of a threshold.
    ThresholdPiece = 0x0E07, "a SECRET piece of a threshold share";
    /// A party's share of a joint secret, of a threshold.
    ThresholdShare = 0x0E08, "a SECRET threshold share";
    /// A party's share of the refresh of a ciphertext.
    RefreshShare = 0x0E09, "a share of a refresh";
    /// A party's share of the switch of a ciphertext to the public key of somebody else.
    PublicKeySwitchShare = 0x0E0A, "a share of a switch to a public key";
    /// A party's share of the switch of a ciphertext to another joint secret.
    KeySwitchShare = 0x0E0B, "a share of a switch to another joint secret";
    /// A party's commitment to its contribution to a common reference.
    ReferenceCommitment = 0x0E11, "a commitment to a contribution to a reference";
    /// A party's contribution to a common reference.
    ReferenceContribution = 0x0E12, "a contribution to a reference";
    /// A party's commitment to its shares of keys.
    KeyCommitment = 0x0E13, "a commitment to shares of keys";
    /// A party's shares of keys.
    KeyShares = 0x0E14, "shares of keys";
    /// A party's message with its second share of a relinearisation key.
    SecondShares = 0x0E15, "a message with a second share of a relinearisation key";
    /// A party's confirmation of the keys that all parties made.
    KeyConfirmation = 0x0E16, "a confirmation of keys";
    /// A message of a party with a piece of a threshold share, for one other party alone.
    DealtPiece = 0x0E17, "a message with a SECRET piece of a threshold share";
    /// A party's confirmation that it has a share that was handed on, or needs none.
    ShareConfirmation = 0x0E18, "a confirmation of a share";
    /// A request to decrypt a ciphertext.
    DecryptionRequest = 0x0E21, "a request of a decryption";
    /// A party's answer to a request of a decryption.
    DecryptionAnswer = 0x0E22, "an answer to a request of a decryption";
    /// A request to refresh a ciphertext.
    RefreshRequest = 0x0E23, "a request of a refresh";
    /// A party's answer to a request of a refresh.
    RefreshAnswer = 0x0E24, "an answer to a request of a refresh";
    /// A request to switch a ciphertext to the public key of somebody else.
    SwitchRequest = 0x0E25, "a request of a switch to a public key";
    /// A party's answer to a request of a switch to a public key.
    SwitchAnswer = 0x0E26, "an answer to a request of a switch to a public key";
    /// A request to turn a ciphertext into additive shares of its message.
    AdditiveRequest = 0x0E27, "a request of additive shares";
    /// A party's answer to a request of additive shares.
    AdditiveAnswer = 0x0E28, "an answer to a request of additive shares";
    /// A request to switch a ciphertext to another joint secret of the same parties.
    JointSwitchRequest = 0x0E29, "a request of a switch to another joint secret";
    /// A party's answer to a request of a switch to another joint secret.
    JointSwitchAnswer = 0x0E2A, "an answer to a request of a switch to another joint secret";
    /// What a party keeps for a restart, secrets among it.
    PartyState = 0x0E31, "the SECRET state of a party";
    /// The description of a lookup database, which clients ask by.
    LookupDescription = 0x0F01, "the description of a lookup database";
    /// The entries of a lookup database.
    LookupEntries = 0x0F02, "the entries of a lookup database";
    /// A query to a lookup database.
    LookupQuery = 0x0F03, "a query to a lookup database";
    /// An answer of a lookup database.
    LookupAnswer = 0x0F04, "an answer of a lookup database";
    /// The note of a query to a lookup database, for whoever asked alone.
    LookupAsked = 0x0F05, "the SECRET note of what a query asks for";
    /// The description of a private set, which clients ask by.
    SetDescription = 0x0F11, "the description of a private set";
    /// A private set, for its server alone.
    PrivateSet = 0x0F12, "the SECRET items of a private set";
    /// A query to a private set.
    SetQuery = 0x0F13, "a query to a private set";
    /// An answer of a private set.
    SetAnswer = 0x0F14, "an answer of a private set";
}

impl Kind {
    /// Returns the name of the kind with the given number, or words for an unknown number.
    ///
    /// ```
    /// use sunzi_rlwe::wire::Kind;
    ///
    /// assert_eq!(Kind::describe(0x0D01), "an encrypted array");
    /// assert_eq!(Kind::describe(0xFFFF), "an unknown object (0xffff)");
    /// ```
    #[must_use]
    pub fn describe(number: u16) -> String {
        Self::of(number).map_or_else(|| format!("an unknown object ({number:#06x})"), |kind| kind.to_string())
    }

    /// Whether the object is parameters, whose security is checked by [`Accept`](super::Accept) when they are read.
    #[must_use]
    pub const fn is_parameters(self) -> bool {
        matches!(
            self,
            Self::BfvParameters
                | Self::BgvParameters
                | Self::CkksParameters
                | Self::CrtParameters
                | Self::FermatParameters
                | Self::IntegerParameters
                | Self::BootstrapParameters
        )
    }

    /// Whether the object is a table.
    #[must_use]
    pub const fn is_table(self) -> bool {
        matches!(self, Self::BfvTable | Self::BgvTable | Self::CkksTable | Self::IntegerTable)
            || self.is_packed_table()
    }

    /// Whether the Python package alone writes and reads the object: fields of its own, and whole objects of other kinds behind them.
    #[must_use]
    pub const fn is_of_python(self) -> bool {
        matches!(
            self,
            Self::PythonArray
                | Self::PythonKeys
                | Self::PythonPlan
                | Self::PythonContext
                | Self::PythonTable
                | Self::PythonElements
                | Self::PythonMessages
                | Self::PythonIntegers
                | Self::PythonConditions
                | Self::PythonSharesRequest
                | Self::PythonShare
        )
    }

    /// Whether the object belongs to protocols of several parties: a share, a message, or what a party keeps.
    #[must_use]
    pub const fn is_of_parties(self) -> bool {
        self as u16 >> 8 == 0x0E
    }

    /// Whether the object is a table that was packed for a program.
    #[must_use]
    pub const fn is_packed_table(self) -> bool {
        matches!(self, Self::BfvPackedTable | Self::BgvPackedTable)
    }

    /// Whether the object is secret: files with it must be readable by their owner alone.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(
            self,
            Self::SecretKey
                | Self::SharingLedger
                | Self::LockedSecret
                | Self::WrappedSecret
                | Self::BfvPlaintext
                | Self::BgvPlaintext
                | Self::CkksPlaintext
                | Self::ReencryptionKey
                | Self::EphemeralSecret
                | Self::ThresholdPiece
                | Self::ThresholdShare
                | Self::DealtPiece
                | Self::PartyState
                | Self::LookupAsked
                | Self::PrivateSet
        )
    }
}

/// Formats a kind of objects as its name, such as "a BFV ciphertext".
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
