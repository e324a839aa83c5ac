#include "server/rpc.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/acceptor.h"
#include "server/log.h"
#include "server/safe_text.h"

/* gRPC servers by how far a connection is trusted; they share everything else. */
enum { TRUSTED, STRICT, N_POLICIES };
#define RETRY_AFTER_MS "2000"
enum { ARMED = 32, MAX_APART = 8, TICK_MS = 20 };

typedef struct operation {
    rpc_call *call;
    enum { OP_NEW, OP_CLOSE, OP_RECV, OP_SEND, OP_SENT, OP_WAKE } kind;
} operation;

/* A place in one of the server's lists. */
typedef struct ring_link {
    struct ring_link *next, *before;
    rpc_call *call;
} ring_link;

struct rpc_call {
    rpc_server *server;
    unsigned policy;
    const rpc_method *method;
    grpc_call *call;
    grpc_call_details details;
    grpc_metadata_array metadata;
    operation op_new, op_close, op_recv, op_send, op_sent, op_wake;
    int cancelled;
    grpc_byte_buffer *payload;
    uint64_t admitted; /* bytes held from the budget for the message */
    bool receiver;     /* counted in the server's n_receivers */
    bool metadata_sent;
    atomic_uint refs;
    /* Below: under the server's lock. */
    enum {
        CALL_NEW,
        CALL_ADMITTING, /* in the list of those that wait for room */
        CALL_RECEIVING, /* in the list of those whose message is on its way */
        CALL_HANDLED,   /* the handler's */
        CALL_WAITING,   /* in rpc_wait_begin */
        CALL_OVER       /* answered, or given up */
    } phase;
    bool woken, gone;
    rpc_wait wait;
    uint64_t since, until; /* ms, monotonic; until 0: for ever */
    ring_link place;
};

struct rpc_server {
    rpc_config config;
    grpc_server *servers[N_POLICIES];
    grpc_completion_queue *queue;
    grpc_resource_quota *quota;
    acceptor *acceptor;
    pthread_t threads[64], ticker;
    unsigned n_threads;
    bool ticker_started, stop_ticker, started;
    operation op_shutdown[N_POLICIES];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const token_list *tokens;
    bool closing;
    unsigned n_calls, n_apart, n_shut, n_receivers;
    ring_link admitting, receiving, waiting; /* rings: oldest first */
};

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- lists ---- */

static void ring_init(ring_link *ring) {
    ring->next = ring->before = ring;
    ring->call = NULL;
}
static void ring_add(ring_link *ring, rpc_call *call) {
    ring_link *l = &call->place;
    l->call = call;
    l->next = ring;
    l->before = ring->before;
    ring->before->next = l;
    ring->before = l;
}
static void ring_take(rpc_call *call) {
    call->place.before->next = call->place.next;
    call->place.next->before = call->place.before;
}

/* ---- life of a call ---- */

static bool start(rpc_call *call, const grpc_op *ops, size_t n, operation *tag) {
    rpc_ref(call);
    if (grpc_call_start_batch(call->call, ops, n, tag, NULL) == GRPC_CALL_OK) return true;
    rpc_unref(call);
    return false;
}

void rpc_ref(rpc_call *call) {
    atomic_fetch_add(&call->refs, 1);
}

/* The message is out of gRPC's buffers: room there for another. */
static void drop_payload(rpc_call *call) {
    if (call->payload != NULL) grpc_byte_buffer_destroy(call->payload);
    call->payload = NULL;
    if (!call->receiver) return;
    pthread_mutex_lock(&call->server->lock);
    call->server->n_receivers--;
    pthread_mutex_unlock(&call->server->lock);
    call->receiver = false;
}

static void release_message(rpc_call *call) {
    drop_payload(call);
    if (call->admitted > 0)
        call->server->config.release(call->server->config.context, call->admitted);
    call->admitted = 0;
}

