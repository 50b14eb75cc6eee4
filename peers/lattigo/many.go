package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

const (
	// pairs is how long an inner product is, factors how many a product tree has.
	pairs   = 128
	factors = 128
	// side is how many rows and columns a matrix has that multiplies.
	side = 64
	// ratio is log2 of baby steps over giant steps: baby steps share one decomposition.
	ratio = 2
)

// about is what parameters and keys come to.
type about struct {
	Secret             string `json:"secret"`
	Digits             int    `json:"digits"`
	CiphertextBytes    int    `json:"ciphertext_bytes"`
	RelinearizationKey int    `json:"relinearization_key_bytes"`
	GaloisKey          int    `json:"galois_key_bytes"`
	// Bytes of what is sent and stored, by name.
	Bytes map[string]int `json:"bytes,omitempty"`
}

func newAbout(parameters rlwe.Parameters, relinearization *rlwe.RelinearizationKey) about {
	polynomial := 8 * parameters.N()
	digits := parameters.BaseRNSDecompositionVectorSize(parameters.MaxLevel(), parameters.MaxLevelP())
	key := 2 * digits * (parameters.QCount() + parameters.PCount()) * polynomial
	return about{
		Secret:             "uniform ternary",
		Digits:             digits,
		CiphertextBytes:    2 * parameters.QCount() * polynomial,
		RelinearizationKey: key,
		GaloisKey:          key,
	}
}

// pool returns ciphertexts of the left and of the right operand in turn: more than a cache holds.
func pool(n int, make func(right bool) (*rlwe.Ciphertext, error)) ([]*rlwe.Ciphertext, error) {
	var made []*rlwe.Ciphertext
	for at := range min(2*pairs, max(2, (1<<20)/n)) {
		ciphertext, err := make(at%2 == 1)
		if err != nil {
			return nil, err
		}
		made = append(made, ciphertext)
	}
	return made, nil
}

// tree returns the product of some factors that come round and round, depth first: a product is made when both of its
// factors are there.
func tree(
	leaves []*rlwe.Ciphertext, first, count int, multiply func(a, b *rlwe.Ciphertext, last bool) (*rlwe.Ciphertext, error),
) (*rlwe.Ciphertext, error) {
	if count == 1 {
		return leaves[first%len(leaves)], nil
	}
	left, err := tree(leaves, first, count/2, multiply)
	if err != nil {
		return nil, err
	}
	right, err := tree(leaves, first+count/2, count/2, multiply)
	if err != nil {
		return nil, err
	}
	return multiply(left, right, count == factors)
}

// diagonals returns those of the matrix: diagonal d holds the entry (i mod 64, i + d mod 64) in slot i, and entry (r, c) is
// entries[64 r + c].
func diagonals[T any](entries []T, slots int) map[int][]T {
	all := make(map[int][]T)
	for d := range side {
		diagonal := make([]T, slots)
		for slot := range diagonal {
			diagonal[slot] = entries[side*(slot%side)+(slot+d)%side]
		}
		all[d] = diagonal
	}
	return all
}
