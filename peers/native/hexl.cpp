// Transforms of HEXL, for peers/python/hexl_rival.py.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "hexl/hexl.hpp"

namespace py = pybind11;
using Words = std::vector<std::uint64_t>;

namespace {

// One negacyclic transform modulo one prime, and a polynomial that it changes in place.
class Transform {
 public:
  Transform(std::uint64_t n, std::uint64_t q, Words data) : n_(n), q_(q), ntt_(n, q), data_(std::move(data)) {
    if (data_.size() != n) {
      throw std::invalid_argument("expected n words");
    }
  }

  void forward(std::uint64_t calls) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      ntt_.ComputeForward(data_.data(), data_.data(), 1, 1);
    }
  }

  void inverse(std::uint64_t calls) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      ntt_.ComputeInverse(data_.data(), data_.data(), 1, 1);
    }
  }

  // left·right modulo X^n + 1, by way of the transforms.
  Words product(Words left, Words right) {
    if (left.size() != n_ || right.size() != n_) {
      throw std::invalid_argument("expected n words");
    }
    ntt_.ComputeForward(left.data(), left.data(), 1, 1);
    ntt_.ComputeForward(right.data(), right.data(), 1, 1);
    intel::hexl::EltwiseMultMod(left.data(), left.data(), right.data(), n_, q_, 1);
    ntt_.ComputeInverse(left.data(), left.data(), 1, 1);
    return left;
  }

 private:
  std::uint64_t n_, q_;
  intel::hexl::NTT ntt_;
  Words data_;
};

}  // namespace

PYBIND11_MODULE(native_hexl, m) {
  py::class_<Transform>(m, "Transform")
      .def(py::init<std::uint64_t, std::uint64_t, Words>())
      .def("forward", &Transform::forward)
      .def("inverse", &Transform::inverse)
      .def("product", &Transform::product);
}
