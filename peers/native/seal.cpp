// What peers/python/seal_rival.py asks of SEAL, under the names that the bindings of tenseal have.

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "seal/seal.h"

namespace py = pybind11;
using namespace seal;

PYBIND11_MODULE(native_seal, m) {
  m.attr("__version__") = std::to_string(SEAL_VERSION_MAJOR) + "." + std::to_string(SEAL_VERSION_MINOR) + "." +
                          std::to_string(SEAL_VERSION_PATCH);

  py::enum_<sec_level_type>(m, "SEC_LEVEL_TYPE").value("NONE", sec_level_type::none);
  py::class_<Modulus>(m, "Modulus").def(py::init<std::uint64_t>());
  py::class_<parms_id_type>(m, "ParmsId");
  py::class_<Plaintext>(m, "Plaintext").def(py::init<>());
  py::class_<Ciphertext>(m, "Ciphertext").def(py::init<>()).def("parms_id", [](const Ciphertext &a) {
    return a.parms_id();
  });
  py::class_<PublicKey>(m, "PublicKey").def(py::init<>());
  py::class_<SecretKey>(m, "SecretKey");
  py::class_<RelinKeys>(m, "RelinKeys").def(py::init<>());
  py::class_<GaloisKeys>(m, "GaloisKeys").def(py::init<>());

  py::class_<EncryptionParameters>(m, "EncryptionParameters")
      .def(py::init<std::uint8_t>())
      .def("set_poly_modulus_degree", &EncryptionParameters::set_poly_modulus_degree)
      .def("set_coeff_modulus", &EncryptionParameters::set_coeff_modulus)
      .def("set_plain_modulus", [](EncryptionParameters &p, std::uint64_t t) { p.set_plain_modulus(t); });
  py::class_<SEALContext>(m, "SEALContext")
      .def(py::init<const EncryptionParameters &, bool, sec_level_type>())
      .def("parameters_set", &SEALContext::parameters_set)
      .def("parameters_error_message", &SEALContext::parameter_error_message);

  py::class_<KeyGenerator>(m, "KeyGenerator")
      .def(py::init<const SEALContext &>())
      .def("secret_key", &KeyGenerator::secret_key)
      .def("create_public_key", [](const KeyGenerator &g, PublicKey &key) { g.create_public_key(key); })
      .def("create_relin_keys", [](KeyGenerator &g, RelinKeys &keys) { g.create_relin_keys(keys); })
      .def("create_galois_keys", [](KeyGenerator &g, const std::vector<std::uint32_t> &elements, GaloisKeys &keys) {
        g.create_galois_keys(elements, keys);
      });
  py::class_<Encryptor>(m, "Encryptor")
      .def(py::init<const SEALContext &, const PublicKey &>())
      .def("encrypt", [](const Encryptor &e, const Plaintext &plain, Ciphertext &out) { e.encrypt(plain, out); });
  py::class_<Decryptor>(m, "Decryptor")
      .def(py::init<const SEALContext &, const SecretKey &>())
      .def("decrypt", [](Decryptor &d, const Ciphertext &a, Plaintext &out) { d.decrypt(a, out); });

  py::class_<BatchEncoder>(m, "BatchEncoder")
      .def(py::init<const SEALContext &>())
      .def("encode", [](const BatchEncoder &e, const std::vector<std::uint64_t> &values,
                        Plaintext &out) { e.encode(values, out); })
      .def("decode_uint64", [](const BatchEncoder &e, const Plaintext &plain) {
        std::vector<std::uint64_t> values;
        e.decode(plain, values);
        return values;
      });
  py::class_<CKKSEncoder>(m, "CKKSEncoder")
      .def(py::init<const SEALContext &>())
      .def("encode", [](CKKSEncoder &e, const std::vector<std::complex<double>> &values, double scale,
                        Plaintext &out) { e.encode(values, scale, out); })
      .def("decode_complex", [](CKKSEncoder &e, const Plaintext &plain) {
        std::vector<std::complex<double>> values;
        e.decode(plain, values);
        return values;
      });

  using E = Evaluator;
  using C = Ciphertext;
  py::class_<Evaluator>(m, "Evaluator")
      .def(py::init<const SEALContext &>())
      .def("add", [](const E &e, const C &a, const C &b, C &out) { e.add(a, b, out); })
      .def("add_inplace", [](const E &e, C &a, const C &b) { e.add_inplace(a, b); })
      .def("sub", [](const E &e, const C &a, const C &b, C &out) { e.sub(a, b, out); })
      .def("negate", [](const E &e, const C &a, C &out) { e.negate(a, out); })
      .def("multiply", [](const E &e, const C &a, const C &b, C &out) { e.multiply(a, b, out); })
      .def("multiply_plain", [](const E &e, const C &a, const Plaintext &b, C &out) { e.multiply_plain(a, b, out); })
      .def("relinearize", [](const E &e, const C &a, const RelinKeys &k, C &out) { e.relinearize(a, k, out); })
      .def("relinearize_inplace", [](const E &e, C &a, const RelinKeys &k) { e.relinearize_inplace(a, k); })
      .def("rotate_rows", [](const E &e, const C &a, int steps, const GaloisKeys &k,
                             C &out) { e.rotate_rows(a, steps, k, out); })
      .def("rotate_vector", [](const E &e, const C &a, int steps, const GaloisKeys &k,
                               C &out) { e.rotate_vector(a, steps, k, out); })
      .def("rescale_to_next", [](const E &e, const C &a, C &out) { e.rescale_to_next(a, out); })
      .def("rescale_to_next_inplace", [](const E &e, C &a) { e.rescale_to_next_inplace(a); })
      .def("mod_switch_to_next", [](const E &e, const C &a, C &out) { e.mod_switch_to_next(a, out); })
      .def("mod_switch_to_next_inplace", [](const E &e, C &a) { e.mod_switch_to_next_inplace(a); })
      .def("transform_to_ntt", [](const E &e, const C &a, C &out) { e.transform_to_ntt(a, out); })
      .def("transform_from_ntt_inplace", [](const E &e, C &a) { e.transform_from_ntt_inplace(a); })
      .def("transform_to_ntt_inplace", [](const E &e, Plaintext &plain, const parms_id_type &id) {
        e.transform_to_ntt_inplace(plain, id);
      });
}
