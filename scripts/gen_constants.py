#!/usr/bin/env python3
"""Derive every committed table of constants of BLS12-381 from the parameter x of the curve family.

  gen_constants.py          rewrite the tables
  gen_constants.py --check  exit 1 and name the file if one differs from what is derived

Only the standard generators of G1 and G2 (the lexicographically smallest point of each curve, times
the cofactor: github.com/zcash/librustzcash pairing/src/bls12_381/README.md) and the multiplicative
generator 7 of Fr are input, and the first two are checked against that definition.
"""
import pathlib
import sys

X = -0xD201000000010000  # BLS12-381: draft-irtf-cfrg-pairing-friendly-curves, 4.2.1
R = X**4 - X**2 + 1
P = (X - 1) ** 2 * R // 3 + X
G1_COFACTOR = (X - 1) ** 2 // 3
G2_COFACTOR = (X**8 - 4 * X**7 + 5 * X**6 - 4 * X**4 + 6 * X**3 - 4 * X**2 - 4 * X + 13) // 9


# Fp2 as pairs (c0, c1) = c0 + c1 u, u^2 = -1.
def f2_add(a, b):
    return ((a[0] + b[0]) % P, (a[1] + b[1]) % P)


def f2_sub(a, b):
    return ((a[0] - b[0]) % P, (a[1] - b[1]) % P)


def f2_mul(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P)


def f2_inv(a):
    n = pow(a[0] * a[0] + a[1] * a[1], -1, P)
    return (a[0] * n % P, -a[1] * n % P)


def f2_pow(a, e):
    z = (1, 0)
    for bit in bin(e)[2:]:
        z = f2_mul(z, z)
        if bit == "1":
            z = f2_mul(z, a)
    return z


