/* The daemon's log: one line an event on standard error, for people or as JSON. */
#ifndef CUZK_SERVER_LOG_H
#define CUZK_SERVER_LOG_H

typedef enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE } log_level;
typedef enum log_format { LOG_HUMAN, LOG_JSON } log_format;

/* Before the first line: INFO, for people. May be called again at any time. */
void log_configure(log_level level, log_format format);
/* job_id: NULL when the line is about no job. Control characters are escaped. */
void log_line(log_level level, const char *job_id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
