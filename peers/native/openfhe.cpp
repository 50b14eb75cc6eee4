// What peers/python/openfhe_rival.py asks of OpenFHE, under the names that its own bindings have.

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "openfhe.h"
// Serialisation is registered by these.
#include "ciphertext-ser.h"
#include "cryptocontext-ser.h"
#include "key/key-ser.h"
#include "scheme/bfvrns/bfvrns-ser.h"
#include "scheme/bgvrns/bgvrns-ser.h"
#include "scheme/ckksrns/ckksrns-ser.h"

namespace py = pybind11;
using namespace lbcrypto;
using Context = CryptoContext<DCRTPoly>;
using Implementation = CryptoContextImpl<DCRTPoly>;
using Cipher = Ciphertext<DCRTPoly>;
using Digits = std::shared_ptr<std::vector<DCRTPoly>>;

namespace {

// Opaque to Python, which would take a vector of polynomials apart.
struct Precomputed {
  Digits digits;
};

template <class Scheme>
void parameters(py::module_ &m, const char *name) {
  using P = CCParams<Scheme>;
  py::class_<P>(m, name)
      .def(py::init<>())
      .def("SetMultiplicativeDepth", &P::SetMultiplicativeDepth)
      .def("SetRingDim", &P::SetRingDim)
      .def("SetSecurityLevel", &P::SetSecurityLevel)
      .def("SetSecretKeyDist", &P::SetSecretKeyDist)
      .def("SetKeySwitchTechnique", &P::SetKeySwitchTechnique)
      .def("SetNumLargeDigits", &P::SetNumLargeDigits)
      .def("SetScalingModSize", &P::SetScalingModSize)
      .def("SetBatchSize", &P::SetBatchSize)
      .def("SetFirstModSize", [](P &p, std::uint32_t bits) { static_cast<Params &>(p).SetFirstModSize(bits); })
      .def("SetScalingTechnique",
           [](P &p, ScalingTechnique technique) { static_cast<Params &>(p).SetScalingTechnique(technique); })
      .def("SetMultiplicationTechnique",
           [](P &p, MultiplicationTechnique technique) {
             static_cast<Params &>(p).SetMultiplicationTechnique(technique);
           })
      .def("SetCKKSDataType", [](P &p, CKKSDataType type) { static_cast<Params &>(p).SetCKKSDataType(type); })
      .def("SetPlaintextModulus",
           [](P &p, PlaintextModulus t) { static_cast<Params &>(p).SetPlaintextModulus(t); });
  m.def("GenCryptoContext", [](const P &p) { return GenCryptoContext(p); });
}

void constants(py::module_ &m) {
  py::enum_<SecurityLevel>(m, "SecurityLevel")
      .value("HEStd_NotSet", HEStd_NotSet)
      .value("HEStd_128_classic", HEStd_128_classic)
      .export_values();
  py::enum_<SecretKeyDist>(m, "SecretKeyDist")
      .value("UNIFORM_TERNARY", UNIFORM_TERNARY)
      .value("SPARSE_TERNARY", SPARSE_TERNARY)
      .value("SPARSE_ENCAPSULATED", SPARSE_ENCAPSULATED)
      .export_values();
  py::enum_<KeySwitchTechnique>(m, "KeySwitchTechnique").value("HYBRID", HYBRID).export_values();
  py::enum_<ScalingTechnique>(m, "ScalingTechnique")
      .value("FIXEDMANUAL", FIXEDMANUAL)
      .value("FLEXIBLEAUTO", FLEXIBLEAUTO)
      .export_values();
  py::enum_<MultiplicationTechnique>(m, "MultiplicationTechnique")
      .value("HPSPOVERQLEVELED", HPSPOVERQLEVELED)
      .export_values();
  py::enum_<CKKSDataType>(m, "CKKSDataType").value("COMPLEX", COMPLEX).export_values();
  py::enum_<PKESchemeFeature>(m, "PKESchemeFeature")
      .value("PKE", PKE)
      .value("KEYSWITCH", KEYSWITCH)
      .value("LEVELEDSHE", LEVELEDSHE)
      .value("ADVANCEDSHE", ADVANCEDSHE)
      .value("FHE", FHE)
      .export_values();
}

}  // namespace

