/* Laws that every prime field must obey, as a template: define FIELD, FIELD_LIMBS and FIELD_PRIME,
 * include, and run FIELD_laws(rounds). Elements are random and edge values (limbs.h). */
#include "field/limbs.h"
#include "field/template.h"

#define F_(name) TEMPLATE_NAME(FIELD, name)
#define F_T F_(t)

static F_T F_(any)(int i) {
    F_T z;
    if (i % 2 == 0 || !limbs_edge(z.l, &FIELD_PRIME, FIELD_LIMBS, i / 2))
        limbs_random(z.l, &FIELD_PRIME, FIELD_LIMBS);
    return z;
}

static void F_(check_ring)(const F_T *x, const F_T *y, const F_T *w) {
    F_T a, b, c, t;
    const F_T zero = F_(zero)(), one = F_(one)();
    F_(add)(&a, x, y);
    F_(add)(&b, y, x);
    CHECK(F_(eq)(&a, &b));
    F_(sub)(&b, &a, y);
    CHECK(F_(eq)(&b, x));
    F_(neg)(&b, x);
    F_(add)(&b, &b, x);
    CHECK(F_(is_zero)(&b));
    F_(double)(&b, x);
    F_(add)(&c, x, x);
    CHECK(F_(eq)(&b, &c));
    F_(mul)(&t, &a, w); /* (x + y) w = x w + y w */
    F_(mul)(&b, x, w);
    F_(mul)(&c, y, w);
    F_(add)(&b, &b, &c);
    CHECK(F_(eq)(&b, &t));
    F_(mul)(&a, x, y); /* (x y) w = x (y w) */
    F_(mul)(&a, &a, w);
    F_(mul)(&b, y, w);
    F_(mul)(&b, x, &b);
    CHECK(F_(eq)(&a, &b));
    F_(mul)(&a, x, &one);
    CHECK(F_(eq)(&a, x));
    F_(mul)(&a, x, &zero);
    CHECK(F_(is_zero)(&a));
    F_(mul)(&a, x, x);
    F_(sqr)(&b, x);
    CHECK(F_(eq)(&a, &b));
}

static void F_(check_inverse_and_root)(const F_T *x) {
    F_T i, p, root, square;
    const F_T one = F_(one)();
    uint64_t e[FIELD_LIMBS]; /* p - 2 */
    memcpy(e, FIELD_PRIME.p, sizeof e);
    e[0] -= 2; /* no borrow for the primes here */
    F_(inv)(&i, x);
    F_(pow_var)(&p, x, e, FIELD_LIMBS);
    CHECK(F_(eq)(&i, &p));
    F_(mul)(&p, x, &i);
    CHECK(F_(is_zero)(x) ? F_(is_zero)(&i) : F_(eq)(&p, &one));

    F_(sqr)(&square, x);
    CHECK(F_(sqrt)(&root, &square));
    F_(neg)(&p, x);
    CHECK(F_(eq)(&root, x) || F_(eq)(&root, &p));
    root = one;
    if (F_(sqrt)(&root, x)) {
        F_(sqr)(&p, &root);
        CHECK(F_(eq)(&p, x));
    } else { /* untouched, and Euler agrees: x^((p-1)/2) = -1 */
        CHECK(F_(eq)(&root, &one));
        for (int k = 0; k < FIELD_LIMBS; k++)
            e[k] = FIELD_PRIME.p[k] >> 1 | (k + 1 < FIELD_LIMBS ? FIELD_PRIME.p[k + 1] << 63 : 0);
        F_(pow_var)(&p, x, e, FIELD_LIMBS);
        F_(add)(&p, &p, &one);
        CHECK(F_(is_zero)(&p));
    }
}

static void F_(check_plain_form)(const F_T *x) {
    F_T y;
    uint64_t plain[FIELD_LIMBS];
    F_(to_limbs)(plain, x);
    CHECK(mont_is_canonical(plain, &FIELD_PRIME, FIELD_LIMBS));
    F_(from_limbs)(&y, plain);
    CHECK(F_(eq)(x, &y));
}

static void F_(check_batch_inv)(void) {
    enum { N = 37 };
    F_T x[N], expected[N], scratch[N];
    for (int n = 0; n <= N; n++) {
        for (int i = 0; i < n; i++) {
            x[i] = F_(any)((int)(check_random() % 64));
            if (check_random() % 5 == 0) x[i] = F_(zero)();
            F_(inv)(&expected[i], &x[i]);
        }
        F_(batch_inv)(x, (size_t)n, scratch);
        CHECK_MEM(x, expected, (size_t)n * sizeof x[0]);
    }
}

static void F_(check_root_of_unity)(void) {
    F_T g;
    const F_T one = F_(one)();
    memcpy(g.l, FIELD_PRIME.root, sizeof g.l);
    for (unsigned i = 0; i < FIELD_PRIME.two_adicity; i++) {
        CHECK(!F_(eq)(&g, &one));
        F_(sqr)(&g, &g);
    }
    CHECK(F_(eq)(&g, &one));
}

static void F_(laws)(int rounds) {
    F_T x, y, w, seven, sum = F_(zero)();
    const F_T one = F_(one)();
    for (int i = 0; i < rounds; i++) {
        x = F_(any)(i);
        y = F_(any)((int)(check_random() % 2000));
        w = F_(any)((int)(check_random() % 2000));
        F_(check_ring)(&x, &y, &w);
        F_(check_plain_form)(&x);
        if (i < 3000) F_(check_inverse_and_root)(&x);
    }
    F_(from_u64)(&seven, 7);
    for (int i = 0; i < 7; i++)
        F_(add)(&sum, &sum, &one);
    CHECK(F_(eq)(&seven, &sum));
    F_(check_batch_inv)();
    F_(check_root_of_unity)();
}

#undef F_
#undef F_T
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_PRIME
