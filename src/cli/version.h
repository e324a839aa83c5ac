#ifndef CUZK_CLI_VERSION_H
#define CUZK_CLI_VERSION_H
#ifndef CUZK_VERSION /* given by the build from project(VERSION) */
#define CUZK_VERSION "unknown"
#endif
#endif
