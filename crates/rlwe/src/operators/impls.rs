//! The operators themselves: each calls one method of the evaluator.

use std::borrow::Cow;
use std::ops::{Add, Mul, Neg, Shl, Shr, Sub};
use std::panic::Location;

use sunzi_encoding::Plaintext;

use super::{Operand, Operate, OperateReals, Place, Value};
use crate::Sign;

const SUM: &str = "a sum";
const DIFFERENCE: &str = "a difference";
const PRODUCT: &str = "a product";
const NEGATION: &str = "a negation";
const ROTATION: &str = "a rotation";

/// Writes an operator of two ciphertexts for all four ways of owning and borrowing them.
macro_rules! ciphertexts {
    ($Operator:ident, $method:ident) => {
        impl<'a, S: Operate> $Operator<&Value<'_, S>> for Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: &Value<'_, S>) -> Value<'a, S> {
                self.owned().$method(right, Location::caller())
            }
        }
        impl<'a, S: Operate> $Operator<Value<'_, S>> for Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: Value<'_, S>) -> Value<'a, S> {
                self.owned().$method(&right, Location::caller())
            }
        }
        impl<'a, S: Operate> $Operator<&Value<'_, S>> for &Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: &Value<'_, S>) -> Value<'a, S> {
                self.borrowed().$method(right, Location::caller())
            }
        }
        impl<'a, S: Operate> $Operator<Value<'_, S>> for &Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: Value<'_, S>) -> Value<'a, S> {
                self.borrowed().$method(&right, Location::caller())
            }
        }
    };
}

ciphertexts!(Add, add);
ciphertexts!(Sub, sub);
ciphertexts!(Mul, mul);

/// Writes an operator of a ciphertext and something else on its right.
macro_rules! right {
    ($Operator:ident, $method:ident, $Bound:ident $(<$Plain:ident = $Is:ty>)?, $Right:ty, $call:ident) => {
        impl<'a, S: $Bound $(<$Plain = $Is>)?> $Operator<$Right> for Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: $Right) -> Value<'a, S> {
                self.owned().$call(right, Location::caller())
            }
        }
        impl<'a, S: $Bound $(<$Plain = $Is>)?> $Operator<$Right> for &Value<'a, S> {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: $Right) -> Value<'a, S> {
                self.borrowed().$call(right, Location::caller())
            }
        }
    };
}

right!(Add, add, Operate, i64, add_integer);
right!(Sub, sub, Operate, i64, sub_integer);
right!(Mul, mul, Operate, i64, mul_integer);
right!(Add, add, OperateReals, f64, add_real);
right!(Sub, sub, OperateReals, f64, sub_real);
right!(Mul, mul, OperateReals, f64, mul_real);
right!(Shl, shl, Operate, i64, rotate);
right!(Shr, shr, Operate, i64, rotate_right);
right!(Add, add, Operate<Plaintext = Plaintext>, &Plaintext, add_plain);
right!(Sub, sub, Operate<Plaintext = Plaintext>, &Plaintext, sub_plain);
right!(Mul, mul, Operate<Plaintext = Plaintext>, &Plaintext, mul_plain);

/// Writes an operator of a number on the left of a ciphertext.
macro_rules! left {
    ($Operator:ident, $method:ident, $Bound:ident, $Left:ty, $call:ident) => {
        impl<'a, S: $Bound> $Operator<Value<'a, S>> for $Left {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: Value<'a, S>) -> Value<'a, S> {
                right.owned().$call(self, Location::caller())
            }
        }
        impl<'a, S: $Bound> $Operator<&Value<'a, S>> for $Left {
            type Output = Value<'a, S>;
            #[track_caller]
            fn $method(self, right: &Value<'a, S>) -> Value<'a, S> {
                right.borrowed().$call(self, Location::caller())
            }
        }
    };
}

left!(Add, add, Operate, i64, add_integer);
left!(Sub, sub, Operate, i64, taken_from_integer);
left!(Mul, mul, Operate, i64, mul_integer);
left!(Add, add, OperateReals, f64, add_real);
left!(Sub, sub, OperateReals, f64, taken_from_real);
left!(Mul, mul, OperateReals, f64, mul_real);

impl<'a, S: Operate> Neg for Value<'a, S> {
    type Output = Value<'a, S>;
    #[track_caller]
    fn neg(self) -> Value<'a, S> {
        self.owned().neg(Location::caller())
    }
}

impl<'a, S: Operate> Neg for &Value<'a, S> {
    type Output = Value<'a, S>;
    #[track_caller]
    fn neg(self) -> Value<'a, S> {
        self.borrowed().neg(Location::caller())
    }
}

