package main

import (
	"fmt"

	"github.com/tuneinsight/lattigo/v6/ring"
)

// transform is one negacyclic transform modulo one prime.
type transform struct {
	ring        *ring.Ring
	left, right []uint64
	data        []uint64
}

func newTransform(asked request) (*transform, error) {
	left, right, err := operands(asked)
	if err != nil {
		return nil, err
	}
	if len(asked.Q) != 1 || len(left) != asked.N || len(right) != asked.N {
		return nil, fmt.Errorf("expected one modulus and %d words on either side", asked.N)
	}
	made, err := ring.NewRing(asked.N, asked.Q)
	if err != nil {
		return nil, err
	}
	data := append([]uint64(nil), left...)
	return &transform{ring: made, left: left, right: right, data: data}, nil
}

func (job *transform) operations() []string {
	return []string{"forward", "inverse_normalized"}
}

func (job *transform) operation(name string) (func() error, error) {
	modulus := job.ring.SubRings[0]
	switch name {
	case "forward":
		return func() error { modulus.NTT(job.data, job.data); return nil }, nil
	case "inverse_normalized":
		return func() error { modulus.INTT(job.data, job.data); return nil }, nil
	}
	return nil, fmt.Errorf("no operation %q", name)
}

// verify returns left·right modulo X^n + 1, by way of the transforms.
func (job *transform) verify(string) (any, error) {
	modulus := job.ring.SubRings[0]
	product := append([]uint64(nil), job.left...)
	factor := append([]uint64(nil), job.right...)
	modulus.NTT(product, product)
	modulus.NTT(factor, factor)
	modulus.MulCoeffsBarrett(product, factor, product)
	modulus.INTT(product, product)
	return product, nil
}
