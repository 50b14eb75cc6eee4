package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/multiparty"
	"github.com/tuneinsight/lattigo/v6/multiparty/mpbgv"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/utils/sampling"
)

// parties is BGV under a joint secret, with every step of what its holders do together. The first of them is timed.
type parties struct {
	parameters bgv.Parameters
	encoder    *bgv.Encoder
	generator  *rlwe.KeyGenerator
	crs        multiparty.CRS
	secrets    []*rlwe.SecretKey
	joint      *rlwe.SecretKey
	left       *rlwe.Plaintext
	a, b       *rlwe.Ciphertext
	lowered    *rlwe.Ciphertext // a, at the level at which shares of decryptions are made
	opened     []uint64
	calls      map[string]func() error
	outcomes   map[string]func() (*rlwe.Ciphertext, *rlwe.SecretKey, error)
	bytes      map[string]int
}

func newParties(asked request) (*parties, error) {
	parameters, err := exactParameters(asked)
	if err != nil {
		return nil, err
	}
	left, right, err := operands(asked)
	if err != nil {
		return nil, err
	}
	if asked.Parties < 2 {
		return nil, errors.New("at least two parties are needed")
	}
	job := &parties{
		parameters: parameters,
		encoder:    bgv.NewEncoder(parameters),
		generator:  bgv.NewKeyGenerator(parameters),
		joint:      rlwe.NewSecretKey(parameters),
		left:       bgv.NewPlaintext(parameters, parameters.MaxLevel()),
		opened:     make([]uint64, asked.N),
		calls:      map[string]func() error{},
		outcomes:   map[string]func() (*rlwe.Ciphertext, *rlwe.SecretKey, error){},
		bytes:      map[string]int{},
	}
	if job.crs, err = sampling.NewKeyedPRNG([]byte("a common reference")); err != nil {
		return nil, err
	}
	for range asked.Parties {
		secret := job.generator.GenSecretKeyNew()
		job.secrets = append(job.secrets, secret)
		parameters.RingQP().Add(job.joint.Value, secret.Value, job.joint.Value)
	}
	plain := bgv.NewPlaintext(parameters, parameters.MaxLevel())
	if err := errors.Join(job.encoder.Encode(left, job.left), job.encoder.Encode(right, plain)); err != nil {
		return nil, err
	}
	encryptor := bgv.NewEncryptor(parameters, job.generator.GenPublicKeyNew(job.joint))
	if job.a, err = encryptor.EncryptNew(job.left); err != nil {
		return nil, err
	}
	if job.b, err = encryptor.EncryptNew(plain); err != nil {
		return nil, err
	}
	job.lowered = job.a.CopyNew()
	job.lowered.Resize(1, job.levelOf(asked.OpenBits))
	return job, job.steps(math.Exp2(asked.FloodingBits))
}

// levelOf is the lowest level whose modulus has so many bits.
func (job *parties) levelOf(bits float64) int {
	level, sum := 0, 0.0
	for at, q := range job.parameters.Q() {
		if sum += math.Log2(float64(q)); sum >= bits {
			return at
		}
		level = at
	}
	return level
}

func (job *parties) steps(deviation float64) error {
	flooding := ring.DiscreteGaussian{Sigma: deviation, Bound: 6 * deviation}
	job.publicKey()
	job.relinearization()
	job.galois()
	return errors.Join(job.decryption(flooding), job.switching(flooding), job.refresh(flooding), job.threshold())
}

// combined adds up the shares of all parties.
func combined[T any](shares []T, sum *T, add func(T, T, *T) error) error {
	if err := add(shares[0], shares[1], sum); err != nil {
		return err
	}
	for _, other := range shares[2:] {
		if err := add(*sum, other, sum); err != nil {
			return err
		}
	}
	return nil
}

// added is combined for sums that cannot fail.
func added[T any](shares []T, sum *T, add func(T, T, *T)) {
	// There is no error to return.
	_ = combined(shares, sum, func(a, b T, sum *T) error { add(a, b, sum); return nil })
}

// each runs a step of every party.
func (job *parties) each(step func(at int, secret *rlwe.SecretKey) error) error {
	for at, secret := range job.secrets {
		if err := step(at, secret); err != nil {
			return err
		}
	}
	return nil
}

