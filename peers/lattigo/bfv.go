package main

import (
	"fmt"
	"math/bits"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// steps is how far rotate goes, to the left in both rows.
const steps = 1

// bfv is BFV as Lattigo does it today: its BGV with the scale-invariant tensor product.
type bfv struct {
	parameters bgv.Parameters
	encoder    *bgv.Encoder
	encryptor  *rlwe.Encryptor
	decryptor  *rlwe.Decryptor
	evaluator  *bgv.Evaluator

	right   []uint64
	plain   *rlwe.Plaintext
	a, b    *rlwe.Ciphertext
	product *rlwe.Ciphertext

	// Where results go, so that nothing is allocated while something is timed.
	encoded *rlwe.Plaintext
	message ring.Poly
	opened  []uint64
	sealed  *rlwe.Ciphertext
	tensor  *rlwe.Ciphertext
	result  *rlwe.Ciphertext
}

func newBFV(asked request) (*bfv, error) {
	parameters, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             bits.Len(uint(asked.N)) - 1,
		Q:                asked.Q,
		P:                asked.P,
		PlaintextModulus: asked.T,
	})
	if err != nil {
		return nil, err
	}
	level := parameters.MaxLevel()
	keys := bgv.NewKeyGenerator(parameters)
	secret, public := keys.GenKeyPairNew()
	galois := keys.GenGaloisKeyNew(parameters.GaloisElementForColRotation(steps), secret)
	evaluation := rlwe.NewMemEvaluationKeySet(keys.GenRelinearizationKeyNew(secret), galois)
	job := &bfv{
		parameters: parameters,
		encoder:    bgv.NewEncoder(parameters),
		encryptor:  bgv.NewEncryptor(parameters, public),
		decryptor:  bgv.NewDecryptor(parameters, secret),
		evaluator:  bgv.NewEvaluator(parameters, evaluation, true),
		right:      asked.Right,
		plain:      bgv.NewPlaintext(parameters, level),
		encoded:    bgv.NewPlaintext(parameters, level),
		message:    parameters.RingT().NewPoly(),
		opened:     make([]uint64, asked.N),
		sealed:     bgv.NewCiphertext(parameters, 1, level),
		tensor:     bgv.NewCiphertext(parameters, 2, level),
		result:     bgv.NewCiphertext(parameters, 1, level),
	}
	other := bgv.NewPlaintext(parameters, level)
	if err := job.encoder.Encode(asked.Left, other); err != nil {
		return nil, err
	}
	if err := job.encoder.Encode(asked.Right, job.plain); err != nil {
		return nil, err
	}
	if job.a, err = job.encryptor.EncryptNew(other); err != nil {
		return nil, err
	}
	if job.b, err = job.encryptor.EncryptNew(job.plain); err != nil {
		return nil, err
	}
	job.product, err = job.evaluator.MulNew(job.a, job.b)
	return job, err
}

func (job *bfv) operations() []string {
	return []string{
		"encode_encrypt", "encrypt_public", "decrypt", "decrypt_decode",
		"multiply", "relinearize", "multiply_relinearize", "rotate",
	}
}

func (job *bfv) operation(name string) (func() error, error) {
	evaluator := job.evaluator
	switch name {
	case "encode_encrypt":
		return job.encodeAndEncrypt, nil
	case "encrypt_public":
		return func() error { return job.encryptor.Encrypt(job.plain, job.sealed) }, nil
	case "decrypt":
		return func() error { job.decrypt(); return nil }, nil
	case "decrypt_decode":
		return func() error { return job.open(job.a) }, nil
	case "multiply":
		return func() error { return evaluator.Mul(job.a, job.b, job.tensor) }, nil
	case "relinearize":
		return func() error { return evaluator.Relinearize(job.product, job.result) }, nil
	case "multiply_relinearize":
		return func() error { return evaluator.MulRelin(job.a, job.b, job.result) }, nil
	case "rotate":
		return func() error { return evaluator.RotateColumns(job.a, steps, job.result) }, nil
	}
	return nil, fmt.Errorf("no operation %q", name)
}

func (job *bfv) verify(name string) ([]uint64, error) {
	call, err := job.operation(name)
	if err != nil {
		return nil, err
	}
	if err := call(); err != nil {
		return nil, err
	}
	switch name {
	case "encode_encrypt", "encrypt_public":
		err = job.open(job.sealed)
	case "decrypt":
		err = job.encoder.DecodeRingT(job.message, job.a.Scale, job.opened)
	case "decrypt_decode":
	case "multiply":
		err = job.open(job.tensor)
	default:
		err = job.open(job.result)
	}
	return job.opened, err
}

func (job *bfv) encodeAndEncrypt() error {
	if err := job.encoder.Encode(job.right, job.encoded); err != nil {
		return err
	}
	return job.encryptor.Encrypt(job.encoded, job.sealed)
}

// decrypt ends where the other libraries do, at coefficients modulo t: Lattigo's Decrypt stops before
// the scaling, which its Decode begins with.
func (job *bfv) decrypt() {
	level := job.a.Level()
	job.decryptor.Decrypt(job.a, job.encoded)
	job.parameters.RingQ().AtLevel(level).INTT(job.encoded.Value, job.encoded.Value)
	job.encoder.RingQ2T(level, true, job.encoded.Value, job.message)
}

func (job *bfv) open(ciphertext *rlwe.Ciphertext) error {
	job.decryptor.Decrypt(ciphertext, job.encoded)
	return job.encoder.Decode(job.encoded, job.opened)
}
