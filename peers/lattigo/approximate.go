package main

import (
	"encoding/json"
	"fmt"
	"math/bits"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/lintrans"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// approximate is CKKS with all n/2 slots.
type approximate struct {
	parameters ckks.Parameters
	encoder    *ckks.Encoder
	encryptor  *rlwe.Encryptor
	decryptor  *rlwe.Decryptor
	evaluator  *ckks.Evaluator

	keys            *rlwe.KeyGenerator
	secret          *rlwe.SecretKey
	relinearization *rlwe.RelinearizationKey

	right   []complex128
	other   *rlwe.Plaintext
	plain   *rlwe.Plaintext
	a, b    *rlwe.Ciphertext
	product *rlwe.Ciphertext // of degree 2
	reduced *rlwe.Ciphertext // the same, relinearized

	// Where results go, so that nothing is allocated while something is timed.
	encoded *rlwe.Plaintext
	opened  []complex128
	sealed  *rlwe.Ciphertext
	tensor  *rlwe.Ciphertext
	result  *rlwe.Ciphertext
	lowered *rlwe.Ciphertext
	digits  []ringqp.Poly
	rotated [hoisted]*rlwe.Ciphertext

	// Made when they are first asked for.
	pool   []*rlwe.Ciphertext
	grown  *rlwe.Ciphertext
	matrix func() error
}

func newApproximate(asked request) (*approximate, error) {
	parameters, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN:            bits.Len(uint(asked.N)) - 1,
		Q:               asked.Q,
		P:               asked.P,
		LogDefaultScale: asked.LogScale,
	})
	if err != nil {
		return nil, err
	}
	left, err := slots(asked.Left)
	if err != nil {
		return nil, err
	}
	right, err := slots(asked.Right)
	if err != nil {
		return nil, err
	}
	level := parameters.MaxLevel()
	keys := ckks.NewKeyGenerator(parameters)
	secret, public := keys.GenKeyPairNew()
	var galois []*rlwe.GaloisKey
	for step := range hoisted {
		galois = append(galois, keys.GenGaloisKeyNew(parameters.GaloisElementForRotation(step+1), secret))
	}
	relinearization := keys.GenRelinearizationKeyNew(secret)
	evaluation := rlwe.NewMemEvaluationKeySet(relinearization, galois...)
	job := &approximate{
		keys: keys, secret: secret, relinearization: relinearization,
		parameters: parameters,
		encoder:    ckks.NewEncoder(parameters),
		encryptor:  ckks.NewEncryptor(parameters, public),
		decryptor:  ckks.NewDecryptor(parameters, secret),
		evaluator:  ckks.NewEvaluator(parameters, evaluation),
		right:      right,
		plain:      ckks.NewPlaintext(parameters, level),
		encoded:    ckks.NewPlaintext(parameters, level),
		opened:     make([]complex128, parameters.MaxSlots()),
		sealed:     ckks.NewCiphertext(parameters, 1, level),
		tensor:     ckks.NewCiphertext(parameters, 2, level),
		result:     ckks.NewCiphertext(parameters, 1, level),
		lowered:    ckks.NewCiphertext(parameters, 1, level-1),
	}
	for range parameters.BaseRNSDecompositionVectorSize(level, parameters.MaxLevelP()) {
		job.digits = append(job.digits, parameters.RingQP().NewPoly())
	}
	for at := range job.rotated {
		job.rotated[at] = ckks.NewCiphertext(parameters, 1, level)
	}
	job.other = ckks.NewPlaintext(parameters, level)
	if err := job.encoder.Encode(left, job.other); err != nil {
		return nil, err
	}
	if err := job.encoder.Encode(right, job.plain); err != nil {
		return nil, err
	}
	if job.a, err = job.encryptor.EncryptNew(job.other); err != nil {
		return nil, err
	}
	if job.b, err = job.encryptor.EncryptNew(job.plain); err != nil {
		return nil, err
	}
	if job.product, err = job.evaluator.MulNew(job.a, job.b); err != nil {
		return nil, err
	}
	job.reduced, err = job.evaluator.RelinearizeNew(job.product)
	return job, err
}