void rpc_unref(rpc_call *call) {
    rpc_server *s = call->server;
    if (atomic_fetch_sub(&call->refs, 1) != 1) return;
    release_message(call);
    if (call->call != NULL) grpc_call_unref(call->call);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_call_details_destroy(&call->details);
    free(call);
    pthread_mutex_lock(&s->lock);
    s->n_calls--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Be ready for one more call. */
static void arm(rpc_server *s, unsigned policy) {
    rpc_call *call = calloc(1, sizeof *call);
    if (call == NULL) return; /* there are ARMED others */
    call->server = s;
    call->policy = policy;
    atomic_init(&call->refs, 1);
    operation *const ops[] = {&call->op_new,  &call->op_close, &call->op_recv,
                              &call->op_send, &call->op_sent,  &call->op_wake};
    unsigned kind = OP_NEW;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        ops[i]->call = call;
        ops[i]->kind = kind++; /* in the order of the enumeration */
    }
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    pthread_mutex_lock(&s->lock);
    s->n_calls++;
    const bool closing = s->closing;
    pthread_mutex_unlock(&s->lock);
    if (closing ||
        grpc_server_request_call(s->servers[policy], &call->call, &call->details, &call->metadata,
                                 s->queue, s->queue, &call->op_new) != GRPC_CALL_OK)
        rpc_unref(call);
}

/* ---- answering ---- */

static size_t add_initial_metadata(rpc_call *call, grpc_op *ops) {
    if (call->metadata_sent) return 0;
    call->metadata_sent = true;
    ops[0] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    return 1;
}

/* The last words of a call; payload may be NULL. Drops the owner's reference. */
static void finish(rpc_call *call, grpc_byte_buffer *payload, grpc_status_code code,
                   const char *text) {
    rpc_server *s = call->server;
    pthread_mutex_lock(&s->lock);
    call->phase = CALL_OVER;
    pthread_mutex_unlock(&s->lock);
    grpc_op ops[3];
    size_t n = add_initial_metadata(call, ops);
    if (payload != NULL) {
        ops[n] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE};
        ops[n++].data.send_message.send_message = payload;
    }
    grpc_slice details = grpc_slice_from_copied_string(text);
    /* gRPC's own way to say when another try makes sense. */
    grpc_metadata later = {.key = grpc_slice_from_static_string("grpc-retry-pushback-ms"),
                           .value = grpc_slice_from_static_string(RETRY_AFTER_MS)};
    ops[n] = (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER};
    if (code == GRPC_STATUS_RESOURCE_EXHAUSTED || code == GRPC_STATUS_UNAVAILABLE) {
        ops[n].data.send_status_from_server.trailing_metadata_count = 1;
        ops[n].data.send_status_from_server.trailing_metadata = &later;
    }
    ops[n].data.send_status_from_server.status = code;
    ops[n++].data.send_status_from_server.status_details = &details;
    (void)start(call, ops, n, &call->op_send);
    grpc_slice_unref(details);
    if (payload != NULL) grpc_byte_buffer_destroy(payload);
    rpc_unref(call);
}

static grpc_byte_buffer *pack(const ProtobufCMessage *message) {
    grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(message));
    protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
    grpc_byte_buffer *payload = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return payload;
}

void rpc_reply(rpc_call *call, const ProtobufCMessage *reply) {
    finish(call, pack(reply), GRPC_STATUS_OK, "");
}

void rpc_send(rpc_call *call, const ProtobufCMessage *message) {
    grpc_op ops[2];
    size_t n = add_initial_metadata(call, ops);
    grpc_byte_buffer *payload = pack(message);
    ops[n] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE};
    ops[n++].data.send_message.send_message = payload;
    (void)start(call, ops, n, &call->op_sent);
    grpc_byte_buffer_destroy(payload);
}

