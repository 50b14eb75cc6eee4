// What peers/python/helib_rival.py asks of HElib, which has no bindings of its own: slots, polynomials and ciphertexts stay on this side.

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include <helib/helib.h>

namespace py = pybind11;
using helib::Ctxt;

namespace {

using Words = std::vector<long>;
using Complexes = std::vector<std::complex<double>>;

// Opaque to Python, which would turn them into lists.
struct Slots {
  Words words;
  Complexes complexes;
};
struct Polynomial {
  NTL::ZZX coefficients;
};

// A context with its chain of moduli, the keys, and what both are needed for. t = 0 is CKKS.
class Keys {
 public:
  Keys(long n, long t) : m_(2 * n), t_(t) {
    if (t == 0) {
      context_.reset(helib::ContextBuilder<helib::CKKS>().m(m_).buildModChain(false).buildPtr());
    } else {
      context_.reset(helib::ContextBuilder<helib::BGV>().m(m_).p(t).r(1).buildModChain(false).buildPtr());
    }
    check_dimensions();
  }

  // log2 of the product of all moduli that keys have.
  double build_chain(long bits, long columns) {
    context_->clearModChain();
    context_->buildModChain(bits, columns);
    return log_key_modulus();
  }

  void generate() {
    secret_ = std::make_unique<helib::SecKey>(*context_);
    // A matrix for s^2, and none for s^3.
    secret_->GenSecKey(0, 2);
    secret_->setKeySwitchMap();
  }

  void generate_rotations(const Words &steps) {
    for (long step : steps) {
      secret_->GenKeySWmatrix(1, to_the_left(step));
    }
    secret_->setKeySwitchMap();
  }

  double log_key_modulus() const { return log2_of(context_->fullPrimes()); }
  double log_q() const { return log2_of(context_->getCtxtPrimes()); }
  long limbs() const { return context_->getCtxtPrimes().card(); }
  long special_limbs() const { return context_->getSpecialPrimes().card(); }
  long digits() const { return context_->getDigits().size(); }

  Slots load_words(const Words &values) const {
    Slots slots;
    slots.words.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      slots.words[k] = values[place(k)];
    }
    return slots;
  }
  Words words(const Slots &slots) const {
    Words values(slots.words.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[place(k)] = slots.words[k];
    }
    return values;
  }

  Ctxt zero() const { return Ctxt(*secret_); }

  // Slots of CKKS have absolute value 1 at most; `precision` is how many bits after the point are right.
  helib::EncodedPtxt encode(const Slots &slots, long precision) const {
    helib::EncodedPtxt plain;
    const helib::EncryptedArray &array = context_->getEA();
    if (t_ == 0) {
      array.encode(plain, slots.complexes, 1.0, helib::OptLong(precision));
    } else {
      array.encode(plain, slots.words);
    }
    return plain;
  }
  helib::FatEncodedPtxt evaluations(const helib::EncodedPtxt &plain) const {
    return helib::FatEncodedPtxt(plain, context_->fullPrimes());
  }

  // A secret key of HElib encrypts with itself unless told to do it as a public key.
  void encrypt(const helib::EncodedPtxt &plain, Ctxt &out) const {
    const helib::SecKey &secret = *secret_;
    if (t_ == 0) {
      secret.PubKey::Encrypt(out, plain.getCKKS());
    } else {
      secret.PubKey::Encrypt(out, plain.getBGV());
    }
  }
  void decrypt(const Ctxt &a, Polynomial &out) const { secret_->Decrypt(out.coefficients, a); }
  void decode(const Polynomial &plain, double scale, Slots &out) const {
    const helib::EncryptedArray &array = context_->getEA();
    if (t_ == 0) {
      array.getCx().decode(out.complexes, plain.coefficients, scale);
    } else {
      array.decode(out.words, plain.coefficients);
    }
  }
  // Without the noise that HElib adds to what leaves its hands in CKKS: nobody else adds any.
  void decrypt_decode(const Ctxt &a, Slots &out) const {
    const helib::EncryptedArray &array = context_->getEA();
    if (t_ == 0) {
      array.getCx().rawDecrypt(a, *secret_, out.complexes);
    } else {
      array.decrypt(a, *secret_, out.words);
    }
  }

  void rotate(const Ctxt &a, long steps, Ctxt &out) const {
    out = a;
    out.smartAutomorph(to_the_left(steps));
  }
  void all_primes(Ctxt &a) const { a.modUpToSet(context_->fullPrimes()); }
  void without_special_primes(Ctxt &a) const { a.modDownToSet(context_->getCtxtPrimes()); }

 private:
  double log2_of(const helib::IndexSet &primes) const { return context_->logOfProduct(primes) / std::log(2.0); }

