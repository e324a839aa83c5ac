/* Recoding of scalars: the signed digits must give back the scalar. */
#include "check.h"
#include "msm/windows.h"

static fr_t edge_scalar(unsigned i) {
    fr_t z;
    uint64_t limbs[4];
    switch (i) {
    case 0:
        return fr_zero();
    case 1:
        return fr_one();
    case 2:
        fr_from_u64(&z, 2);
        return z;
    case 3:
        z = fr_one();
        fr_neg(&z, &z);
        return z;
    case 4: /* (r - 1) / 2, the largest positive one */
    case 5: /* (r + 1) / 2, the most negative one */
        for (int l = 0; l < 4; l++)
            limbs[l] = cuzk_fr_prime.p[l] >> 1 | (l < 3 ? cuzk_fr_prime.p[l + 1] << 63 : 0);
        limbs[0] += i - 4;
        fr_from_limbs(&z, limbs);
        return z;
    default:
        for (int l = 0; l < 4; l++)
            limbs[l] = check_random_runs();
        limbs[3] &= (uint64_t)-1 >> 2;
        fr_from_limbs(&z, limbs);
        return z;
    }
}

TEST(digits_give_the_scalar) {
    for (unsigned bits = MSM_MIN_WINDOW_BITS; bits <= MSM_MAX_WINDOW_BITS; bits++) {
        msm_windows windows;
        msm_windows_init(&windows, bits);
        CHECK(windows.count * bits >= 255 && (windows.count - 1) * bits < 255);
        for (unsigned i = 0; i < 300; i++) {
            const fr_t k = edge_scalar(i);
            msm_recoded recoded[2];
            memset(recoded, 0xff, sizeof recoded); /* padding must not matter */
            msm_recode(&recoded[0], &k, &windows);
            fr_t sum = fr_zero();
            for (unsigned w = windows.count; w-- > 0;) {
                const uint32_t digit = msm_digit(&recoded[0], msm_window_at(&windows, w));
                fr_t value;
                CHECK((digit >> 1) <= windows.digits);
                fr_from_u64(&value, digit >> 1);
                if (digit & 1) fr_neg(&value, &value);
                for (unsigned b = 0; b < bits; b++)
                    fr_double(&sum, &sum);
                fr_add(&sum, &sum, &value);
            }
            CHECK(fr_eq(&sum, &k));
        }
    }
}

TEST(window_bits_grow_with_size) {
    unsigned last = 0;
    for (size_t n = 1; n < (size_t)1 << 30; n *= 2) {
        const unsigned bits = msm_window_bits(n, 2);
        CHECK(bits >= last && bits >= MSM_MIN_WINDOW_BITS && bits <= MSM_MAX_WINDOW_BITS);
        last = bits;
    }
    CHECK_U64(last, MSM_MAX_WINDOW_BITS);
}

TEST_MAIN(RUN(digits_give_the_scalar), RUN(window_bits_grow_with_size))