void rpc_fail(rpc_call *call, grpc_status_code code, const char *format, ...) {
    char text[512], safe[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    safe_text(safe, sizeof safe, text);
    finish(call, NULL, code, safe);
}

static grpc_status_code code_of(cuzk_status status) {
    switch (status) {
    case CUZK_OK:
        return GRPC_STATUS_OK;
    case CUZK_ERR_NOT_FOUND:
        return GRPC_STATUS_NOT_FOUND;
    case CUZK_ERR_EXISTS:
        return GRPC_STATUS_ALREADY_EXISTS;
    case CUZK_ERR_NO_MEMORY:
    case CUZK_ERR_NO_SPACE:
    case CUZK_ERR_EXHAUSTED:
    case CUZK_ERR_DEVICE_MEMORY:
        return GRPC_STATUS_RESOURCE_EXHAUSTED;
    case CUZK_ERR_CANCELLED:
        return GRPC_STATUS_CANCELLED;
    case CUZK_ERR_TIMEOUT:
        return GRPC_STATUS_DEADLINE_EXCEEDED;
    case CUZK_ERR_IO:
    case CUZK_ERR_DEVICE:
    case CUZK_ERR_DEVICE_LOST:
    case CUZK_ERR_INTERNAL:
        return GRPC_STATUS_INTERNAL;
    case CUZK_ERR_UNSUPPORTED:
        return GRPC_STATUS_UNIMPLEMENTED;
    default:
        return GRPC_STATUS_INVALID_ARGUMENT;
    }
}

void rpc_fail_error(rpc_call *call, const cuzk_error *err) {
    rpc_fail(call, code_of(err->status), "%s", err->text);
}

void *rpc_context(const rpc_call *call) {
    return call->server->config.context;
}

/* ---- waiting ---- */

/* The one who ends a wait: under the lock, true once. */
static bool claim_wait(rpc_call *call) {
    if (call->phase != CALL_WAITING) return false;
    ring_take(call);
    call->phase = CALL_HANDLED;
    return true;
}

void rpc_wait_begin(rpc_call *call, const rpc_wait *wait, uint64_t timeout_ms) {
    rpc_server *s = call->server;
    pthread_mutex_lock(&s->lock);
    call->wait = *wait;
    const bool woken = call->woken, gone = !woken && (call->gone || s->closing);
    if (!woken && !gone) {
        call->until = timeout_ms == 0 || timeout_ms > INT64_MAX ? 0 : now_ms() + timeout_ms;
        call->phase = CALL_WAITING;
        ring_add(&s->waiting, call);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (woken) wait->ready(call, wait->arg);
    if (!gone) return;
    wait->gone(call, wait->arg);
    rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "the daemon is stopping");
}

void rpc_wake(rpc_call *call) {
    rpc_server *s = call->server;
    pthread_mutex_lock(&s->lock);
    const bool mine = claim_wait(call);
    call->woken = true;
    pthread_mutex_unlock(&s->lock);
    if (mine) (void)start(call, NULL, 0, &call->op_wake);
}

typedef struct apart {
    rpc_call *call;
    void (*fn)(rpc_call *call, void *arg);
    void *arg;
} apart;

static void *apart_main(void *arg) {
    apart a = *(apart *)arg;
    rpc_server *s = a.call->server;
    free(arg);
    rpc_ref(a.call);
    a.fn(a.call, a.arg);
    pthread_mutex_lock(&s->lock);
    s->n_apart--;
    pthread_mutex_unlock(&s->lock);
    rpc_unref(a.call);
    return NULL;
}

bool rpc_run_apart(rpc_call *call, void (*fn)(rpc_call *call, void *arg), void *arg) {
    rpc_server *s = call->server;
    pthread_t thread;
    apart *a = malloc(sizeof *a);
    pthread_mutex_lock(&s->lock);
    const bool room = a != NULL && s->n_apart < MAX_APART;
    if (room) s->n_apart++;
    pthread_mutex_unlock(&s->lock);
    if (room) {
        *a = (apart){call, fn, arg};
        if (pthread_create(&thread, NULL, apart_main, a) == 0) {
            pthread_detach(thread);
            return true;
        }
        pthread_mutex_lock(&s->lock);
        s->n_apart--;
        pthread_mutex_unlock(&s->lock);
    }
    free(a);
    rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "too many long calls are running");
    return false;
}

/* ---- from a new call to its message ---- */

static void receive(rpc_call *call) {
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};
    op.data.recv_message.recv_message = &call->payload;
    if (!start(call, &op, 1, &call->op_recv)) {
        pthread_mutex_lock(&call->server->lock);
        const bool mine = call->phase == CALL_RECEIVING;
        if (mine) ring_take(call);
        pthread_mutex_unlock(&call->server->lock);
        if (mine) rpc_fail(call, GRPC_STATUS_INTERNAL, "cannot receive a message");
    }
    rpc_unref(call);
}

/* With the lock held: move a call into the list of receivers. The reference is for receive, which
 * comes without the lock: the ticker may have given the call up by then. */
