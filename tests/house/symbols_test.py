"""Only lp/base/scheduler uses clocks, threads, condition variables, sleeping and poll timeouts.

Usage: symbols_test.py FOLDER ARCHIVE...; of FOLDER every object is read, for what headers bring into users' programs.
"""

import pathlib
import re
import subprocess
import sys
import unittest

SCHEDULER = ("liblp_base.a", "scheduler.cc.o")

FORBIDDEN = re.compile(r"""^(
    clock_gettime | clock | time | gettimeofday | timespec_get | ftime | std::chrono::.*::now\(\) |
    pthread_create | pthread_(timed|try|clock)?join(_np)? | pthread_detach | pthread_cond_\w+ | pthread_barrier_\w+ |
    pthread_(mutex|rwlock)_(timed|clock)\w+ | pthread_rwlock_(timed|clock)\w+ | pthread_yield | sched_yield |
    thrd_\w+ | cnd_\w+ | std::thread::(?!hardware_concurrency).* | std::condition_variable(_any)?::.* |
    sem_\w+ |
    nanosleep | clock_nanosleep | sleep | usleep | pause | std::this_thread::__sleep_for.* |
    alarm | setitimer | timer_\w+ | timerfd_\w+ |
    p?poll | __p?poll_chk | epoll_\w+ | p?select | sigtimedwait | mq_timed\w+ | recvmmsg | semtimedop |
    zmq_poll | zmq_poller_\w+ | zmq_sleep | zmq_threadstart | zmq_timers_\w+ | zmq_stopwatch_\w+ | zmq_proxy\w* |
    syscall | io_uring_\w+ | std::__atomic_futex.* | std::random_device::.*
)$""", re.VERBOSE)

LINE = re.compile(r"^((?P<archive>[^:]+):)?(?P<object>[^:]+): +U (?P<symbol>.*)$")


def forbidden_symbols(nm_output):
    """(archive, object, symbol) for each reference to a symbol that only the scheduler may use."""
    found = []
    for line in nm_output.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        symbol = match["symbol"].split("@")[0]
        if FORBIDDEN.match(symbol):
            found.append(((match["archive"] or "").rsplit("/", 1)[-1], match["object"], symbol))
    return found


def references(files):
    output = subprocess.run(["nm", "-A", "-C", "--undefined-only", *files],
                            check=True, capture_output=True, text=True).stdout
    return forbidden_symbols(output)


class Symbols(unittest.TestCase):
    files = []

    def test_only_the_scheduler_knows_time_and_threads(self):
        wrong = [f"{archive} {obj}: {symbol}".strip() for archive, obj, symbol in references(self.files)
                 if (archive, obj) != SCHEDULER]
        self.assertEqual([], wrong, "use Event, Thread, Pool, Timers, Poller or now() of lp/base/scheduler.h")

    def test_the_scheduler_itself_is_seen(self):
        seen = {symbol for archive, obj, symbol in references(self.files) if (archive, obj) == SCHEDULER}
        self.assertIn("epoll_wait", seen)
        self.assertIn("std::chrono::_V2::steady_clock::now()", seen)

    def test_code_for_some_processors_shares_no_name_with_other_code(self):
        # The linker takes one of two functions of the same name, for all processors.
        output = subprocess.run(["nm", "-A", "-C", "--defined-only", *self.files],
                                check=True, capture_output=True, text=True).stdout
        own = [match[1] for match in re.finditer(r"products_avx2\.cc\.o:\S* [A-Zu] (.*)", output)]
        self.assertTrue(any(symbol.startswith("lp::avx2::multiply(") for symbol in own), own)
        self.assertEqual([], [symbol for symbol in own if not re.search("avx2|EigenAvx2|^DW.ref", symbol)])

    def test_what_is_forbidden_is_found(self):
        for symbol in ["clock_gettime", "clock_gettime@GLIBC_2.17", "std::chrono::_V2::system_clock::now()", "poll", "ppoll",
                       "std::condition_variable::wait(std::unique_lock<std::mutex>&)", "std::thread::join()", "zmq_poll",
                       "pthread_cond_clockwait", "pthread_create", "usleep", "syscall", "select", "epoll_wait"]:
            with self.subTest(symbol):
                self.assertEqual(1, len(forbidden_symbols(f"/b/liblp_rpc.a:socket.cc.o:                 U {symbol}")))
                self.assertEqual(1, len(forbidden_symbols(f"/b/examples/hello.cc.o:                 U {symbol}")))
        for symbol in ["pthread_mutex_lock", "zmq_msg_send", "lp::now()", "lp::Poller::wait(std::span<int>)", "strftime"]:
            with self.subTest(symbol):
                self.assertEqual([], forbidden_symbols(f"/b/liblp_rpc.a:socket.cc.o:                 U {symbol}"))


if __name__ == "__main__":
    folder, *archives = sys.argv[1:]
    Symbols.files = archives + sorted(pathlib.Path(folder).rglob("*.o"))
    unittest.main(argv=sys.argv[:1])