// first is a step of the first party, as a call.
func (job *parties) first(step func(at int, secret *rlwe.SecretKey) error) func() error {
	return func() error { return step(0, job.secrets[0]) }
}

func (job *parties) publicKey() {
	protocol := multiparty.NewPublicKeyGenProtocol(job.parameters)
	shares := make([]multiparty.PublicKeyGenShare, len(job.secrets))
	for at := range shares {
		shares[at] = protocol.AllocateShare()
	}
	sum, key := protocol.AllocateShare(), rlwe.NewPublicKey(job.parameters)
	// One reference for all: it is drawn again for every share, as every party has to.
	common := protocol.SampleCRP(job.crs)
	share := func(at int, secret *rlwe.SecretKey) error {
		protocol.SampleCRP(job.crs)
		protocol.GenShare(secret, common, &shares[at])
		return nil
	}
	add := func() error {
		added(shares, &sum, protocol.AggregateShares)
		protocol.GenPublicKey(sum, common, key)
		return nil
	}
	job.calls["share_public_key"], job.calls["add_public_key"] = job.first(share), add
	job.bytes["share of the public key"], job.bytes["public key"] = shares[0].BinarySize(), key.BinarySize()
	job.outcomes["public_key"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		if err := errors.Join(job.each(share), add()); err != nil {
			return nil, nil, err
		}
		made, err := bgv.NewEncryptor(job.parameters, key).EncryptNew(job.left)
		return made, job.joint, err
	}
}

func (job *parties) relinearization() {
	protocol := multiparty.NewRelinearizationKeyGenProtocol(job.parameters)
	parties := len(job.secrets)
	ephemeral := make([]*rlwe.SecretKey, parties)
	one, two := make([]multiparty.RelinearizationKeyGenShare, parties), make([]multiparty.RelinearizationKeyGenShare, parties)
	for at := range parties {
		ephemeral[at], one[at], two[at] = protocol.AllocateShare()
	}
	_, sum, sumTwo := protocol.AllocateShare()
	key := rlwe.NewRelinearizationKey(job.parameters)
	common := protocol.SampleCRP(job.crs)
	shareOne := func(at int, secret *rlwe.SecretKey) error {
		protocol.SampleCRP(job.crs)
		protocol.GenShareRoundOne(secret, common, ephemeral[at], &one[at])
		return nil
	}
	shareTwo := func(at int, secret *rlwe.SecretKey) error {
		protocol.GenShareRoundTwo(ephemeral[at], secret, sum, &two[at])
		return nil
	}
	addTwo := func() error {
		added(two, &sumTwo, protocol.AggregateShares)
		protocol.GenRelinearizationKey(sum, sumTwo, key)
		return nil
	}
	add := func() error {
		added(one, &sum, protocol.AggregateShares)
		return addTwo()
	}
	job.calls["share_relinearization"] = func() error {
		return errors.Join(shareOne(0, job.secrets[0]), shareTwo(0, job.secrets[0]))
	}
	job.calls["add_relinearization"] = add
	job.bytes["shares of the relinearisation key"] = one[0].BinarySize() + two[0].BinarySize()
	job.bytes["relinearisation key"] = key.BinarySize()
	job.outcomes["relinearization"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		if err := job.each(shareOne); err != nil {
			return nil, nil, err
		}
		added(one, &sum, protocol.AggregateShares)
		if err := errors.Join(job.each(shareTwo), addTwo()); err != nil {
			return nil, nil, err
		}
		evaluator := bgv.NewEvaluator(job.parameters, rlwe.NewMemEvaluationKeySet(key))
		made, err := evaluator.MulRelinNew(job.a, job.b)
		return made, job.joint, err
	}
}

