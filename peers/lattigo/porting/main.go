// A dot product and a chain of products as users of Lattigo write them, in BGV.
package main

import (
	"fmt"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

func main() {
	params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             13,
		LogQ:             []int{50, 50, 50},
		LogP:             []int{55},
		PlaintextModulus: 65537,
	})
	check(err)

	kgen := rlwe.NewKeyGenerator(params)
	sk, pk := kgen.GenKeyPairNew()
	rlk := kgen.GenRelinearizationKeyNew(sk)
	elements := []uint64{}
	for _, step := range []int{4, 2, 1} {
		elements = append(elements, params.GaloisElementForColRotation(step))
	}
	keys := rlwe.NewMemEvaluationKeySet(rlk, kgen.GenGaloisKeysNew(elements, sk)...)

	encoder := bgv.NewEncoder(params)
	encryptor := rlwe.NewEncryptor(params, pk)
	decryptor := rlwe.NewDecryptor(params, sk)
	evaluator := bgv.NewEvaluator(params, keys)

	encrypt := func(numbers []uint64) *rlwe.Ciphertext {
		plain := bgv.NewPlaintext(params, params.MaxLevel())
		check(encoder.Encode(numbers, plain))
		sealed, err := encryptor.EncryptNew(plain)
		check(err)
		return sealed
	}
	decrypt := func(sealed *rlwe.Ciphertext) []uint64 {
		numbers := make([]uint64, params.MaxSlots())
		check(encoder.Decode(decryptor.DecryptNew(sealed), numbers))
		return numbers
	}
	x := encrypt([]uint64{1, 2, 3, 4, 5, 6, 7, 8})
	y := encrypt([]uint64{8, 7, 6, 5, 4, 3, 2, 1})

	product, err := evaluator.MulRelinNew(x, y)
	check(err)
	check(evaluator.Rescale(product, product))

	dot := product.CopyNew()
	for _, step := range []int{4, 2, 1} {
		rotated, err := evaluator.RotateColumnsNew(dot, step)
		check(err)
		check(evaluator.Add(dot, rotated, dot))
	}

	chain, err := evaluator.MulRelinNew(product, x)
	check(err)
	check(evaluator.Rescale(chain, chain))

	fmt.Println("dot:", decrypt(dot)[0])
	fmt.Println("chain:", decrypt(chain)[:8])
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