static void begin_receiving(rpc_server *s, rpc_call *call) {
    rpc_ref(call);
    call->phase = CALL_RECEIVING;
    call->since = now_ms();
    call->until = call->since + s->config.body_timeout_ms;
    ring_add(&s->receiving, call);
    pthread_cond_broadcast(&s->changed);
}

/* Let in as many as there is room for, oldest first. */
static void admit_waiting(rpc_server *s) {
    for (;;) {
        pthread_mutex_lock(&s->lock);
        rpc_call *call = s->n_receivers < s->config.max_receivers ? s->admitting.next->call : NULL;
        if (call != NULL && !s->config.admit(s->config.context, s->config.body_charge)) call = NULL;
        if (call != NULL) {
            call->admitted = s->config.body_charge;
            call->receiver = true;
            s->n_receivers++;
            ring_take(call);
            begin_receiving(s, call);
        }
        pthread_mutex_unlock(&s->lock);
        if (call == NULL) return;
        receive(call);
    }
}

static void expect_message(rpc_call *call) {
    rpc_server *s = call->server;
    const bool large = call->method->large;
    pthread_mutex_lock(&s->lock);
    const bool gone = call->gone || s->closing;
    if (!gone && large) {
        call->phase = CALL_ADMITTING;
        call->until = 0;
        ring_add(&s->admitting, call);
    } else if (!gone) {
        begin_receiving(s, call);
    }
    pthread_mutex_unlock(&s->lock);
    if (gone)
        rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "the daemon is stopping");
    else if (large)
        admit_waiting(s); /* by then another thread may have ended this call */
    else
        receive(call);
}

static unsigned rights_of(rpc_call *call) {
    static const char scheme[] = "Bearer ";
    const size_t skip = sizeof scheme - 1;
    unsigned rights = 0;
    pthread_mutex_lock(&call->server->lock);
    const token_list *tokens = call->server->tokens;
    if (call->policy == TRUSTED || tokens == NULL) rights = RIGHT_ALL;
    for (size_t i = 0; rights == 0 && i < call->metadata.count; i++) {
        const grpc_metadata *m = &call->metadata.metadata[i];
        const uint8_t *value = GRPC_SLICE_START_PTR(m->value);
        const size_t bytes = GRPC_SLICE_LENGTH(m->value);
        if (grpc_slice_str_cmp(m->key, "authorization") == 0 && bytes > skip &&
            memcmp(value, scheme, skip) == 0)
            rights = token_list_rights(tokens, value + skip, bytes - skip);
    }
    pthread_mutex_unlock(&call->server->lock);
    return rights;
}

static void begin_call(rpc_call *call) {
    rpc_server *s = call->server;
    grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    op.data.recv_close_on_server.cancelled = &call->cancelled;
    (void)start(call, &op, 1, &call->op_close);
    const unsigned rights = rights_of(call);
    for (size_t i = 0; i < s->config.n_methods; i++)
        if (grpc_slice_str_cmp(call->details.method, s->config.methods[i].path) == 0)
            call->method = &s->config.methods[i];
    if (call->method == NULL)
        rpc_fail(call, GRPC_STATUS_UNIMPLEMENTED, "unknown method");
    else if (rights == 0 && call->method->rights != 0)
        rpc_fail(call, GRPC_STATUS_UNAUTHENTICATED, "a bearer token is needed");
    else if ((call->method->rights & rights) != call->method->rights)
        rpc_fail(call, GRPC_STATUS_PERMISSION_DENIED, "this token has no right to that call");
    else
        expect_message(call);
}

/* Change what the message is charged with; false: no room. */
static bool recharge(rpc_call *call, uint64_t bytes) {
    const rpc_config *c = &call->server->config;
    if (bytes > call->admitted && !c->admit(c->context, bytes - call->admitted)) return false;
    if (bytes < call->admitted) c->release(c->context, call->admitted - bytes);
    call->admitted = bytes;
    return true;
}

