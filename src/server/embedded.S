/* Files that go into the program as they are: name, and name_bytes with its length. */
.macro embed name, file
    .section .rodata
    .global \name
    .hidden \name
    .type \name, %object
    .balign 16
\name:
    .incbin "\file"
\name\()_end:
    .size \name, \name\()_end - \name
    .global \name\()_bytes
    .hidden \name\()_bytes
    .type \name\()_bytes, %object
    .balign 8
\name\()_bytes:
    .quad \name\()_end - \name
    .size \name\()_bytes, 8
.endm

    embed page_html, "server/page.html"
    embed proving_descriptors, "cuzk/v1/proving.desc"
    embed health_descriptors, "grpc/health/v1/health.desc"
    .section .note.GNU-stack, "", %progbits
