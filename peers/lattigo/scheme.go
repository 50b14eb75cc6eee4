package main

import (
	"fmt"
	"math/bits"

	"github.com/tuneinsight/lattigo/v6/circuits/bgv/lintrans"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// steps is how far rotate goes, to the left in both rows.
const steps = 1

// hoisted is how many rotations, by one step to so many, share one decomposition.
const hoisted = 16

// scheme is BGV, or BFV as Lattigo does it today: its BGV with the scale-invariant tensor product.
type scheme struct {
	invariant  bool
	parameters bgv.Parameters
	encoder    *bgv.Encoder
	encryptor  *rlwe.Encryptor
	decryptor  *rlwe.Decryptor
	evaluator  *bgv.Evaluator

	keys            *rlwe.KeyGenerator
	secret          *rlwe.SecretKey
	relinearization *rlwe.RelinearizationKey

	right   []uint64
	other   *rlwe.Plaintext
	plain   *rlwe.Plaintext
	a, b    *rlwe.Ciphertext
	product *rlwe.Ciphertext // of degree 2
	reduced *rlwe.Ciphertext // the same, relinearized

	// Where results go, so that nothing is allocated while something is timed.
	encoded *rlwe.Plaintext
	message ring.Poly
	opened  []uint64
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

// exactParameters are those of BFV and BGV, to the prime.
func exactParameters(asked request) (bgv.Parameters, error) {
	return bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN:             bits.Len(uint(asked.N)) - 1,
		Q:                asked.Q,
		P:                asked.P,
		PlaintextModulus: asked.T,
	})
}

func newScheme(asked request, invariant bool) (*scheme, error) {
	parameters, err := exactParameters(asked)
	if err != nil {
		return nil, err
	}
	left, right, err := operands(asked)
	if err != nil {
		return nil, err
	}
	level := parameters.MaxLevel()
	keys := bgv.NewKeyGenerator(parameters)
	secret, public := keys.GenKeyPairNew()
	var galois []*rlwe.GaloisKey
	for step := range hoisted {
		element := parameters.GaloisElementForColRotation(step + 1)
		galois = append(galois, keys.GenGaloisKeyNew(element, secret))
	}
	relinearization := keys.GenRelinearizationKeyNew(secret)
	evaluation := rlwe.NewMemEvaluationKeySet(relinearization, galois...)
	job := &scheme{
		keys: keys, secret: secret, relinearization: relinearization,
		invariant:  invariant,
		parameters: parameters,
		encoder:    bgv.NewEncoder(parameters),
		encryptor:  bgv.NewEncryptor(parameters, public),
		decryptor:  bgv.NewDecryptor(parameters, secret),
		evaluator:  bgv.NewEvaluator(parameters, evaluation, invariant),
		right:      right,
		plain:      bgv.NewPlaintext(parameters, level),
		encoded:    bgv.NewPlaintext(parameters, level),
		message:    parameters.RingT().NewPoly(),
		opened:     make([]uint64, asked.N),
		sealed:     bgv.NewCiphertext(parameters, 1, level),
		tensor:     bgv.NewCiphertext(parameters, 2, level),
		result:     bgv.NewCiphertext(parameters, 1, level),
		lowered:    bgv.NewCiphertext(parameters, 1, level-1),
	}
	for range parameters.BaseRNSDecompositionVectorSize(level, parameters.MaxLevelP()) {
		job.digits = append(job.digits, parameters.RingQP().NewPoly())
	}
	for at := range job.rotated {
		job.rotated[at] = bgv.NewCiphertext(parameters, 1, level)
	}
	job.other = bgv.NewPlaintext(parameters, level)
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

func (job *scheme) operations() []string {
	all := []string{
		"encode_encrypt", "encrypt_public", "decrypt", "decrypt_decode", "add",
		"multiply", "relinearize", "multiply_relinearize", "rotate", "rotate_hoisted",
		"inner_product_128", "product_tree_128", "matrix_vector_64",
	}
	if job.invariant {
		return all
	}
	return append(all, "mod_switch", "multiply_relinearize_switch")
}

func (job *scheme) operation(name string) (func() error, error) {
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
	case "rotate":
		return func() error { return evaluator.RotateColumns(job.a, steps, job.result) }, nil
	case "rotate_hoisted":
		return job.rotateHoisted, nil
	case "mod_switch":
		return func() error { return evaluator.Rescale(job.reduced, job.lowered) }, nil
	case "multiply_relinearize_switch":
		return job.multiplyAndSwitch, nil
	}
	return nil, fmt.Errorf("no operation %q", name)
}

func (job *scheme) verify(name string) (any, error) {
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
	case "mod_switch", "multiply_relinearize_switch":
		err = job.open(job.lowered)
	case "product_tree_128":
		err = job.open(job.grown)
	case "rotate_hoisted":
		return job.openAll()
	default:
		err = job.open(job.result)
	}
	return job.opened, err
}

// circuit opens the last of the values that follow from the operands.
func (job *scheme) circuit(steps []step) ([]uint64, error) {
	values := []*rlwe.Ciphertext{job.a, job.b}
	for _, one := range steps {
		result, err := job.step(one, values)
		if err != nil {
			return nil, err
		}
		values = append(values, result)
	}
	return job.opened, job.open(values[len(values)-1])
}

