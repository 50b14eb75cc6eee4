// Reductions modulo cyclotomic polynomials by NTL, for `cargo lab repro bajard`. A line each way:
//   ring M Q                 chooses the polynomial of index M modulo the prime Q, below 2^60; answers its degree n
//   remainder C_0 C_1 …      answers the n coefficients of the remainder of a polynomial
//   time K                   answers the nanoseconds of K reductions of products, one after the other
#include <NTL/lzz_pX.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace NTL;

namespace {

zz_pX binomial(long degree) {
  zz_pX f;
  SetCoeff(f, degree);
  SetCoeff(f, 0, -1);
  return f;
}

// The cyclotomic polynomial of index m: X^m − 1 without those of the proper divisors of m.
zz_pX cyclotomic(long m) {
  zz_pX f = binomial(m);
  for (long d = 1; d < m; ++d) {
    if (m % d == 0) {
      f /= cyclotomic(d);
    }
  }
  return f;
}

struct Ring {
  zz_pXModulus modulus;
  std::vector<zz_pX> products;
};

}  // namespace

int main() {
  std::unique_ptr<Ring> ring;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "ring") {
      long m = 0, q = 0;
      words >> m >> q;
      zz_p::init(q);
      ring = std::make_unique<Ring>();
      build(ring->modulus, cyclotomic(m));
      const long n = deg(ring->modulus);
      for (int i = 0; i < 4; ++i) {
        ring->products.push_back(random_zz_pX(n) * random_zz_pX(n));
      }
      std::cout << n << std::endl;
    } else if (what == "remainder" && ring) {
      zz_pX a, r;
      std::uint64_t word = 0;
      for (long i = 0; words >> word; ++i) {
        SetCoeff(a, i, static_cast<long>(word));
      }
      rem(r, a, ring->modulus);
      for (long i = 0; i < deg(ring->modulus); ++i) {
        std::cout << (i > 0 ? " " : "") << rep(coeff(r, i));
      }
      std::cout << std::endl;
    } else if (what == "time" && ring) {
      long count = 0;
      words >> count;
      zz_pX r;
      const auto begin = std::chrono::steady_clock::now();
      for (long i = 0; i < count; ++i) {
        rem(r, ring->products[i % ring->products.size()], ring->modulus);
      }
      const auto taken = std::chrono::steady_clock::now() - begin;
      std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count() << std::endl;
    } else {
      std::cerr << "expected ring M Q, remainder C_0 …, or time K; got " << line << std::endl;
      return 2;
    }
  }
}
