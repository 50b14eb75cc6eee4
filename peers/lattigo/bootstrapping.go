package main

import (
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// memory is what the collector tries to stay below: with its usual pace garbage would double the keys.
const memory = 15 << 30

// refresh is CKKS with one of Lattigo's sets of parameters for bootstrapping.
type refresh struct {
	parameters ckks.Parameters
	encoder    *ckks.Encoder
	encryptor  *rlwe.Encryptor
	decryptor  *rlwe.Decryptor
	evaluator  *bootstrapping.Evaluator
	set        setFacts

	exhausted *rlwe.Ciphertext
	result    *rlwe.Ciphertext
}

// setFacts is what a set and its keys come to.
type setFacts struct {
	KeySeconds    float64 `json:"key_seconds"`
	KeyBytes      int     `json:"key_bytes"`
	GaloisKeys    int     `json:"galois_keys"`
	LogKeyModulus float64 `json:"log_key_modulus"`
	LogLeft       float64 `json:"log_left"`
	Levels        int     `json:"levels"`
}

func newRefresh(asked request) (*refresh, error) {
	literal := bootstrapping.N16QP1546H192H32
	switch asked.Set {
	case "N16QP1546H192H32":
	case "N15QP768H192H32":
		literal = bootstrapping.N15QP768H192H32
	default:
		return nil, fmt.Errorf("no set %q", asked.Set)
	}
	residual, err := ckks.NewParametersFromLiteral(literal.SchemeParams)
	if err != nil {
		return nil, err
	}
	logN := residual.LogN()
	if logN != bits.Len(uint(asked.N))-1 {
		return nil, fmt.Errorf("%s is for n = %d, asked for %d", asked.Set, residual.N(), asked.N)
	}
	literal.BootstrappingParams.LogN = &logN
	literal.BootstrappingParams.Xs = residual.Xs()
	// Bootstrapping has special moduli of its own, 61 bits each, unless it is told those of the set.
	literal.BootstrappingParams.LogP = literal.SchemeParams.LogP
	parameters, err := bootstrapping.NewParametersFromLiteral(residual, literal.BootstrappingParams)
	if err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(memory)
	secret, public := rlwe.NewKeyGenerator(residual).GenKeyPairNew()
	begin := time.Now()
	keys, _, err := parameters.GenEvaluationKeys(secret)
	if err != nil {
		return nil, err
	}
	evaluator, err := bootstrapping.NewEvaluator(parameters, keys)
	if err != nil {
		return nil, err
	}
	job := &refresh{
		parameters: residual,
		encoder:    ckks.NewEncoder(residual),
		encryptor:  ckks.NewEncryptor(residual, public),
		decryptor:  ckks.NewDecryptor(residual, secret),
		evaluator:  evaluator,
		set: setFacts{
			KeySeconds:    time.Since(begin).Seconds(),
			KeyBytes:      keys.BinarySize(),
			GaloisKeys:    len(keys.GetGaloisKeysList()),
			LogKeyModulus: parameters.BootstrappingParameters.LogQP(),
			LogLeft:       residual.LogQ(),
			Levels:        evaluator.OutputLevel(),
		},
	}
	runtime.GC()
	return job, job.replace(asked)
}

// replace encrypts another message at the lowest level.
func (job *refresh) replace(asked request) error {
	message, err := slots(asked.Left)
	if err != nil {
		return err
	}
	plain := ckks.NewPlaintext(job.parameters, 0)
	if err := job.encoder.Encode(message, plain); err != nil {
		return err
	}
	job.exhausted, err = job.encryptor.EncryptNew(plain)
	return err
}

func (job *refresh) operations() []string {
	return []string{"bootstrap"}
}

func (job *refresh) operation(name string) (func() error, error) {
	if name != "bootstrap" {
		return nil, fmt.Errorf("no operation %q", name)
	}
	return func() (err error) {
		job.result, err = job.evaluator.Bootstrap(job.exhausted.CopyNew())
		return err
	}, nil
}

func (job *refresh) verify(name string) (any, error) {
	call, err := job.operation(name)
	if err != nil {
		return nil, err
	}
	if err := call(); err != nil {
		return nil, err
	}
	opened := make([]complex128, job.parameters.MaxSlots())
	if err := job.encoder.Decode(job.decryptor.DecryptNew(job.result), opened); err != nil {
		return nil, err
	}
	return parts(opened), nil
}

func (job *refresh) facts() any {
	return job.set
}
