package main

import (
	"encoding"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// sizes are the bytes of what Lattigo writes to files.
func sizes(asked request) (map[string]int, error) {
	parameters, err := exactParameters(asked)
	if err != nil {
		return nil, err
	}
	keys := bgv.NewKeyGenerator(parameters)
	secret, public := keys.GenKeyPairNew()
	plain := bgv.NewPlaintext(parameters, parameters.MaxLevel())
	if err := bgv.NewEncoder(parameters).Encode([]uint64{1, 2, 3}, plain); err != nil {
		return nil, err
	}
	ciphertext, err := bgv.NewEncryptor(parameters, public).EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	objects := map[string]encoding.BinaryMarshaler{
		"secret key":          secret,
		"public key":          public,
		"relinearisation key": keys.GenRelinearizationKeyNew(secret),
		"Galois key":          keys.GenGaloisKeyNew(parameters.GaloisElementForColRotation(steps), secret),
		"ciphertext":          ciphertext,
	}
	fresh, err := rlwe.NewEncryptor(parameters, secret).EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	objects["ciphertext of the secret key"] = fresh
	given := map[string]int{}
	for name, object := range objects {
		text, err := object.MarshalBinary()
		if err != nil {
			return nil, err
		}
		given[name] = len(text)
	}
	return given, nil
}