func (job *approximate) operations() []string {
	return []string{
		"encode_encrypt", "encrypt_public", "decrypt", "decrypt_decode", "add", "multiply", "relinearize",
		"multiply_relinearize", "multiply_relinearize_rescale", "rescale", "rotate", "rotate_hoisted",
		"inner_product_128", "product_tree_128", "matrix_vector_64",
	}
}

func (job *approximate) operation(name string) (func() error, error) {
	evaluator := job.evaluator
	switch name {
	case "encode_encrypt":
		return job.encodeAndEncrypt, nil
	case "encrypt_public":
		return func() error { return job.encryptor.Encrypt(job.plain, job.sealed) }, nil
	case "decrypt_decode":
		return func() error { return job.open(job.a) }, nil
	case "decrypt":
		return func() error { job.decryptor.Decrypt(job.a, job.encoded); return nil }, nil
	case "add":
		return func() error { return evaluator.Add(job.a, job.b, job.result) }, nil
	case "inner_product_128":
		return job.innerProduct, job.fillPool()
	case "product_tree_128":
		return job.productTree, job.fillPool()
	case "matrix_vector_64":
		return job.makeMatrix()
	case "multiply":
		return func() error { return evaluator.Mul(job.a, job.b, job.tensor) }, nil
	case "relinearize":
		return func() error { return evaluator.Relinearize(job.product, job.result) }, nil
	case "multiply_relinearize":
		return func() error { return evaluator.MulRelin(job.a, job.b, job.result) }, nil
	case "multiply_relinearize_rescale":
		return job.multiplyAndRescale, nil
	case "rescale":
		return func() error { return evaluator.Rescale(job.reduced, job.lowered) }, nil
	case "rotate":
		return func() error { return evaluator.Rotate(job.a, steps, job.result) }, nil
	case "rotate_hoisted":
		return job.rotateHoisted, nil
	}
	return nil, fmt.Errorf("no operation %q", name)
}

func (job *approximate) verify(name string) (any, error) {
	call, err := job.operation(name)
	if err != nil {
		return nil, err
	}
	if err := call(); err != nil {
		return nil, err
	}
	results := []*rlwe.Ciphertext{job.result}
	switch name {
	case "encode_encrypt", "encrypt_public":
		results[0] = job.sealed
	case "decrypt", "decrypt_decode":
		results[0] = job.a
	case "product_tree_128":
		results[0] = job.grown
	case "multiply":
		results[0] = job.tensor
	case "multiply_relinearize_rescale", "rescale", "inner_product_128", "matrix_vector_64":
		results[0] = job.lowered
	case "rotate_hoisted":
		results = job.rotated[:]
	}
	var all []float64
	for _, result := range results {
		if err := job.open(result); err != nil {
			return nil, err
		}
		all = append(all, parts(job.opened)...)
	}
	return all, nil
}

func (job *approximate) encodeAndEncrypt() error {
	if err := job.encoder.Encode(job.right, job.encoded); err != nil {
		return err
	}
	return job.encryptor.Encrypt(job.encoded, job.sealed)
}

func (job *approximate) multiplyAndRescale() error {
	if err := job.evaluator.MulRelin(job.a, job.b, job.result); err != nil {
		return err
	}
	return job.evaluator.Rescale(job.result, job.lowered)
}

// rotateHoisted decomposes once and rotates by 1 to 16 steps.
func (job *approximate) rotateHoisted() error {
	level, special := job.a.Level(), job.parameters.MaxLevelP()
	job.evaluator.DecomposeNTT(level, special, special+1, job.a.Value[1], job.a.IsNTT, job.digits)
	for at, rotated := range job.rotated {
		element := job.parameters.GaloisElementForRotation(at + 1)
		if err := job.evaluator.AutomorphismHoisted(level, job.a, job.digits, element, rotated); err != nil {
			return err
		}
	}
	return nil
}

func (job *approximate) about() about {
	return newAbout(job.parameters.Parameters, job.relinearization)
}

