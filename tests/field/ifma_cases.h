/* The checks of one prime's vector operations: a template, included by test_ifma.c once for each
 * with CASE_FIELD (fr or fp), CASE_LIMBS (its 64-bit limbs), CASE_N (its 52-bit limbs) and CASE_MAX
 * (operands of a product may be this many times p). */
#define F_(name) TEMPLATE_NAME(CASE_FIELD, name)
#define F_T F_(t)
#define V_(name) TEMPLATE_NAME(TEMPLATE_NAME(ifma, CASE_FIELD), name)
#define V_T TEMPLATE_NAME(ifma, CASE_FIELD)
#define V_P V_(prime)
#define F_P TEMPLATE_NAME(TEMPLATE_NAME(cuzk, CASE_FIELD), prime)

/* Any canonical limbs, edges often. */
static F_T F_(sample)(void) {
    F_T x;
    for (int i = 0; i < CASE_LIMBS; i++)
        x.l[i] = check_random_runs();
    x.l[CASE_LIMBS - 1] >>= 64 * CASE_LIMBS - (int)F_P.bits;
    mont_reduce_once(x.l, x.l, 0, &F_P, CASE_LIMBS);
    const uint64_t pick = check_random() % 16;
    if (pick == 0) x = F_(zero)();
    if (pick == 1) x = F_(one)();
    if (pick == 2 || pick == 3) { /* p - 1, p - 2 */
        memcpy(x.l, F_P.p, sizeof x.l);
        x.l[0] -= pick - 1;
    }
    return x;
}

static F_T F_(from_limbs52)(const uint64_t *limbs) {
    F_T z = F_(zero)();
    for (int i = 0; i < CASE_N; i++) {
        const int word = 52 * i / 64, shift = 52 * i % 64;
        z.l[word] |= limbs[i] << shift;
        if (shift > 12 && word + 1 < CASE_LIMBS) z.l[word + 1] |= limbs[i] >> (64 - shift);
    }
    return z;
}

IFMA_TARGET static void V_(get)(V_T *z, const F_T x[8]) {
    const F_T *from[8];
    for (int i = 0; i < 8; i++)
        from[i] = &x[i];
    V_(load)(z, from);
}

IFMA_TARGET static void V_(put)(F_T x[8], const V_T *z) {
    F_T *to[8];
    for (int i = 0; i < 8; i++)
        to[i] = &x[i];
    V_(store)(to, 8, z);
}

/* x + k p, tidy. */
IFMA_TARGET static void V_(lift)(V_T *z, const V_T *x, uint64_t k) {
    V_T p;
    V_(splat)(&p, V_P.p);
    *z = *x;
    for (uint64_t i = 0; i < k; i++)
        V_(add)(z, z, &p);
}

/* The numbers in v are `expected`, once reduced. */
IFMA_TARGET static void V_(expect)(const char *what, const V_T *v, const F_T expected[8]) {
    V_T reduced;
    F_T got[8];
    V_(canonical)(&reduced, v);
    V_(put)(got, &reduced);
    for (int i = 0; i < 8; i++)
        if (!F_(eq)(&got[i], &expected[i])) CHECK_FAILED_("%s, lane %d", what, i);
}

/* v < 2 p and tidy: one subtraction is enough to reduce it. */
IFMA_TARGET static void V_(expect_small)(const char *what, const V_T *v, const F_T expected[8]) {
    V_T reduced;
    F_T got[8];
    for (int i = 0; i < CASE_N; i++)
        if (_mm512_test_epi64_mask(v->l[i], ifma_splat(~(uint64_t)0 << 52)) != 0)
            CHECK_FAILED_("%s: limb %d is not tidy", what, i);
    V_(subtract_once)(&reduced, v);
    V_(put)(got, &reduced);
    CHECK_MEM(got, expected, 8 * sizeof got[0]);
    if (memcmp(got, expected, 8 * sizeof got[0]) != 0) fprintf(stderr, "in %s\n", what);
}

/* z R / R64 = x y / R64 for z = x y / R. */
IFMA_TARGET static void V_(check_product)(const char *what, const V_T *product, const F_T x[8],
                                          const F_T y[8]) {
    const F_T factor = F_(from_limbs52)(V_P.one);
    F_T expected[8], got[8];
    V_T reduced;
    V_(canonical)(&reduced, product);
    V_(put)(got, &reduced);
    V_(expect_small)(what, product, got);
    for (int i = 0; i < 8; i++) {
        F_(mul)(&expected[i], &x[i], &y[i]);
        F_(mul)(&got[i], &got[i], &factor);
    }
    CHECK_MEM(got, expected, sizeof got);
}

