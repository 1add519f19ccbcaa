// What keeps the namespaces of a pod: the first program of each, which only waits.

#include <unistd.h>

int main() {
  for (;;) pause();
}
