"""Settings for all Python tests."""

import signal

# Programs that a shell starts in the background ignore SIGINT, and so would every program that a test starts and
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same for SIGHUP and programs that nohup starts.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