func (job *parties) galois() {
	protocol := multiparty.NewGaloisKeyGenProtocol(job.parameters)
	element := job.parameters.GaloisElementForColRotation(steps)
	shares := make([]multiparty.GaloisKeyGenShare, len(job.secrets))
	for at := range shares {
		shares[at] = protocol.AllocateShare()
	}
	sum, key := protocol.AllocateShare(), rlwe.NewGaloisKey(job.parameters)
	common := protocol.SampleCRP(job.crs)
	share := func(at int, secret *rlwe.SecretKey) error {
		protocol.SampleCRP(job.crs)
		return protocol.GenShare(secret, element, common, &shares[at])
	}
	add := func() error {
		sum.GaloisElement = element
		if err := combined(shares, &sum, protocol.AggregateShares); err != nil {
			return err
		}
		return protocol.GenGaloisKey(sum, common, key)
	}
	job.calls["share_galois"], job.calls["add_galois"] = job.first(share), add
	job.bytes["share of a Galois key"], job.bytes["Galois key"] = shares[0].BinarySize(), key.BinarySize()
	job.outcomes["galois"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		if err := errors.Join(job.each(share), add()); err != nil {
			return nil, nil, err
		}
		evaluator := bgv.NewEvaluator(job.parameters, rlwe.NewMemEvaluationKeySet(nil, key))
		made, err := evaluator.RotateColumnsNew(job.a, steps)
		return made, job.joint, err
	}
}

// decryption is a switch to the secret zero.
func (job *parties) decryption(flooding ring.DiscreteGaussian) error {
	protocol, err := multiparty.NewKeySwitchProtocol(job.parameters, flooding)
	if err != nil {
		return err
	}
	nothing, level := rlwe.NewSecretKey(job.parameters), job.lowered.Level()
	shares := make([]multiparty.KeySwitchShare, len(job.secrets))
	for at := range shares {
		shares[at] = protocol.AllocateShare(level)
	}
	sum, result := protocol.AllocateShare(level), bgv.NewCiphertext(job.parameters, 1, level)
	phase, message := job.parameters.RingQ().AtLevel(level).NewPoly(), job.parameters.RingT().NewPoly()
	share := func(at int, secret *rlwe.SecretKey) error {
		protocol.GenShare(secret, nothing, job.lowered, &shares[at])
		return nil
	}
	open := func() error {
		if err := combined(shares, &sum, protocol.AggregateShares); err != nil {
			return err
		}
		protocol.KeySwitch(job.lowered, sum, result)
		job.parameters.RingQ().AtLevel(level).INTT(result.Value[0], phase)
		job.encoder.RingQ2T(level, true, phase, message)
		return nil
	}
	job.calls["share_decryption"], job.calls["open"] = job.first(share), open
	job.calls["open_decode"] = func() error {
		if err := open(); err != nil {
			return err
		}
		return job.encoder.DecodeRingT(message, result.Scale, job.opened)
	}
	job.bytes["share of a decryption"] = shares[0].BinarySize()
	job.outcomes["decryption"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		err := errors.Join(job.each(share), open())
		return result, nothing, err
	}
	return nil
}

func (job *parties) switching(flooding ring.DiscreteGaussian) error {
	protocol, err := multiparty.NewPublicKeySwitchProtocol(job.parameters, flooding)
	if err != nil {
		return err
	}
	secret, public := job.generator.GenKeyPairNew()
	level := job.a.Level()
	shares := make([]multiparty.PublicKeySwitchShare, len(job.secrets))
	for at := range shares {
		shares[at] = protocol.AllocateShare(level)
	}
	sum, result := protocol.AllocateShare(level), bgv.NewCiphertext(job.parameters, 1, level)
	share := func(at int, secret *rlwe.SecretKey) error {
		protocol.GenShare(secret, public, job.a, &shares[at])
		return nil
	}
	add := func() error {
		if err := combined(shares, &sum, protocol.AggregateShares); err != nil {
			return err
		}
		protocol.KeySwitch(job.a, sum, result)
		return nil
	}
	job.calls["share_switch"], job.calls["add_switch"] = job.first(share), add
	job.bytes["share of a switch to a public key"] = shares[0].BinarySize()
	job.outcomes["switch"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		err := errors.Join(job.each(share), add())
		return result, secret, err
	}
	return nil
}

func (job *parties) refresh(flooding ring.DiscreteGaussian) error {
	protocol, err := mpbgv.NewRefreshProtocol(job.parameters, flooding)
	if err != nil {
		return err
	}
	top := job.parameters.MaxLevel()
	shares := make([]multiparty.RefreshShare, len(job.secrets))
	for at := range shares {
		shares[at] = protocol.AllocateShare(job.lowered.Level(), top)
	}
	sum, result := protocol.AllocateShare(job.lowered.Level(), top), bgv.NewCiphertext(job.parameters, 1, top)
	common := protocol.SampleCRP(top, job.crs)
	share := func(at int, secret *rlwe.SecretKey) error {
		protocol.SampleCRP(top, job.crs)
		return protocol.GenShare(secret, job.lowered, common, &shares[at])
	}
	add := func() error {
		sum.MetaData = shares[0].MetaData
		if err := combined(shares, &sum, protocol.AggregateShares); err != nil {
			return err
		}
		return protocol.Finalize(job.lowered, common, sum, result)
	}
	job.calls["share_refresh"], job.calls["refresh"] = job.first(share), add
	job.bytes["share of a refresh"] = shares[0].EncToShareShare.BinarySize() + shares[0].ShareToEncShare.BinarySize()
	job.outcomes["refresh"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		err := errors.Join(job.each(share), add())
		return result, job.joint, err
	}
	return nil
}