def f2_sqrt(a):
    """A square root, or None (p = 3 mod 4; complex method)."""
    if a[1] == 0:
        s = pow(a[0], (P + 1) // 4, P)
        return (s, 0) if s * s % P == a[0] else (0, pow(-a[0] % P, (P + 1) // 4, P))
    norm = (a[0] * a[0] + a[1] * a[1]) % P
    s = pow(norm, (P + 1) // 4, P)
    for t in ((a[0] + s) * pow(2, -1, P) % P, (a[0] - s) * pow(2, -1, P) % P):
        x = pow(t, (P + 1) // 4, P)
        if x * x % P == t and x != 0:
            z = (x, a[1] * pow(2 * x, -1, P) % P)
            if f2_mul(z, z) == a:
                return z
    return None


# Points over Fp2, affine, None = infinity. G1 is embedded with c1 = 0.
def add(p, q):
    if p is None or q is None:
        return q if p is None else p
    if p[0] == q[0]:
        if p[1] != q[1] or p[1] == (0, 0):
            return None
        slope = f2_mul(f2_mul((3, 0), f2_mul(p[0], p[0])), f2_inv(f2_add(p[1], p[1])))
    else:
        slope = f2_mul(f2_sub(q[1], p[1]), f2_inv(f2_sub(q[0], p[0])))
    x = f2_sub(f2_sub(f2_mul(slope, slope), p[0]), q[0])
    return (x, f2_sub(f2_mul(slope, f2_sub(p[0], x)), p[1]))


def neg(p):
    return (p[0], f2_sub((0, 0), p[1]))


def mul(k, p):
    if k < 0:
        return mul(-k, neg(p))
    z = None
    for bit in bin(k)[2:]:
        z = add(z, z)
        if bit == "1":
            z = add(z, p)
    return z


XI = (1, 1)  # the non-residue of the tower: v^3 = 1 + u, w^2 = v
B1 = (4, 0)  # y^2 = x^3 + 4
B2 = (4, 4)  # y^2 = x^3 + 4 (1 + u)


def order_key(a):
    """Lexicographic order of Fp2: c1 first."""
    return (a[1], a[0])


def generator(b, cofactor, xs):
    """cofactor * (the point with the smallest x, and of its two y the smaller)."""
    for x in xs:
        y = f2_sqrt(f2_add(f2_mul(x, f2_mul(x, x)), b))
        if y is not None and (b is not B1 or y[1] == 0):
            point = mul(cofactor, (x, min(y, f2_sub((0, 0), y), key=order_key)))
            if point is not None:
                return point


G1 = generator(B1, G1_COFACTOR, ((i, 0) for i in range(100)))
G2 = generator(B2, G2_COFACTOR, ((i, 0) for i in range(100)))
assert mul(R, G1) is None and mul(R, G2) is None
assert G1[0][0] >> 304 == 0x17F1D3A73197D7942695, "not the standard generator of G1"
assert G2[0][0] >> 304 == 0x024AA2B2F08F0A912608, "not the standard generator of G2"


# C text.
def limbs(v, n):
    return "{" + ", ".join(f"0x{v >> 64 * i & (2**64 - 1):016x}ULL" for i in range(n)) + "}"


def fp(v):
    return "{" + limbs(v * 2**384 % P, 6) + "}"


def fp2(v):
    return "{" + fp(v[0]) + ", " + fp(v[1]) + "}"


def prime(name, p, n, generator_, storage=""):
    two_adicity = (p - 1 & 1 - p).bit_length() - 1
    root = pow(generator_, p - 1 >> two_adicity, p)
    assert pow(root, 2 ** (two_adicity - 1), p) == p - 1
    radix = 2 ** (64 * n)
    return f"""{storage}const mont_prime {name} = {{
    .p = {limbs(p, n)},
    .r1 = {limbs(radix % p, n)},
    .r2 = {limbs(radix * radix % p, n)},
    .root = {limbs(root * radix % p, n)},
    .n0 = 0x{-pow(p, -1, 2**64) % 2**64:016x}ULL,
    .bits = {p.bit_length()},
    .two_adicity = {two_adicity},
}};
"""


def header(what, includes):
    lines = "".join(f'#include "{i}"\n' for i in includes)
    return f"/* {what}; derived by scripts/gen_constants.py. */\n{lines}\n/* clang-format off */\n"


def primes_c():
    return (
        header("The primes of BLS12-381 as data", ["field/fp.h", "field/fr.h"])
        + prime("cuzk_fr_prime", R, 4, 7)
        + "\n"
        + prime("cuzk_fp_prime", P, 6, P - 1)
    )


def other_primes_h():
    x = 4965661367192848881  # BN254: EIP-196, alt_bn128
    r = 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
    p = r + 6 * x**2
    return (
        "/* Primes that only tests use, to hold the generic routines to their word: BN254 and tiny\n"
        "   ones; derived by scripts/gen_constants.py. */\n"
        "#ifndef CUZK_TESTS_OTHER_PRIMES_H\n#define CUZK_TESTS_OTHER_PRIMES_H\n\n"
        '#include "field/mont.h"\n\n/* clang-format off */\n'
        + prime("bn254_r_prime", r, 4, 5, "static ")
        + prime("bn254_p_prime", p, 4, p - 1, "static ")
        + prime("tiny_13_prime", 13, 1, 2, "static ")
        + prime("tiny_97_prime", 97, 1, 5, "static ")
        + "\n#endif\n"
    )


def frobenius_c():
    rows = "".join(f"    {fp2(f2_pow(XI, i * (P - 1) // 6))},\n" for i in range(6))
    return (
        header("Frobenius on Fp12: entry i is (1 + u)^(i (p - 1) / 6)", ["field/fp12.h"])
        + "const fp2_t cuzk_frobenius[6] = {\n"
        + rows
        + "};\n"
    )


def curve_constants_c():
    beta = next(b for b in (pow(g, (P - 1) // 3, P) for g in range(2, 9)) if b != 1)
    if mul(-X * X, G1) != (f2_mul((beta, 0), G1[0]), G1[1]):
        beta = beta * beta % P
    assert mul(-X * X, G1) == (f2_mul((beta, 0), G1[0]), G1[1])
    psi_x = f2_inv(f2_pow(XI, (P - 1) // 3))
    psi_y = f2_inv(f2_pow(XI, (P - 1) // 2))
    conj = lambda a: (a[0], -a[1] % P)
    assert mul(X, G2) == (f2_mul(psi_x, conj(G2[0])), f2_mul(psi_y, conj(G2[1])))
    return (
        header("Constants of G1 and G2", ["curve/curve.h", "curve/curve_constants.h"])
        + f"""const g1_affine_t g1_generator = {{
    {fp(G1[0][0])},
    {fp(G1[1][0])}}};
const g2_affine_t g2_generator = {{
    {fp2(G2[0])},
    {fp2(G2[1])}}};
const fp_t g1_b = {fp(B1[0])};
const fp2_t g2_b = {fp2(B2)};
const fp_t cuzk_g1_beta = {fp(beta)};
const fp2_t cuzk_g2_psi_x = {fp2(psi_x)};
const fp2_t cuzk_g2_psi_y = {fp2(psi_y)};
"""
    )


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    tables = {
        "src/field/primes.c": primes_c(),
        "src/field/frobenius.c": frobenius_c(),
        "src/curve/curve_constants.c": curve_constants_c(),
        "tests/field/other_primes.h": other_primes_h(),
    }
    check = sys.argv[1:] == ["--check"]
    for name, text in tables.items():
        path = root / name
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path} differs from what scripts/gen_constants.py derives")


main()