/* The message in one piece, and the call to its handler. */
static void handle_message(rpc_call *call) {
    const uint64_t bytes = grpc_byte_buffer_length(call->payload);
    grpc_byte_buffer_reader reader;
    if (call->payload->data.raw.compression != GRPC_COMPRESS_NONE) {
        rpc_fail(call, GRPC_STATUS_UNIMPLEMENTED, "compressed messages are not taken");
        return;
    }
    /* For a moment it is there twice. */
    if (call->method->large && !recharge(call, 2 * bytes)) {
        rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no room for a request of %llu bytes now",
                 (unsigned long long)bytes);
        return;
    }
    grpc_byte_buffer_reader_init(&reader, call->payload);
    grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    drop_payload(call);
    if (call->method->large) (void)recharge(call, bytes);
    const uint64_t charge = call->admitted;
    call->admitted = 0; /* the call may be gone when the handler returns */
    rpc_server *s = call->server;
    call->method->handle(call, GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
    grpc_slice_unref(slice);
    if (charge > 0) s->config.release(s->config.context, charge);
}

static void message_arrived(rpc_call *call) {
    rpc_server *s = call->server;
    pthread_mutex_lock(&s->lock);
    const bool mine = call->phase == CALL_RECEIVING;
    if (mine) {
        ring_take(call);
        call->phase = CALL_HANDLED;
    }
    pthread_mutex_unlock(&s->lock);
    if (!mine) /* answered in the meantime: too slow, or the server closes */
        release_message(call);
    else if (call->payload == NULL && call->method->stream)
        rpc_fail(call, GRPC_STATUS_OK, "%s", "");
    else if (call->payload == NULL)
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "a call without a message, or one too long");
    else
        handle_message(call);
    admit_waiting(s);
}

static void call_closed(rpc_call *call) {
    rpc_server *s = call->server;
    pthread_mutex_lock(&s->lock);
    call->gone = call->cancelled != 0;
    const bool waited = call->gone && claim_wait(call);
    const bool queued = call->gone && call->phase == CALL_ADMITTING;
    if (queued) ring_take(call);
    if (queued || waited) call->phase = CALL_OVER;
    pthread_mutex_unlock(&s->lock);
    if (waited) call->wait.gone(call, call->wait.arg);
    if (queued || waited) rpc_unref(call);
}

/* What rpc_wait_begin wrote on another thread is read under the same lock. */
static void woken(rpc_call *call) {
    pthread_mutex_lock(&call->server->lock);
    const rpc_wait wait = call->wait;
    pthread_mutex_unlock(&call->server->lock);
    wait.ready(call, wait.arg);
}

/* ---- threads ---- */

static void on_event(operation *op, bool ok) {
    rpc_call *call = op->call;
    rpc_server *s = call->server;
    switch (op->kind) {
    case OP_NEW:
        if (ok) {
            arm(s, call->policy);
            begin_call(call);
        } else {
            rpc_unref(call);
        }
        return; /* no reference for this one: the owner's is used */
    case OP_CLOSE:
        call_closed(call);
        break;
    case OP_RECV:
        message_arrived(call);
        break;
    case OP_WAKE:
        woken(call);
        break;
    case OP_SENT:
        if (call->method->stream) expect_message(call);
        break;
    case OP_SEND:
        break;
    }
    rpc_unref(call);
}

