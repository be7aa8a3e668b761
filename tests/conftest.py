"""What holds for all Python tests."""

import signal

# What a shell starts in the background ignores SIGINT, and so would every program that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same with what nohup starts, and SIGHUP.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