IFMA_TARGET static void V_(check_round)(void) {
    F_T x[8], y[8], expected[8];
    V_T vx, vy, wide_x, wide_y, z;
    for (int i = 0; i < 8; i++) {
        x[i] = F_(sample)();
        y[i] = check_random() % 8 == 0 ? x[i] : F_(sample)();
    }
    V_(get)(&vx, x), V_(get)(&vy, y);
    V_(put)(expected, &vx);
    CHECK_MEM(expected, x, sizeof x);

    const uint64_t kx = check_random() % CASE_MAX, ky = check_random() % (CASE_MAX / (kx + 1));
    V_(lift)(&wide_x, &vx, kx), V_(lift)(&wide_y, &vy, ky);
    V_(expect)("reduce", &wide_x, x);
    V_(reduce)(&z, &wide_x);
    V_(expect_small)("reduce once", &z, x);

    V_(mul)(&z, &wide_x, &wide_y);
    V_(check_product)("mul", &z, x, y);
    z = wide_x;
    V_(mul)(&z, &z, &wide_y); /* aliased */
    V_(check_product)("mul in place", &z, x, y);
    V_(sqr)(&z, (kx + 1) * (kx + 1) <= CASE_MAX ? &wide_x : &vx);
    V_(check_product)("sqr", &z, x, x);

    for (int i = 0; i < 8; i++)
        F_(add)(&expected[i], &x[i], &y[i]);
    V_(add)(&z, &vx, &vy);
    V_(expect_small)("add", &z, expected);
    for (int i = 0; i < 8; i++)
        F_(sub)(&expected[i], &x[i], &y[i]);
    for (unsigned k = 0; k < 4; k++) {
        V_(lift)(&wide_y, &vy, ((uint64_t)1 << k) - 1);
        V_(sub)(&z, &vx, &wide_y, k);
        V_(expect)("sub", &z, expected);
    }

    V_(enter)(&z, &vx);
    V_(mul)(&z, &z, &vy); /* (x R / R64) y / R: y has the form of fp_t, and so has the result */
    for (int i = 0; i < 8; i++)
        F_(mul)(&expected[i], &x[i], &y[i]);
    V_(expect)("enter", &z, expected);
    V_(enter)(&z, &vx), V_(leave)(&z, &z);
    V_(expect)("leave", &z, x);

    V_(sub)(&z, &vx, &vy, 0);
    V_(canonical)(&z, &z);
    const __mmask8 equal = V_(zero_lanes)(&z);
    V_(select)(&z, (__mmask8)~equal, &vx, &vy);
    V_(expect)("select", &z, y);
    for (int i = 0; i < 8; i++)
        CHECK(((equal >> i) & 1) == F_(eq)(&x[i], &y[i]));
}

/* Every constant of the prime, derived from its mont_prime. */
static void V_(check_constants)(void) {
    F_T z, r = F_(one)(), two = F_(one)();
    F_(double)(&two, &two);
    CHECK_MEM(F_(from_limbs52)(V_P.p).l, F_P.p, sizeof z);
    uint64_t carry = 1; /* ~p + 1, limb by limb */
    for (int i = 0; i < CASE_N; i++) {
        const uint64_t limb = (~V_P.p[i] & (((uint64_t)1 << 52) - 1)) + carry;
        CHECK_U64(V_P.minus_p[i], limb & (((uint64_t)1 << 52) - 1));
        carry = limb >> 52;
    }
    CHECK_U64((V_P.n0 * V_P.p[0] + 1) & (((uint64_t)1 << 52) - 1), 0);
    CHECK(V_P.p[CASE_N - 1] >> V_P.top_shift == 1);
    const mont_u128 numerator = (mont_u128)1 << (52 + V_P.top_shift);
    CHECK_U64(V_P.top_inverse, (uint64_t)(numerator / (V_P.p[CASE_N - 1] + 1)));
    /* As elements in Montgomery form (factor R64) the numbers are: leave, 1; one, R / R64;
     * enter, (R / R64)^2. R / R64 is a power of two. */
    z = F_(from_limbs52)(V_P.leave);
    CHECK(F_(eq)(&z, &r));
    for (int i = 64 * CASE_LIMBS; i < 52 * CASE_N; i++)
        F_(mul)(&r, &r, &two);
    z = F_(from_limbs52)(V_P.one);
    CHECK(F_(eq)(&z, &r));
    F_(sqr)(&r, &r);
    z = F_(from_limbs52)(V_P.enter);
    CHECK(F_(eq)(&z, &r));
}

#undef F_
#undef F_T
#undef V_
#undef V_T
#undef V_P
#undef F_P
#undef CASE_FIELD
#undef CASE_LIMBS
#undef CASE_N
#undef CASE_MAX
