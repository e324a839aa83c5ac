/* Names for the template headers (prime_field.h, curve_template.h): TEMPLATE_NAME(fr, add) is
 * fr_add, with both arguments expanded first. */
#ifndef CUZK_FIELD_TEMPLATE_H
#define CUZK_FIELD_TEMPLATE_H

#define TEMPLATE_JOIN_(prefix, name) prefix##_##name
#define TEMPLATE_NAME(prefix, name) TEMPLATE_JOIN_(prefix, name)

#endif