PYBIND11_MODULE(native_openfhe, m) {
  m.attr("__version__") = GetOPENFHEVersion();
  m.attr("BINARY") = 0;
  constants(m);
  parameters<CryptoContextBFVRNS>(m, "CCParamsBFVRNS");
  parameters<CryptoContextBGVRNS>(m, "CCParamsBGVRNS");
  parameters<CryptoContextCKKSRNS>(m, "CCParamsCKKSRNS");
  m.def("ReleaseAllContexts", [] { CryptoContextFactory<DCRTPoly>::ReleaseAllContexts(); });
  m.def("Serialize", [](const Cipher &a, int) {
    std::ostringstream out;
    Serial::Serialize(a, out, SerType::BINARY);
    return py::bytes(out.str());
  });
  m.def("SerializeEvalMultKeyString", [](int, const std::string &tag) {
    std::ostringstream out;
    Implementation::SerializeEvalMultKey(out, SerType::BINARY, tag);
    return py::bytes(out.str());
  });

  py::class_<PublicKeyImpl<DCRTPoly>, PublicKey<DCRTPoly>>(m, "PublicKey");
  py::class_<PrivateKeyImpl<DCRTPoly>, PrivateKey<DCRTPoly>>(m, "PrivateKey")
      .def("GetKeyTag", [](const PrivateKeyImpl<DCRTPoly> &key) { return key.GetKeyTag(); });
  py::class_<KeyPair<DCRTPoly>>(m, "KeyPair")
      .def_readonly("publicKey", &KeyPair<DCRTPoly>::publicKey)
      .def_readonly("secretKey", &KeyPair<DCRTPoly>::secretKey);
  py::class_<PlaintextImpl, Plaintext>(m, "Plaintext")
      .def("GetPackedValue", [](const PlaintextImpl &plain) { return plain.GetPackedValue(); })
      .def("GetCKKSPackedValue", [](const PlaintextImpl &plain) { return plain.GetCKKSPackedValue(); });
  py::class_<CiphertextImpl<DCRTPoly>, Cipher>(m, "Ciphertext")
      .def("GetLevel", [](const CiphertextImpl<DCRTPoly> &a) { return a.GetLevel(); })
      .def("GetNoiseScaleDeg", [](const CiphertextImpl<DCRTPoly> &a) { return a.GetNoiseScaleDeg(); });
  py::class_<Precomputed>(m, "Precomputed");

  py::class_<Implementation, Context>(m, "CryptoContext")
      .def("Enable", [](Implementation &c, PKESchemeFeature feature) { c.Enable(feature); })
      .def("KeyGen", [](Implementation &c) { return c.KeyGen(); })
      .def("EvalMultKeyGen", [](Implementation &c, const PrivateKey<DCRTPoly> &s) { c.EvalMultKeyGen(s); })
      .def("EvalRotateKeyGen", [](Implementation &c, const PrivateKey<DCRTPoly> &s,
                                  const std::vector<std::int32_t> &steps) { c.EvalRotateKeyGen(s, steps); })
      .def("GetModulus", [](const Implementation &c) { return c.GetModulus().ConvertToDouble(); })
      .def("MakePackedPlaintext",
           [](const Implementation &c, const std::vector<std::int64_t> &v) { return c.MakePackedPlaintext(v); })
      .def("MakeCKKSPackedPlaintext",
           [](const Implementation &c, const std::vector<std::complex<double>> &v, std::size_t degree,
              std::uint32_t level) { return c.MakeCKKSPackedPlaintext(v, degree, level); },
           py::arg("values"), py::arg("degree") = 1, py::arg("level") = 0)
      .def("Encrypt", [](const Implementation &c, const PublicKey<DCRTPoly> &key,
                         Plaintext plain) { return c.Encrypt(key, plain); })
      .def("Decrypt",
           [](Implementation &c, const PrivateKey<DCRTPoly> &key, const Cipher &a) {
             Plaintext plain;
             c.Decrypt(key, a, &plain);
             return plain;
           })
      .def("EvalAdd", [](const Implementation &c, const Cipher &a, const Cipher &b) { return c.EvalAdd(a, b); })
      .def("EvalAddInPlace", [](const Implementation &c, Cipher &a, const Cipher &b) { c.EvalAddInPlace(a, b); })
      .def("EvalSub", [](const Implementation &c, const Cipher &a, const Cipher &b) { return c.EvalSub(a, b); })
      .def("EvalNegate", [](const Implementation &c, const Cipher &a) { return c.EvalNegate(a); })
      .def("EvalMult", [](const Implementation &c, const Cipher &a, const Cipher &b) { return c.EvalMult(a, b); })
      .def("EvalMult",
           [](const Implementation &c, const Cipher &a, const Plaintext &b) { return c.EvalMult(a, b); })
      .def("EvalMultNoRelin",
           [](const Implementation &c, const Cipher &a, const Cipher &b) { return c.EvalMultNoRelin(a, b); })
      .def("Relinearize", [](const Implementation &c, const Cipher &a) { return c.Relinearize(a); })
      .def("ModReduce", [](const Implementation &c, const Cipher &a) { return c.ModReduce(a); })
      .def("Rescale", [](const Implementation &c, const Cipher &a) { return c.Rescale(a); })
      .def("EvalRotate", [](const Implementation &c, const Cipher &a, std::int32_t steps) { return c.EvalRotate(a, steps); })
      .def("EvalFastRotationPrecompute",
           [](const Implementation &c, const Cipher &a) { return Precomputed{c.EvalFastRotationPrecompute(a)}; })
      .def("EvalFastRotation",
           [](const Implementation &c, const Cipher &a, std::uint32_t steps, std::uint32_t order,
              const Precomputed &digits) { return c.EvalFastRotation(a, steps, order, digits.digits); })
      .def("EvalBootstrapSetup",
           [](Implementation &c, const std::vector<std::uint32_t> &budget, const std::vector<std::uint32_t> &dim1,
              std::uint32_t slots, std::uint32_t correction, bool precompute, bool slots_first) {
             c.EvalBootstrapSetup(budget, dim1, slots, correction, precompute, slots_first);
           },
           py::arg("levelBudget"), py::arg("dim1") = std::vector<std::uint32_t>{0, 0}, py::arg("slots") = 0,
           py::arg("correctionFactor") = 0, py::arg("precompute") = true, py::arg("BTSlotsEncoding") = false)
      .def("EvalBootstrapKeyGen", [](Implementation &c, const PrivateKey<DCRTPoly> &key,
                                     std::uint32_t slots) { c.EvalBootstrapKeyGen(key, slots); })
      .def("EvalBootstrap", [](const Implementation &c, const Cipher &a) { return c.EvalBootstrap(a); })
      .def_static("GetBootstrapDepth",
                  [](const std::vector<std::uint32_t> &budget, SecretKeyDist secret) {
                    return FHECKKSRNS::GetBootstrapDepth(budget, secret);
                  })
      .def_static("GetExistingEvalAutomorphismKeyIndices", [](const std::string &tag) {
        return Implementation::GetExistingEvalAutomorphismKeyIndices(tag);
      });
}
