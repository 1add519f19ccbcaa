#pragma once
// Includes <sys/pidfd.h> with C linkage, which the C library of Debian 12 (glibc 2.36) forgot to declare.

extern "C" {
#include <sys/pidfd.h>
}