impl<'a, S: Operate> Value<'a, S> {
    /// Adds a scheme's plaintext; for schemes with a plaintext of their own.
    pub fn plus_plain(self, plaintext: &S::Plaintext, place: Place) -> Self {
        self.owned().add_plain(plaintext, place)
    }

    /// Subtracts a scheme's plaintext; for schemes with a plaintext of their own.
    pub fn minus_plain(self, plaintext: &S::Plaintext, place: Place) -> Self {
        self.owned().sub_plain(plaintext, place)
    }

    /// Multiplies by a scheme's plaintext; for schemes with a plaintext of their own.
    pub fn times_plain(&self, plaintext: &S::Plaintext, place: Place) -> Self {
        self.borrowed().mul_plain(plaintext, place)
    }
}

impl<'a, S: Operate> Operand<'_, 'a, S> {
    fn add(self, right: &Value<'_, S>, place: Place) -> Value<'a, S> {
        self.and(right, SUM, place, |with, a, b| with.evaluator.joined(a, b, "add", Sign::Plus))
    }

    fn sub(self, right: &Value<'_, S>, place: Place) -> Value<'a, S> {
        self.and(right, DIFFERENCE, place, |with, a, b| with.evaluator.joined(a, b, "subtract", Sign::Minus))
    }

    fn mul(self, right: &Value<'_, S>, place: Place) -> Value<'a, S> {
        self.and(right, PRODUCT, place, |with, a, b| with.product(&a, b))
    }

    fn neg(self, place: Place) -> Value<'a, S> {
        self.alone(NEGATION, place, |with, a| with.evaluator.negated(a))
    }

    fn add_plain(self, plaintext: &S::Plaintext, place: Place) -> Value<'a, S> {
        self.alone(SUM, place, |with, a| with.evaluator.shifted(a, plaintext, Sign::Plus))
    }

    fn sub_plain(self, plaintext: &S::Plaintext, place: Place) -> Value<'a, S> {
        self.alone(DIFFERENCE, place, |with, a| with.evaluator.shifted(a, plaintext, Sign::Minus))
    }

    fn mul_plain(self, plaintext: &S::Plaintext, place: Place) -> Value<'a, S> {
        self.alone(PRODUCT, place, |with, a| S::multiply_plain(with.evaluator, &a, plaintext))
    }

    fn add_integer(self, constant: i64, place: Place) -> Value<'a, S> {
        self.alone(SUM, place, |with, a| S::add_integer(with.evaluator, a, constant.into()))
    }

    fn sub_integer(self, constant: i64, place: Place) -> Value<'a, S> {
        self.alone(DIFFERENCE, place, |with, a| S::add_integer(with.evaluator, a, -i128::from(constant)))
    }

    /// c − a.
    fn taken_from_integer(self, constant: i64, place: Place) -> Value<'a, S> {
        self.alone(DIFFERENCE, place, |with, a| {
            S::add_integer(with.evaluator, Cow::Owned(with.evaluator.negated(a)?), constant.into())
        })
    }

    fn mul_integer(self, constant: i64, place: Place) -> Value<'a, S> {
        self.alone(PRODUCT, place, |with, a| S::multiply_integer(with.evaluator, a, constant))
    }

    fn rotate(self, steps: i64, place: Place) -> Value<'a, S> {
        self.alone(ROTATION, place, |with, a| with.rotation(&a, steps))
    }

    fn rotate_right(self, steps: i64, place: Place) -> Value<'a, S> {
        // −2^63 has no negative; any multiple of the row length, which is a power of two below, moves alike.
        self.rotate(steps.checked_neg().unwrap_or(i64::MIN), place)
    }
}

impl<'a, S: OperateReals> Operand<'_, 'a, S> {
    fn add_real(self, constant: f64, place: Place) -> Value<'a, S> {
        self.alone(SUM, place, |with, a| S::add_real(with.evaluator, a, constant))
    }

    fn sub_real(self, constant: f64, place: Place) -> Value<'a, S> {
        self.alone(DIFFERENCE, place, |with, a| S::add_real(with.evaluator, a, -constant))
    }

    /// c − a.
    fn taken_from_real(self, constant: f64, place: Place) -> Value<'a, S> {
        self.alone(DIFFERENCE, place, |with, a| {
            S::add_real(with.evaluator, Cow::Owned(with.evaluator.negated(a)?), constant)
        })
    }

    fn mul_real(self, constant: f64, place: Place) -> Value<'a, S> {
        self.alone(PRODUCT, place, |with, a| S::multiply_real(with.evaluator, &a, constant))
    }
}