  // One cyclic dimension of n/2 slots, and in BGV one of two.
  void check_dimensions() const {
    const helib::PAlgebra &group = context_->getZMStar();
    const bool rows = group.SameOrd(0) && static_cast<long>(group.OrderOf(0)) == m_ / 4;
    const bool columns = t_ == 0 ? group.numOfGens() == 1 : group.numOfGens() == 2 && group.OrderOf(1) == 2;
    if (!rows || !columns) {
      throw std::runtime_error("slots are not two rows of n/2");
    }
  }

  // HElib turns to the right.
  long to_the_left(long steps) const { return context_->getZMStar().genToPow(0, m_ / 4 - steps); }

  // Where slot k of HElib is among two rows of n/2.
  std::size_t place(long k) const {
    const helib::PAlgebra &group = context_->getZMStar();
    return group.coordinate(1, k) * (m_ / 4) + group.coordinate(0, k);
  }

  long m_;
  long t_;
  std::unique_ptr<helib::Context> context_;
  std::unique_ptr<helib::SecKey> secret_;
};

// Products of HElib first switch to a modulus that fits the bound on the noise. The bound of a fresh ciphertext is a few bits off that of a
// switched one; with it in the middle of what the whole modulus fits, products of fresh ciphertexts switch nothing. True if it had to move.
bool settle(Ctxt &a) {
  if (a.naturalPrimeSet() == a.getPrimeSet()) {
    return false;
  }
  const double bits = a.isCKKS() ? 3 : -3;
  const double wanted = NTL::log(a.modSwitchAddedNoiseBound()) + bits * std::log(2.0);
  a.bumpNoiseBound(std::exp(wanted - NTL::log(a.getNoiseBound())));
  return true;
}

void ciphertexts(py::module_ &m) {
  py::class_<Ctxt>(m, "Ctxt")
      .def("copy", [](const Ctxt &a) { return Ctxt(a); }, py::keep_alive<0, 1>())
      .def("assign", [](Ctxt &a, const Ctxt &b) { a = b; })
      .def("settle", &settle)
      .def("scale", [](const Ctxt &a) { return NTL::conv<double>(a.getRatFactor()); })
      .def("add", [](Ctxt &a, const Ctxt &b) { a += b; })
      // An operand that has to be switched is switched in its place, which spares a copy of it.
      .def("multiply", [](Ctxt &a, Ctxt &b) { a.multLowLvl(b, true); })
      .def("multiply_plain", [](Ctxt &a, const helib::FatEncodedPtxt &b) { a.multByConstant(b); })
      .def("relinearize", [](Ctxt &a) { a.reLinearize(); })
      // To the modulus that a next product would switch to first.
      .def("switch", [](Ctxt &a) { a.bringToSet(a.naturalPrimeSet()); });
}

}  // namespace

PYBIND11_MODULE(native_helib, m) {
  m.attr("__version__") = helib::version::asString;
  // Bounds on the noise that are exceeded show in what is opened, which is checked.
  helib::helog.setLogToFile("/dev/null");

  py::class_<Slots>(m, "Slots").def(py::init<>()).def_readwrite("complexes", &Slots::complexes);
  py::class_<Polynomial>(m, "Polynomial").def(py::init<>());
  py::class_<helib::EncodedPtxt>(m, "Plaintext");
  py::class_<helib::FatEncodedPtxt>(m, "Evaluations");
  ciphertexts(m);
  py::class_<Keys>(m, "Keys")
      .def(py::init<long, long>())
      .def("build_chain", &Keys::build_chain)
      .def("generate", &Keys::generate)
      .def("generate_rotations", &Keys::generate_rotations)
      .def("log_key_modulus", &Keys::log_key_modulus)
      .def("log_q", &Keys::log_q)
      .def("limbs", &Keys::limbs)
      .def("special_limbs", &Keys::special_limbs)
      .def("digits", &Keys::digits)
      .def("load_words", &Keys::load_words)
      .def("words", &Keys::words)
      .def("zero", &Keys::zero, py::keep_alive<0, 1>())
      .def("encode", &Keys::encode, py::arg("slots"), py::arg("precision"), py::keep_alive<0, 1>())
      .def("evaluations", &Keys::evaluations, py::keep_alive<0, 1>())
      .def("encrypt", &Keys::encrypt)
      .def("decrypt", &Keys::decrypt)
      .def("decode", &Keys::decode)
      .def("decrypt_decode", &Keys::decrypt_decode)
      .def("rotate", &Keys::rotate)
      .def("all_primes", &Keys::all_primes)
      .def("without_special_primes", &Keys::without_special_primes);
}