static void *thread_main(void *self) {
    rpc_server *s = self;
    for (;;) {
        const grpc_event e =
            grpc_completion_queue_next(s->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (e.type == GRPC_QUEUE_SHUTDOWN) return NULL;
        if (e.type != GRPC_OP_COMPLETE) continue;
        operation *op = e.tag;
        if (op->call == NULL) { /* a server has shut down */
            pthread_mutex_lock(&s->lock);
            s->n_shut++;
            pthread_cond_broadcast(&s->changed);
            pthread_mutex_unlock(&s->lock);
        } else {
            on_event(op, e.success != 0);
        }
    }
}

/* A receiver that has had its time: too long by itself, or long enough when others wait. */
static rpc_call *take_slow(rpc_server *s, uint64_t now) {
    rpc_call *oldest = s->receiving.next->call;
    if (oldest == NULL) return NULL;
    const bool others_wait = s->admitting.next->call != NULL;
    if (now < oldest->until && !(others_wait && now - oldest->since >= s->config.body_grace_ms))
        return NULL;
    ring_take(oldest);
    oldest->phase = CALL_OVER;
    rpc_ref(oldest);
    return oldest;
}

static rpc_call *take_due(rpc_server *s, uint64_t now) {
    for (ring_link *l = s->waiting.next; l->call != NULL; l = l->next) {
        rpc_call *call = l->call;
        if (call->until == 0 || now < call->until) continue;
        (void)claim_wait(call);
        return call;
    }
    return NULL;
}

static void wait_ms(rpc_server *s, uint64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

static void *ticker_main(void *self) {
    rpc_server *s = self;
    pthread_mutex_lock(&s->lock);
    while (!s->stop_ticker) {
        const uint64_t now = now_ms();
        rpc_call *slow = take_slow(s, now);
        rpc_call *due = slow == NULL ? take_due(s, now) : NULL;
        const bool admitting = s->admitting.next->call != NULL;
        if (slow == NULL && due == NULL && !admitting) {
            const bool idle = s->receiving.next->call == NULL && s->waiting.next->call == NULL;
            if (idle)
                pthread_cond_wait(&s->changed, &s->lock);
            else
                wait_ms(s, TICK_MS);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        if (slow != NULL) {
            rpc_fail(slow, GRPC_STATUS_RESOURCE_EXHAUSTED, "the message took too long to arrive");
            grpc_call_cancel(slow->call, NULL); /* its receive ends, and gives the room back */
            rpc_unref(slow);
        }
        if (due != NULL) due->wait.timeout(due, due->wait.arg);
        if (admitting) admit_waiting(s);
        pthread_mutex_lock(&s->lock);
        if (admitting && slow == NULL) wait_ms(s, TICK_MS);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the server ---- */

static void take_connection(void *self, int fd, bool own_peer, bool trusted) {
    rpc_server *s = self;
    grpc_server_credentials *plain = grpc_insecure_server_credentials_create();
    grpc_server_add_channel_from_fd(s->servers[own_peer || trusted ? TRUSTED : STRICT], fd, plain);
    grpc_server_credentials_release(plain);
}

static grpc_arg integer(const char *key, uint64_t value) {
    grpc_arg a = {.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key};
    a.value.integer = value > INT32_MAX ? INT32_MAX : (int)value;
    return a;
}

static grpc_server *make_server(rpc_server *s) {
    const rpc_config *c = &s->config;
    grpc_arg args[] = {
        {.type = GRPC_ARG_POINTER,
         .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
         .value.pointer = {.p = s->quota, .vtable = grpc_resource_quota_arg_vtable()}},
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, c->max_message),
        integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, c->max_message),
        integer(GRPC_ARG_MAX_CONCURRENT_STREAMS, c->max_streams),
        integer(GRPC_ARG_MAX_METADATA_SIZE, 16384),
        integer(GRPC_ARG_MAX_CONNECTION_IDLE_MS, c->idle_timeout_ms),
        integer(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10000),
        integer(GRPC_ARG_KEEPALIVE_TIME_MS, 60000),
        integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000),
        integer(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        integer(GRPC_ARG_ENABLE_CHANNELZ, 0),
        integer(GRPC_ARG_ALLOW_REUSEPORT, 0),
    };
    const grpc_channel_args list = {sizeof args / sizeof args[0], args};
    grpc_server *server = grpc_server_create(&list, NULL);
    if (server != NULL) grpc_server_register_completion_queue(server, s->queue, NULL);
    return server;
}

/* What gRPC calls an error is one connection's trouble. */
static void take_line(gpr_log_func_args *line) {
    static const log_level levels[] = {
        [GPR_LOG_SEVERITY_DEBUG] = LOG_TRACE,
        [GPR_LOG_SEVERITY_INFO] = LOG_DEBUG,
        [GPR_LOG_SEVERITY_ERROR] = LOG_WARN,
    };
    log_line(levels[line->severity], NULL, "gRPC: %s", line->message);
}

void rpc_take_log(void) {
    gpr_set_log_function(take_line);
}

cuzk_status rpc_server_new(const rpc_config *config, rpc_server **out, cuzk_error *err) {
    rpc_server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for the server");
    s->config = *config;
    s->tokens = config->tokens;
    if (s->config.threads > 64) s->config.threads = 64;
    ring_init(&s->admitting);
    ring_init(&s->receiving);
    ring_init(&s->waiting);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    rpc_take_log();
    grpc_init();
    s->queue = grpc_completion_queue_create_for_next(NULL);
    s->quota = grpc_resource_quota_create("cuzk");
    grpc_resource_quota_resize(s->quota, (size_t)config->receive_memory);
    for (unsigned i = 0; i < N_POLICIES; i++)
        s->servers[i] = make_server(s);
    const cuzk_status status =
        acceptor_new(config->max_connections, take_connection, s, &s->acceptor, err);
    if (status != CUZK_OK) {
        rpc_server_close(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

cuzk_status rpc_server_listen(rpc_server *s, int fd, bool trusted, cuzk_error *err) {
    return acceptor_listen(s->acceptor, fd, trusted, err);
}

cuzk_status rpc_server_listen_tls(rpc_server *s, const char *address, const char *key,
                                  const char *chain, const char *client_ca, cuzk_error *err) {
    grpc_ssl_pem_key_cert_pair pair = {key, chain};
    grpc_server_credentials *tls = grpc_ssl_server_credentials_create_ex(
        client_ca, &pair, 1, GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, NULL);
    const int port = tls == NULL ? 0 : grpc_server_add_http2_port(s->servers[STRICT], address, tls);
    if (tls != NULL) grpc_server_credentials_release(tls);
    if (port > 0) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_IO,
                     "cannot listen with TLS at %s (address in use, or bad "
                     "key or certificate)",
                     address);
}

cuzk_status rpc_server_start(rpc_server *s, cuzk_error *err) {
    bool ok = true;
    for (unsigned i = 0; i < N_POLICIES; i++)
        grpc_server_start(s->servers[i]);
    s->started = true;
    for (unsigned i = 0; i < N_POLICIES * ARMED; i++)
        arm(s, i % N_POLICIES);
    for (unsigned i = 0; ok && i < s->config.threads; i++) {
        ok = pthread_create(&s->threads[i], NULL, thread_main, s) == 0;
        if (ok) s->n_threads++;
    }
    if (ok) ok = s->ticker_started = pthread_create(&s->ticker, NULL, ticker_main, s) == 0;
    if (!ok) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "cannot start the server's threads");
    return acceptor_start(s->acceptor, err);
}

void rpc_server_set_tokens(rpc_server *s, const token_list *tokens) {
    pthread_mutex_lock(&s->lock);
    s->tokens = tokens;
    pthread_mutex_unlock(&s->lock);
}

unsigned rpc_server_connections(rpc_server *s) {
    return acceptor_connections(s->acceptor);
}

/* End everything that waits; the lock is held, and let go in between. */
static void end_waiting(rpc_server *s) {
    for (;;) {
        rpc_call *call = s->admitting.next->call;
        const bool queued = call != NULL;
        if (queued) {
            ring_take(call);
            call->phase = CALL_OVER;
        } else {
            call = s->waiting.next->call;
            if (call == NULL) return;
            (void)claim_wait(call);
        }
        pthread_mutex_unlock(&s->lock);
        if (!queued) call->wait.gone(call, call->wait.arg);
        rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "the daemon is stopping");
        pthread_mutex_lock(&s->lock);
    }
}

static void shut_down(rpc_server *s) {
    for (unsigned i = 0; i < N_POLICIES; i++)
        grpc_server_shutdown_and_notify(s->servers[i], s->queue, &s->op_shutdown[i]);
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    end_waiting(s);
    const uint64_t kind_until = now_ms() + 1000;
    while (s->n_calls > 0 || s->n_shut < N_POLICIES) {
        wait_ms(s, 100);
        if (now_ms() < kind_until) continue;
        pthread_mutex_unlock(&s->lock);
        for (unsigned i = 0; i < N_POLICIES; i++)
            grpc_server_cancel_all_calls(s->servers[i]);
        pthread_mutex_lock(&s->lock);
        end_waiting(s);
    }
    s->stop_ticker = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void rpc_server_close(rpc_server *s) {
    if (s == NULL) return;
    if (s->acceptor != NULL) acceptor_stop(s->acceptor);
    if (s->started && s->n_threads > 0) shut_down(s);
    if (s->ticker_started) pthread_join(s->ticker, NULL);
    grpc_completion_queue_shutdown(s->queue);
    for (unsigned i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    for (unsigned i = 0; i < N_POLICIES; i++)
        if (s->servers[i] != NULL) grpc_server_destroy(s->servers[i]);
    grpc_completion_queue_destroy(s->queue);
    grpc_resource_quota_unref(s->quota);
    acceptor_free(s->acceptor);
    grpc_shutdown();
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
