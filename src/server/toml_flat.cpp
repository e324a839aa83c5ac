// The only C++ in the project: toml++ behind the C interface of toml_flat.h.
#include "server/toml_flat.h"

#include <algorithm>
#include <new>
#include <string>
#include <toml++/toml.h>
#include <vector>

namespace {

struct walk {
    cuzk_status (*fn)(void *arg, const toml_value *value, cuzk_error *err);
    void *arg;
    cuzk_error *err;
};

cuzk_status emit(const walk &w, const std::string &path, toml_type type, const std::string &text,
                 unsigned line) {
    const toml_value value = {path.c_str(), type, text.c_str(), line};
    return w.fn(w.arg, &value, w.err);
}

cuzk_status visit_table(const walk &w, const std::string &prefix, const toml::table &table);

cuzk_status visit(const walk &w, const std::string &path, const toml::node &node, unsigned line,
                  bool nested) {
    if (const auto *t = node.as_table()) {
        const cuzk_status status = emit(w, path, nested ? TOML_OTHER : TOML_TABLE, "", line);
        return status != CUZK_OK || nested ? status : visit_table(w, path + ".", *t);
    }
    if (const auto *a = node.as_array()) {
        cuzk_status status = emit(w, path, nested ? TOML_OTHER : TOML_ARRAY, "", line);
        for (std::size_t i = 0; status == CUZK_OK && !nested && i < a->size(); i++)
            status = visit(w, path, (*a)[i], line, true);
        return status;
    }
    if (const auto *s = node.as_string()) return emit(w, path, TOML_STRING, s->get(), line);
    if (const auto *i = node.as_integer())
        return emit(w, path, TOML_INTEGER, std::to_string(i->get()), line);
    if (const auto *b = node.as_boolean())
        return emit(w, path, TOML_BOOL, b->get() ? "true" : "false", line);
    return emit(w, path, TOML_OTHER, "", line);
}

// Keys come sorted by name; a reader expects them in the order of the file.
cuzk_status visit_table(const walk &w, const std::string &prefix, const toml::table &table) {
    struct entry {
        std::string path;
        const toml::node *node;
        unsigned line, column;
    };
    std::vector<entry> entries;
    for (const auto &[key, node] : table)
        entries.push_back({prefix + std::string(key.str()), &node, key.source().begin.line,
                           key.source().begin.column});
    std::sort(entries.begin(), entries.end(), [](const entry &a, const entry &b) {
        return a.line != b.line ? a.line < b.line : a.column < b.column;
    });
    for (const entry &e : entries) {
        const cuzk_status status = visit(w, e.path, *e.node, e.line, false);
        if (status != CUZK_OK) return status;
    }
    return CUZK_OK;
}

} // namespace

extern "C" cuzk_status toml_flat_parse(const char *text, size_t bytes,
                                       cuzk_status (*fn)(void *arg, const toml_value *value,
                                                         cuzk_error *err),
                                       void *arg, cuzk_error *err) {
    try {
        return visit_table({fn, arg, err}, "", toml::parse(std::string_view(text, bytes)));
    } catch (const toml::parse_error &e) {
        return cuzk_fail(err, CUZK_ERR_FORMAT, "line %u: %.*s",
                         static_cast<unsigned>(e.source().begin.line),
                         static_cast<int>(e.description().size()), e.description().data());
    } catch (const std::bad_alloc &) {
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for the configuration");
    }
}
