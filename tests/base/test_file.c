/* Mappings and atomic writes. */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char directory[64];
static const char *at(const char *name) {
    static char path[4][160];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", directory, name);
    return p;
}
static void begin(void) {
    strcpy(directory, "/tmp/cuzk_file_XXXXXX");
    REQUIRE(mkdtemp(directory) != NULL);
}
static unsigned files(void) {
    unsigned n = 0;
    DIR *d = opendir(directory);
    REQUIRE(d != NULL);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}
/* The directory holds exactly the named files. */
static void end(unsigned n, const char *const *names) {
    CHECK_U64(files(), n);
    for (unsigned i = 0; i < n; i++)
        CHECK(unlink(at(names[i])) == 0);
    CHECK(rmdir(directory) == 0);
}

static void check_content(const char *path, const void *want, size_t bytes) {
    cuzk_error err;
    file_map map;
    CHECK_OK(file_map_open(path, &map, &err));
    CHECK_U64(map.bytes, bytes);
    if (map.bytes == bytes && bytes > 0) CHECK_MEM(map.data, want, bytes);
    if (bytes == 0) CHECK(map.data == NULL);
    file_map_close(&map);
    CHECK(map.data == NULL && map.bytes == 0);
    file_map_close(&map); /* harmless */
}

TEST(write_and_map) {
    cuzk_error err;
    begin();
    uint8_t data[70000];
    check_random_bytes(data, sizeof data);
    CHECK_OK(file_write_all(at("a"), data, sizeof data, &err));
    check_content(at("a"), data, sizeof data);
    CHECK_OK(file_write_all(at("a"), data + 1, 5, &err)); /* replaces */
    check_content(at("a"), data + 1, 5);
    CHECK_OK(file_write_all(at("a"), NULL, 0, &err));
    check_content(at("a"), NULL, 0);
    end(1, (const char *const[]){"a"});
}

TEST(pieces) {
    cuzk_error err;
    begin();
    file_writer *w = NULL;
    CHECK_OK(file_writer_open(at("a"), &w, &err));
    CHECK_OK(file_writer_write(w, "????", 4, &err));
    CHECK_OK(file_writer_write(w, "defg", 4, &err));
    CHECK_U64(file_writer_offset(w), 8);
    CHECK_OK(file_writer_pwrite(w, "abc", 3, 1, &err));
    CHECK_U64(file_writer_offset(w), 8); /* pwrite does not move it */
    CHECK(access(at("a"), F_OK) != 0);   /* not there before commit */
    CHECK_STATUS(file_writer_pwrite(w, "x", 1, UINT64_MAX, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(file_writer_commit(w, &err));
    check_content(at("a"), "?abcdefg", 8);
    end(1, (const char *const[]){"a"});
}

TEST(abort_leaves_nothing) {
    cuzk_error err;
    begin();
    CHECK_OK(file_write_all(at("a"), "old", 3, &err));
    file_writer *w = NULL, *second = NULL;
    CHECK_OK(file_writer_open(at("a"), &w, &err));
    CHECK_OK(file_writer_open(at("a"), &second, &err)); /* two writers of one name */
    CHECK_OK(file_writer_write(w, "new", 3, &err));
    CHECK_OK(file_writer_write(second, "other", 5, &err));
    CHECK_U64(files(), 3);
    file_writer_abort(w);
    check_content(at("a"), "old", 3);
    CHECK_OK(file_writer_commit(second, &err));
    check_content(at("a"), "other", 5);
    file_writer_abort(NULL);
    end(1, (const char *const[]){"a"});
}

TEST(refusals) {
    cuzk_error err;
    begin();
    file_map map;
    file_writer *w = NULL;
    char path[8192];
    CHECK_STATUS(file_map_open(at("none"), &map, &err), CUZK_ERR_NOT_FOUND);
    CHECK(strstr(err.text, "none") != NULL && map.data == NULL);
    CHECK_STATUS(file_map_open(directory, &map, &err), CUZK_ERR_IO);
    REQUIRE(mkfifo(at("pipe"), 0600) == 0);
    CHECK_STATUS(file_map_open(at("pipe"), &map, &err), CUZK_ERR_IO); /* and does not hang */
    CHECK_STATUS(file_writer_open(at("none/a"), &w, &err), CUZK_ERR_NOT_FOUND);
    CHECK(strstr(err.text, "none/a") != NULL && w == NULL);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    CHECK_STATUS(file_writer_open(path, &w, &err), CUZK_ERR_ARGUMENT);
    /* What is there and is no regular file is not replaced. */
    REQUIRE(mkdir(at("d"), 0700) == 0);
    REQUIRE(symlink("/dev/null", at("null")) == 0);
    const char *const taken[] = {"d", "pipe", "null"};
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(file_write_all(at(taken[i]), "x", 1, &err), CUZK_ERR_IO);
        CHECK(strstr(err.text, "not a regular file") != NULL);
    }
    CHECK(unlink(at("null")) == 0);
    CHECK_U64(files(), 2);
    /* A failed commit: the name is taken by a directory meanwhile. */
    CHECK_OK(file_writer_open(at("e"), &w, &err));
    REQUIRE(mkdir(at("e"), 0700) == 0);
    CHECK_STATUS(file_writer_commit(w, &err), CUZK_ERR_IO);
    CHECK(rmdir(at("e")) == 0);
    CHECK_U64(files(), 2);
    CHECK(rmdir(at("d")) == 0);
    end(1, (const char *const[]){"pipe"});
}

TEST(disk_full) {
    cuzk_error err;
    /* /dev/full answers every write with ENOSPC: reach it through a link by the temporary name. */
    file_writer *w = NULL;
    begin();
    CHECK_OK(file_writer_open(at("a"), &w, &err));
    DIR *d = opendir(directory);
    char temporary[300] = "";
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "a.tmp.", 6) == 0)
            snprintf(temporary, sizeof temporary, "%s/%.200s", directory, e->d_name);
    }
    closedir(d);
    REQUIRE(temporary[0] != 0);
    /* Put the full device under the writer's descriptor, which is the one on that file. */
    struct stat want, st;
    REQUIRE(stat(temporary, &want) == 0);
    const int full = open("/dev/full", O_WRONLY);
    if (full < 0) SKIP("no /dev/full");
    for (int fd = 3; fd < 64; fd++) {
        if (fd != full && fstat(fd, &st) == 0 && st.st_ino == want.st_ino &&
            st.st_dev == want.st_dev)
            REQUIRE(dup2(full, fd) == fd);
    }
    close(full);
    CHECK_STATUS(file_writer_write(w, "data", 4, &err), CUZK_ERR_NO_SPACE);
    CHECK(strstr(err.text, "/a: write") != NULL);
    file_writer_abort(w);
    end(0, NULL);
}

TEST(file_size_limit) {
    /* A limit on the size of files breaks a write in the middle: an error, nothing left behind. */
    cuzk_error err;
    struct rlimit before, limit;
    static uint8_t data[1 << 16];
    begin();
    CHECK_OK(file_write_all(at("a"), "old", 3, &err));
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 10000;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const cuzk_status status = file_write_all(at("a"), data, sizeof data, &err);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_STATUS(status, CUZK_ERR_IO);
    check_content(at("a"), "old", 3);
    end(1, (const char *const[]){"a"});
}

TEST_MAIN(RUN(write_and_map), RUN(pieces), RUN(abort_leaves_nothing), RUN(refusals), RUN(disk_full),
          RUN(file_size_limit))