// threshold deals to all, of whom more than half act for all.
func (job *parties) threshold() error {
	protocol := multiparty.NewThresholdizer(job.parameters)
	parties := len(job.secrets)
	quorum := parties/2 + 1
	// Pieces by who receives them, from every dealer.
	received := make([][]multiparty.ShamirSecretShare, parties)
	var points []multiparty.ShamirPublicPoint
	for at := range parties {
		points = append(points, multiparty.ShamirPublicPoint(at+1))
		for range parties {
			received[at] = append(received[at], protocol.AllocateThresholdSecretShare())
		}
	}
	sum, own := protocol.AllocateThresholdSecretShare(), rlwe.NewSecretKey(job.parameters)
	deal := func(at int, secret *rlwe.SecretKey) error {
		polynomial, err := protocol.GenShamirPolynomial(quorum, secret)
		for to := range points {
			protocol.GenShamirSecretShare(points[to], polynomial, &received[to][at])
		}
		return err
	}
	combiners := make([]multiparty.Combiner, parties)
	for to := range combiners {
		combiners[to] = multiparty.NewCombiner(*job.parameters.GetRLWEParameters(), points[to], points, quorum)
	}
	add := func(to int) error {
		return combined(received[to], &sum, protocol.AggregateShares)
	}
	act := func(to int) error { return combiners[to].GenAdditiveShare(points[:quorum], points[to], sum, own) }
	job.calls["deal_threshold"] = job.first(deal)
	job.calls["add_threshold"] = func() error { return add(0) }
	job.calls["quorum_secret"] = func() error { return act(0) }
	job.bytes["piece of a threshold"] = received[0][0].BinarySize()
	job.outcomes["threshold"] = func() (*rlwe.Ciphertext, *rlwe.SecretKey, error) {
		all := rlwe.NewSecretKey(job.parameters)
		err := job.each(deal)
		for to := range quorum {
			err = errors.Join(err, add(to), act(to))
			job.parameters.RingQP().Add(all.Value, own.Value, all.Value)
		}
		return job.a, all, err
	}
	return job.each(deal)
}

func (job *parties) operations() (names []string) {
	for name := range job.calls {
		names = append(names, name)
	}
	return names
}

func (job *parties) operation(name string) (func() error, error) {
	call, found := job.calls[name]
	if !found {
		return nil, fmt.Errorf("no operation %q", name)
	}
	return call, nil
}

// protocols are the names of what steps belong to.
var protocols = map[string]string{
	"share_public_key": "public_key", "add_public_key": "public_key",
	"share_relinearization": "relinearization", "add_relinearization": "relinearization",
	"share_galois": "galois", "add_galois": "galois",
	"share_decryption": "decryption", "open": "decryption", "open_decode": "decryption",
	"share_switch": "switch", "add_switch": "switch",
	"share_refresh": "refresh", "refresh": "refresh",
	"deal_threshold": "threshold", "add_threshold": "threshold", "quorum_secret": "threshold",
}

// verify runs the whole protocol of a step and opens what it ends with.
func (job *parties) verify(name string) (any, error) {
	outcome, found := job.outcomes[protocols[name]]
	if !found {
		return nil, fmt.Errorf("no operation %q", name)
	}
	made, secret, err := outcome()
	if err != nil {
		return nil, err
	}
	plain := bgv.NewDecryptor(job.parameters, secret).DecryptNew(made)
	return job.opened, job.encoder.Decode(plain, job.opened)
}

func (job *parties) about() about {
	given := newAbout(job.parameters.Parameters, rlwe.NewRelinearizationKey(job.parameters))
	given.Bytes = job.bytes
	return given
}
