/* Montgomery's trick for any field with F_(one), F_(is_zero), F_(mul), F_(inv): a template body,
 * included where F_ and F_T are defined. scratch[i] holds the product of the non-zero x before i.
 */
void F_(batch_inv)(F_T *x, size_t n, F_T *scratch) {
    F_T product = F_(one)();
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!F_(is_zero)(&x[i])) F_(mul)(&product, &product, &x[i]);
    }
    F_(inv)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (F_(is_zero)(&x[i])) continue;
        F_T inverse;
        F_(mul)(&inverse, &product, &scratch[i]);
        F_(mul)(&product, &product, &x[i]);
        x[i] = inverse;
    }
}
