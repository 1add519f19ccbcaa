#pragma once
// <sys/pidfd.h>, whose functions the C library of Debian 12 (glibc 2.36) forgot to declare as those of C.

extern "C" {
#include <sys/pidfd.h>
}