func (job *scheme) step(one step, values []*rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	left := values[one.Left]
	switch one.Name {
	case "add":
		return job.evaluator.AddNew(left, values[one.Right])
	case "subtract":
		return job.evaluator.SubNew(left, values[one.Right])
	case "negate":
		// Not MulNew by -1, which is a product by t - 1 and takes the noise with it.
		result := left.CopyNew()
		over := job.parameters.RingQ().AtLevel(left.Level())
		for _, part := range result.Value {
			over.Neg(part, part)
		}
		return result, nil
	case "multiply":
		return job.evaluator.MulRelinNew(left, values[one.Right])
	case "rotate":
		return job.evaluator.RotateColumnsNew(left, one.Right)
	}
	return nil, fmt.Errorf("no step %q", one.Name)
}

func (job *scheme) encodeAndEncrypt() error {
	if err := job.encoder.Encode(job.right, job.encoded); err != nil {
		return err
	}
	return job.encryptor.Encrypt(job.encoded, job.sealed)
}

func (job *scheme) multiplyAndSwitch() error {
	if err := job.evaluator.MulRelin(job.a, job.b, job.result); err != nil {
		return err
	}
	return job.evaluator.Rescale(job.result, job.lowered)
}

// rotateHoisted decomposes once and rotates by 1 to 16 steps.
func (job *scheme) rotateHoisted() error {
	level, special := job.a.Level(), job.parameters.MaxLevelP()
	job.evaluator.DecomposeNTT(level, special, special+1, job.a.Value[1], job.a.IsNTT, job.digits)
	for at, rotated := range job.rotated {
		element := job.parameters.GaloisElementForColRotation(at + 1)
		if err := job.evaluator.AutomorphismHoisted(level, job.a, job.digits, element, rotated); err != nil {
			return err
		}
	}
	return nil
}

func (job *scheme) about() about {
	return newAbout(job.parameters.Parameters, job.relinearization)
}

func (job *scheme) fillPool() (err error) {
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

// innerProduct sums products in three parts, and relinearizes once.
func (job *scheme) innerProduct() error {
	evaluator, count := job.evaluator, len(job.pool)
	sum := bgv.NewCiphertext(job.parameters, 2, job.parameters.MaxLevel())
	if err := evaluator.Mul(job.pool[0], job.pool[1], sum); err != nil {
		return err
	}
	for at := 1; at < pairs; at++ {
		a, b := job.pool[2*at%count], job.pool[(2*at+1)%count]
		if !job.invariant {
			if err := evaluator.MulThenAdd(a, b, sum); err != nil {
				return err
			}
			continue
		}
		if err := evaluator.Mul(a, b, job.tensor); err != nil {
			return err
		}
		if err := evaluator.Add(sum, job.tensor, sum); err != nil {
			return err
		}
	}
	return evaluator.Relinearize(sum, job.result)
}

func (job *scheme) productTree() (err error) {
	multiply := func(a, b *rlwe.Ciphertext, last bool) (*rlwe.Ciphertext, error) {
		product, err := job.evaluator.MulRelinNew(a, b)
		if err == nil && !last && !job.invariant {
			err = job.evaluator.Rescale(product, product)
		}
		return product, err
	}
	job.grown, err = tree(job.pool, 0, factors, multiply)
	return err
}

func (job *scheme) makeMatrix() (func() error, error) {
	if job.matrix != nil {
		return job.matrix, nil
	}
	all := lintrans.Diagonals[uint64](diagonals(job.right, job.parameters.MaxSlots()))
	transformation := lintrans.NewLinearTransformation(job.parameters, lintrans.Parameters{
		DiagonalsIndexList:        all.DiagonalsIndexList(),
		LevelQ:                    job.a.Level(),
		LevelP:                    job.parameters.MaxLevelP(),
		Scale:                     job.parameters.DefaultScale(),
		LogDimensions:             job.a.LogDimensions,
		LogBabyStepGiantStepRatio: ratio,
	})
	if err := lintrans.Encode(job.encoder, all, transformation); err != nil {
		return nil, err
	}
	galois := job.keys.GenGaloisKeysNew(transformation.GaloisElements(job.parameters), job.secret)
	evaluator := lintrans.NewEvaluator(job.evaluator.WithKey(rlwe.NewMemEvaluationKeySet(nil, galois...)))
	job.matrix = func() error { return evaluator.Evaluate(job.a, transformation, job.result) }
	return job.matrix, nil
}

// openAll returns the slots of all rotations, one after the other.
func (job *scheme) openAll() ([]uint64, error) {
	var all []uint64
	for _, rotated := range job.rotated {
		if err := job.open(rotated); err != nil {
			return nil, err
		}
		all = append(all, job.opened...)
	}
	return all, nil
}

// decrypt ends where the other libraries do, at coefficients modulo t: Lattigo's Decrypt stops before
// the scaling, which its Decode begins with.
func (job *scheme) decrypt() {
	level := job.a.Level()
	job.decryptor.Decrypt(job.a, job.encoded)
	job.parameters.RingQ().AtLevel(level).INTT(job.encoded.Value, job.encoded.Value)
	job.encoder.RingQ2T(level, true, job.encoded.Value, job.message)
}

func (job *scheme) open(ciphertext *rlwe.Ciphertext) error {
	plain := job.encoded
	if level := ciphertext.Level(); level != plain.Level() {
		plain = bgv.NewPlaintext(job.parameters, level)
	}
	job.decryptor.Decrypt(ciphertext, plain)
	return job.encoder.Decode(plain, job.opened)
}