func (job *approximate) fillPool() (err error) {
	if job.pool == nil {
		job.pool, err = pool(job.parameters.N(), func(right bool) (*rlwe.Ciphertext, error) {
			if right {
				return job.encryptor.EncryptNew(job.plain)
			}
			return job.encryptor.EncryptNew(job.other)
		})
	}
	return err
}

// innerProduct sums products in three parts, relinearizes and rescales once.
func (job *approximate) innerProduct() error {
	evaluator, count := job.evaluator, len(job.pool)
	sum := ckks.NewCiphertext(job.parameters, 2, job.parameters.MaxLevel())
	if err := evaluator.Mul(job.pool[0], job.pool[1], sum); err != nil {
		return err
	}
	for at := 1; at < pairs; at++ {
		if err := evaluator.MulThenAdd(job.pool[2*at%count], job.pool[(2*at+1)%count], sum); err != nil {
			return err
		}
	}
	if err := evaluator.Relinearize(sum, job.result); err != nil {
		return err
	}
	return evaluator.Rescale(job.result, job.lowered)
}

func (job *approximate) productTree() (err error) {
	multiply := func(a, b *rlwe.Ciphertext, _ bool) (*rlwe.Ciphertext, error) {
		product, err := job.evaluator.MulRelinNew(a, b)
		if err == nil {
			err = job.evaluator.Rescale(product, product)
		}
		return product, err
	}
	job.grown, err = tree(job.pool, 0, factors, multiply)
	return err
}

func (job *approximate) makeMatrix() (func() error, error) {
	if job.matrix != nil {
		return job.matrix, nil
	}
	parameters := job.parameters
	all := lintrans.Diagonals[complex128](diagonals(job.right, parameters.MaxSlots()))
	transformation := lintrans.NewTransformation(parameters, lintrans.Parameters{
		DiagonalsIndexList:        all.DiagonalsIndexList(),
		LevelQ:                    job.a.Level(),
		LevelP:                    parameters.MaxLevelP(),
		Scale:                     parameters.GetOptimalScalingFactor(job.a.Scale, parameters.DefaultScale(), job.a.Level()),
		LogDimensions:             job.a.LogDimensions,
		LogBabyStepGiantStepRatio: ratio,
	})
	if err := lintrans.Encode(job.encoder, all, transformation); err != nil {
		return nil, err
	}
	galois := job.keys.GenGaloisKeysNew(transformation.GaloisElements(parameters), job.secret)
	evaluator := lintrans.NewEvaluator(job.evaluator.WithKey(rlwe.NewMemEvaluationKeySet(nil, galois...)))
	job.matrix = func() error {
		if err := evaluator.Evaluate(job.a, transformation, job.result); err != nil {
			return err
		}
		return job.evaluator.Rescale(job.result, job.lowered)
	}
	return job.matrix, nil
}

func (job *approximate) open(ciphertext *rlwe.Ciphertext) error {
	plain := job.encoded
	if level := ciphertext.Level(); level != plain.Level() {
		plain = ckks.NewPlaintext(job.parameters, level)
	}
	job.decryptor.Decrypt(ciphertext, plain)
	return job.encoder.Decode(plain, job.opened)
}

// slots reads complex numbers written as real and imaginary parts in turn.
func slots(text json.RawMessage) ([]complex128, error) {
	var numbers []float64
	if err := json.Unmarshal(text, &numbers); err != nil {
		return nil, err
	}
	if len(numbers)%2 != 0 {
		return nil, fmt.Errorf("expected pairs of numbers, got %d numbers", len(numbers))
	}
	read := make([]complex128, len(numbers)/2)
	for at := range read {
		read[at] = complex(numbers[2*at], numbers[2*at+1])
	}
	return read, nil
}

// parts writes complex numbers as real and imaginary parts in turn.
func parts(values []complex128) []float64 {
	written := make([]float64, 0, 2*len(values))
	for _, value := range values {
		written = append(written, real(value), imag(value))
	}
	return written
}
