// Bytes of what SEAL writes, as a JSON object, for `n t q,q,... p`: uniform halves as seeds where it can, with the best compression it was built with,
// and without any. With a folder behind them, the bytes themselves are left there, to be compressed by others.

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <seal/seal.h>

using namespace seal;

int main(int count, char **arguments) {
    if (count < 5) {
        std::cerr << "usage: seal_sizes N T Q,Q,... P [FOLDER]\n";
        return 2;
    }
    std::vector<Modulus> moduli;
    std::stringstream list(std::string(arguments[3]) + "," + arguments[4]);
    for (std::string prime; std::getline(list, prime, ',');)
        moduli.emplace_back(std::stoull(prime));
    EncryptionParameters parameters(scheme_type::bfv);
    parameters.set_poly_modulus_degree(std::stoull(arguments[1]));
    parameters.set_coeff_modulus(moduli);
    parameters.set_plain_modulus(std::stoull(arguments[2]));
    SEALContext context(parameters, true, sec_level_type::none);
    KeyGenerator generator(context);
    PublicKey full;
    generator.create_public_key(full);
    Encryptor encryptor(context, full, generator.secret_key());
    Plaintext plain("1x^1 + 2");
    Ciphertext ciphertext;
    encryptor.encrypt(plain, ciphertext);
    auto secret = generator.secret_key();
    auto key = generator.create_public_key();
    auto relin = generator.create_relin_keys();
    auto galois = generator.create_galois_keys(std::vector<int>{1});
    auto fresh = encryptor.encrypt_symmetric(plain);
    using Save = std::function<std::streamoff(std::ostream &, compr_mode_type)>;
    std::map<std::string, Save> objects = {
        {"secret key", [&](auto &out, auto mode) { return secret.save(out, mode); }},
        {"public key", [&](auto &out, auto mode) { return key.save(out, mode); }},
        {"relinearisation key", [&](auto &out, auto mode) { return relin.save(out, mode); }},
        {"Galois key", [&](auto &out, auto mode) { return galois.save(out, mode); }},
        {"ciphertext", [&](auto &out, auto mode) { return ciphertext.save(out, mode); }},
        {"ciphertext of the secret key", [&](auto &out, auto mode) { return fresh.save(out, mode); }},
    };
    std::cout << "{";
    const char *comma = "";
    for (auto &[name, save] : objects) {
        std::stringstream plainly, compressed;
        save(plainly, compr_mode_type::none);
        save(compressed, Serialization::compr_mode_default);
        std::cout << comma << "\"" << name << "\": [" << plainly.str().size() << ", " << compressed.str().size() << "]";
        if (count > 5)
            std::ofstream(std::string(arguments[5]) + "/" + name, std::ios::binary) << plainly.str();
        comma = ", ";
    }
    std::cout << "}\n";
}
