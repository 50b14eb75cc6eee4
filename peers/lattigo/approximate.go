package main

import (
	"encoding/json"
	"fmt"
	"math/bits"

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

	right   []complex128
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
	evaluation := rlwe.NewMemEvaluationKeySet(keys.GenRelinearizationKeyNew(secret), galois...)
	job := &approximate{
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
	if err := job.encoder.Encode(left, job.encoded); err != nil {
		return nil, err
	}
	if err := job.encoder.Encode(right, job.plain); err != nil {
		return nil, err
	}
	if job.a, err = job.encryptor.EncryptNew(job.encoded); err != nil {
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
		"encode_encrypt", "encrypt_public", "decrypt_decode", "multiply", "relinearize", "multiply_relinearize",
		"multiply_relinearize_rescale", "rescale", "rotate", "rotate_hoisted",
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
	case "decrypt_decode":
		results[0] = job.a
	case "multiply":
		results[0] = job.tensor
	case "multiply_relinearize_rescale", "rescale":
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
