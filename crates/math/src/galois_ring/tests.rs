use super::*;
use crate::cyclotomic_polynomial;

const CASES: [(u64, u64, u32); 19] = [
    (1, 2, 1),
    (1, 5, 3),
    (3, 2, 1),
    (4, 3, 2),
    (5, 11, 4),
    (7, 2, 4),
    (8, 3, 1),
    (15, 2, 1),
    (45, 2, 2),
    (105, 2, 4),
    (16, 17, 2),
    (63, 127, 1),
    (91, 3, 4),
    (55, 7, 2),
    (127, 2, 1),
    (128, 127, 4),
    (257, 2, 1),
    (4369, 2, 2),
    (64, (1 << 59) - 55, 1),
];

/// Returns the remainder of Φ_m modulo G and p^r.
fn remainder(ring: &GaloisRing) -> Vec<u64> {
    let (t, d) = (ring.modulus(), ring.degree());
    let phi = cyclotomic_polynomial(ring.index()).unwrap();
    let mut rest: Vec<u64> = phi.iter().map(|&c| i128::from(c).rem_euclid(i128::from(t)) as u64).collect();
    while rest.len() > d {
        let leading = rest.pop().unwrap();
        let shift = rest.len() - d;
        for (i, &g) in ring.relation().iter().enumerate() {
            rest[shift + i] = ring.residues.add(rest[shift + i], t - ring.residues.mul(leading, g));
        }
    }
    rest
}

fn elements(ring: &GaloisRing, count: usize) -> Vec<Vec<u64>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 3
    };
    let mut all = vec![ring.constant(0), ring.constant(1), vec![ring.modulus() - 1; ring.degree()]];
    all.extend((0..count).map(|_| (0..ring.degree()).map(|_| next() % ring.modulus()).collect()));
    all
}

#[test]
fn the_relation_divides_the_cyclotomic_polynomial() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        assert_eq!(ring.degree() as u64, multiplicative_order(p, m).unwrap());
        assert!(remainder(&ring).iter().all(|&x| x == 0), "m = {m}, p = {p}, r = {r}");
        assert_eq!(ring, GaloisRing::new(m, p, r).unwrap(), "always the same");
        // The factor modulo p^r is congruent to the one modulo p.
        let field = GaloisRing::new(m, p, 1).unwrap();
        assert!(ring.relation().iter().zip(field.relation()).all(|(x, y)| x % p == *y));
    }
}

#[test]
fn y_has_order_m_and_its_powers_are_listed() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        let powers = ring.powers_of_y();
        let y = powers.chunks(ring.degree()).nth(1 % m as usize).unwrap();
        let mut power = ring.constant(1);
        for (k, listed) in powers.chunks(ring.degree()).enumerate() {
            assert_eq!(listed, power);
            assert_eq!(k == 0, power == ring.constant(1), "m = {m}, p = {p}, Y^{k}");
            power = ring.mul(&power, y).unwrap();
        }
        assert_eq!(power, ring.constant(1));
    }
}

#[test]
fn frobenius_is_an_automorphism_and_the_pth_power_of_a_field() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        for pair in elements(&ring, 6).windows(2) {
            let frobenius = |a: &[u64]| ring.substitute(a, p).unwrap();
            let (a, b) = (&pair[0], &pair[1]);
            let product = ring.mul(a, b).unwrap();
            assert_eq!(frobenius(&product), ring.mul(&frobenius(a), &frobenius(b)).unwrap());
            let sum = ring.add(a, b).unwrap();
            assert_eq!(frobenius(&sum), ring.add(&frobenius(a), &frobenius(b)).unwrap());
            if r == 1 {
                assert_eq!(frobenius(a), ring.pow(a, &p.into()).unwrap());
            }
            let around = mod_pow(p, ring.degree() as u64, m);
            assert_eq!(ring.substitute(a, around).unwrap(), *a);
        }
    }
}

#[test]
fn every_linear_map_is_a_linearised_polynomial() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        let images: Vec<Vec<u64>> = elements(&ring, ring.degree()).split_off(3);
        let coefficients = ring.linearized(&images).unwrap();
        for a in elements(&ring, 4) {
            // L(a) = Σ a_j·L(Y^j).
            let mapped = a.iter().zip(&images).fold(ring.constant(0), |sum, (&x, image)| {
                ring.add(&sum, &ring.mul(&ring.constant(x), image).unwrap()).unwrap()
            });
            let value = coefficients.iter().enumerate().fold(ring.constant(0), |sum, (k, c)| {
                let conjugate = ring.substitute(&a, mod_pow(p, k as u64, m)).unwrap();
                ring.add(&sum, &ring.mul(c, &conjugate).unwrap()).unwrap()
            });
            assert_eq!(value, mapped, "m = {m}, p = {p}, r = {r}");
        }
        assert!(ring.linearized(&images[1..]).is_err());
    }
}

#[test]
fn units_have_inverses_and_others_do_not() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        for a in elements(&ring, 3) {
            let unit = a.iter().any(|&x| !x.is_multiple_of(p));
            match ring.inverse(&a) {
                Ok(inverse) => assert_eq!(ring.mul(&inverse, &a).unwrap(), ring.constant(1)),
                Err(error) => assert_eq!((error, unit), (MathError::NotAUnit, false)),
            }
        }
    }
}

#[test]
fn subrings_are_rings_of_roots_of_lower_order() {
    for (m, p, r) in CASES {
        let ring = GaloisRing::new(m, p, r).unwrap();
        for k in (1..=m.min(300)).filter(|k| m.is_multiple_of(*k)) {
            let (below, way) = ring.subring(k).unwrap();
            assert!(remainder(&below).iter().all(|&x| x == 0), "m = {m}, p = {p}, k = {k}");
            let powers = ring.powers_of_y();
            let listed = below.powers_of_y();
            for (j, expected) in listed.chunks(below.degree()).enumerate() {
                let element = powers.chunks(ring.degree()).nth(j * k as usize).unwrap();
                assert_eq!(way.coordinates(element), expected);
            }
        }
    }
    assert!(GaloisRing::new(15, 2, 1).unwrap().subring(2).is_err());
    assert!(GaloisRing::new(15, 2, 1).unwrap().subring(0).is_err());
}

#[test]
fn what_is_no_ring_of_slots_is_refused() {
    assert_eq!(GaloisRing::new(5, 4, 1).unwrap_err(), MathError::NotPrime { got: 4 });
    assert_eq!(GaloisRing::new(15, 3, 1).unwrap_err(), MathError::NotCoprime { left: 3, right: 15 });
    for (m, p, r) in
        [(5, 2, 0), (5, 2, 60), (5, 3, 40), (0, 2, 1), (1 << 23, 3, 1), (257, 3, 1), (1031, 2, 1)]
    {
        let outcome = GaloisRing::new(m, p, r);
        let refused = matches!(outcome, Err(MathError::OutOfRange { .. }));
        assert_eq!(refused, (m, p) != (257, 3), "{m} {p} {r}: {outcome:?}");
    }
    assert!(GaloisRing::new(5, 2, 59).is_ok());
    let ring = GaloisRing::new(15, 2, 1).unwrap();
    assert!(matches!(ring.mul(&[1], &[1]), Err(MathError::LengthMismatch { expected: 4, got: 1 })));
    assert!(matches!(ring.add(&[0, 0, 0, 2], &[0; 4]), Err(MathError::OutOfRange { got: 2, .. })));
}
