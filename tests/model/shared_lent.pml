/* Pages that never fault at their home, which lends them and compares (src/dsm/lent_pages, Pages::review_lent), for every
   interleaving of a small job that meets at barriers and uses locks. README.md says how to run it, and what it leaves
   out.

   The comment at a step names the function of the source that it stands for. What no other thread can see is joined
   with the step before it. Each switch (-D) makes one mistake, which the model has to find. */

#ifndef ACCESSES
#define ACCESSES 3 /* of all hosts together */
#endif
#ifndef RELEASES
#define RELEASES 1 /* of locks, by all hosts together */
#endif
#ifndef EVICTIONS
#define EVICTIONS 0 /* of pages that were written, by all hosts together */
#endif
#ifndef INTERVALS
#define INTERVALS 2 /* each ends with a barrier */
#endif

#define HOSTS 3
#define HOME 0
#define is_home (me == HOME)
#define BYTES 2 /* of the page: neighbours that may have different writers */
#define in(host, number) ((host) * BYTES + (number))
#define mask(which) (1 << (which))

hidden byte changed; /* a variable of single steps; it is no part of a state */

/* ---- what the program may do, and what it must see: as in shared_locks.pml ---- */

/* A host knows the last write to a byte if that comes before, by locks and barriers in any order: then it may read and
   write it. Which lock it is does not matter: a host that has released one gives all that it knows to anybody who acquires. */
#define ALL_BYTES 3
byte knows[HOSTS] = ALL_BYTES;
byte lock_knows = ALL_BYTES;
bit truth[BYTES];
byte accesses = ACCESSES, releases = RELEASES, evictions = EVICTIONS;

/* ---- Pages: one page at each host ---- */

#define ABSENT 0
#define CLEAN 1
#define WRITTEN 2
byte state[HOSTS]; /* that of the home does not matter */
bit frame[HOSTS * BYTES], twin[HOSTS * BYTES];
bool evicted[HOSTS];
bool unread[HOSTS]; /* there is a notice at a lock that this host has not read */
byte told;          /* a bit for each host that has announced the page since the last barrier */

/* A store of the home to the first byte becomes visible to others later, at the latest at a fence. */
bool delayed;
bit stored;

/* ---- the home's part of the layout ---- */

#define MARK 1
#define WITHOUT_PLACE 2
byte fetched;
bool news;

/* LentPages, with one place */
bool busy; /* busy_, where it is held for more than a step */
bool used;
bool overwritten;
bit kept[BYTES];

/* ---- the exchange of notices and changes ---- */

byte entered = 0, interval = 0;
byte others[HOSTS]; /* what the exchange gave to each host: who of the others has announced the page */
bool announced[HOSTS];
byte change;        /* a bit for each byte that the home has told */
bit value[BYTES];
byte coming;        /* the same, of the barrier that begins */
bit coming_value[BYTES];

/* ---- stores and fences ---- */

inline drain() {
    frame[in(HOME, 0)] = stored;
    delayed = false;
    stored = 0
}

inline fence() {
    if
    :: is_home && delayed -> drain()
    :: else
    fi
}

inline copy_page(to, from) {
    frame[in(to, 0)] = frame[in(from, 0)];
    frame[in(to, 1)] = frame[in(from, 1)]
}

/* ---- fetching ---- */

/* Pages::mark_fetched, Pages::copy_lent, LentPages::lend, by the thread that fetches or by one of the home for it.
   Where the page has no place yet, there may be none for it. */
inline fetch() {
    d_step { fetched = fetched | MARK }
    d_step { news = true }
    do
    :: d_step {
           used && !busy ->
#ifdef LEND_THE_KEPT_ONLY
           frame[in(me, 0)] = kept[0];
           frame[in(me, 1)] = kept[1]
#else
           frame[in(me, 0)] = (overwritten -> frame[in(HOME, 0)] : kept[0]);
           frame[in(me, 1)] = (overwritten -> frame[in(HOME, 1)] : kept[1])
#endif
       }
       break
    :: d_step {
           !used && !busy ->
           busy = true;
#ifdef USED_AFTER_COPY
           kept[0] = frame[in(HOME, 0)];
           kept[1] = frame[in(HOME, 1)];
           copy_page(me, HOME)
#else
           used = true
#endif
       }
       d_step {
#ifdef USED_AFTER_COPY
           used = true;
#else
           kept[0] = frame[in(HOME, 0)];
           kept[1] = frame[in(HOME, 1)];
           copy_page(me, HOME);
#endif
           busy = false
       }
       break
    :: d_step {
           !used && !busy ->
#ifndef NO_MARK_WITHOUT_PLACE
           fetched = fetched | MARK | WITHOUT_PLACE
#endif
       }
       d_step { news = true }
       d_step { copy_page(me, HOME) }
       break
    od;
    skip
}

/* ---- bringing changes to the home ---- */

/* LentPages::overwrite */
inline overwrite() {
    d_step {
        !used || !busy ->
        if
        :: used -> overwritten = true
        :: else
        fi
    }
}

inline copy_byte(number) {
    if
    :: bring & mask(number) -> d_step { frame[in(HOME, number)] = frame[in(me, number)] }
    :: else
    fi
}

/* Pages::send_difference, Pages::apply: byte by byte, while the home compares and others fetch. */
inline send_difference() {
    d_step {
        bring = (frame[in(me, 0)] != twin[in(me, 0)] -> 1 : 0) | (frame[in(me, 1)] != twin[in(me, 1)] -> 2 : 0);
        twin[in(me, 0)] = 0;
        twin[in(me, 1)] = 0
    }
    if
    :: bring != 0 ->
#if defined(MARK_BEFORE) || defined(MARK_BEFORE_ONLY)
       overwrite();
#endif
       copy_byte(0);
       copy_byte(1);
#if !defined(NO_MARK) && !defined(MARK_BEFORE_ONLY)
       overwrite();
#endif
       skip
    :: else
    fi
}

/* ---- releasing ---- */

/* Pages::announce; told_ repeats at the barrier what was announced at locks. */
inline announce() {
    announces = true
}

/* LentPages::compare, Pages::review_lent, LentPages::settle. A page may be forgotten though nothing has changed, and a
   change may be too long. */
inline compare() {
    changed = (frame[in(HOME, 0)] != kept[0] -> 1 : 0) | (frame[in(HOME, 1)] != kept[1] -> 2 : 0)
}

inline forget() {
    announce();
    used = false;
    overwritten = false;
    kept[0] = 0;
    kept[1] = 0
}

inline keep() {
    coming = changed;
    coming_value[0] = (changed & 1 -> frame[in(HOME, 0)] : 0);
    coming_value[1] = (changed & 2 -> frame[in(HOME, 1)] : 0);
    kept[0] = frame[in(HOME, 0)];
    kept[1] = frame[in(HOME, 1)]
}

inline review(at_barrier) {
    do
    :: d_step { !used -> skip } break
    :: d_step { used && !busy -> forget() } break
#ifdef NO_LOOK_AT_MARK
    :: d_step {
           used && !busy ->
#else
    :: d_step {
           used && !busy && !overwritten ->
#endif
           compare();
           if
           :: at_barrier || changed == 0 -> keep()
           :: else -> forget()
           fi;
           changed = 0
       }
       break
    od;
    skip
}

/* Pages::release_to of the home, with Pages::protect_fetched */
inline release_home(at_barrier) {
#ifndef NO_FENCE_AT_HOME
    d_step { fence() }
#endif
    if
    :: d_step { news -> news = false }
       d_step { marks = fetched; fetched = 0 }
       d_step { /* LentPages::has */
           !busy || marks == 0 ->
           if
           :: marks != 0 && (!used || marks & WITHOUT_PLACE) -> announce()
           :: else
           fi;
           marks = 0
       }
    :: !news -> skip
    fi;
    skip;
    review(at_barrier);
#ifdef NO_FENCE_AT_HOME
    d_step { fence() }
#endif
    skip
}

inline release_copy() {
    if
    :: state[me] == WRITTEN ->
       send_difference();
       d_step {
           state[me] = CLEAN;
           if
           :: bring != 0 -> announce()
           :: else
           fi;
           bring = 0
       }
    :: else
    fi;
    d_step {
        if
        :: evicted[me] -> evicted[me] = false; announce()
        :: else
        fi
    }
}

inline release_pages(at_barrier) {
    if
    :: is_home -> release_home(at_barrier)
    :: else -> release_copy()
    fi
}

/* ---- the program between barriers ---- */

#define may_access(number) (knows[me] & mask(number))
#define is_here (is_home || state[me] != ABSENT)
#define current(number) (is_home && number == 0 && delayed -> stored : frame[in(me, number)])

inline look(number) {
    assert(!may_access(number) || current(number) == truth[number])
}

inline read() {
    d_step { accesses > 0 && state[me] == ABSENT && !is_home -> accesses-- }
    fetch();
    d_step { state[me] = CLEAN; look(0); look(1) }
}

/* What is here is looked at whenever it may be: a step of its own would only multiply the states. */
inline store(number) {
    truth[number] = 1 - truth[number];
    knows[0] = knows[0] & ~mask(number);
    knows[1] = knows[1] & ~mask(number);
    knows[2] = knows[2] & ~mask(number);
    lock_knows = lock_knows & ~mask(number);
    knows[me] = knows[me] | mask(number);
    if
    :: is_home && number == 0 -> delayed = true; stored = truth[0]
    :: else -> frame[in(me, number)] = truth[number]
    fi
}

inline write(number) {
    d_step {
        accesses > 0 && is_here && may_access(number) ->
        accesses--;
        look(0);
        look(1);
        if
        :: !is_home && state[me] == CLEAN -> /* Pages::make_twin */
           twin[in(me, 0)] = frame[in(me, 0)];
           twin[in(me, 1)] = frame[in(me, 1)];
           state[me] = WRITTEN
        :: else
        fi;
        store(number)
    }
}

/* Consistency::publish, History::announce: what everybody learns who acquires after that. */
inline publish() {
    if
    :: announces ->
       told = told | mask(me);
       unread[0] = unread[0] || me != 0;
       unread[1] = unread[1] || me != 1;
       unread[2] = unread[2] || me != 2;
       announces = false
    :: else
    fi
}

inline release_lock() {
    d_step { releases > 0 -> releases-- }
    release_pages(false);
    d_step { publish(); lock_knows = lock_knows | knows[me] }
}

inline drop() {
    state[me] = ABSENT;
    frame[in(me, 0)] = 0;
    frame[in(me, 1)] = 0
}

/* Consistency::apply: Pages::invalidate, Pages::invalidate_written */
inline acquire_lock() {
    d_step { unread[me] || (lock_knows & ~knows[me]) -> knows[me] = knows[me] | lock_knows; learns = unread[me]; unread[me] = false }
    if
    :: learns && !is_home ->
       if
       :: state[me] == WRITTEN ->
          send_difference();
          d_step {
              if
              :: bring != 0 -> announce()
              :: else
              fi;
              bring = 0;
              publish()
          }
       :: else
       fi;
       d_step { drop() }
    :: else
    fi;
    d_step {
        learns = false;
        if
        :: is_here -> look(0); look(1)
        :: else
        fi
    }
}

/* Pages::evict */
inline evict() {
    d_step { evictions > 0 && !is_home && state[me] == WRITTEN -> evictions-- }
    send_difference();
    d_step { evicted[me] = evicted[me] || bring != 0; bring = 0; drop() }
}

inline compute() {
    do
    :: read()
    :: write(0)
    :: write(1)
    :: release_lock()
    :: acquire_lock()
    :: evict()
    :: d_step { is_home && delayed -> drain() }
    :: break
    od;
    skip
}

/* ---- a barrier ---- */

inline exchange() {
    others[0] = told & 6;
    others[1] = told & 5;
    others[2] = told & 3;
    announced[1] = (told & 2) != 0;
    announced[2] = (told & 4) != 0;
    told = 0;
    change = coming;
    value[0] = coming_value[0];
    value[1] = coming_value[1];
    coming = 0;
    coming_value[0] = 0;
    coming_value[1] = 0;
    unread[0] = false;
    unread[1] = false;
    unread[2] = false;
    knows[0] = ALL_BYTES;
    knows[1] = ALL_BYTES;
    knows[2] = ALL_BYTES;
    lock_knows = ALL_BYTES;
    entered = 0;
    interval++
}

inline enter() {
    my_interval = interval;
    told = told | (announces -> mask(me) : 0);
    announces = false;
    entered++;
    if
    :: entered == HOSTS -> exchange()
    :: else
    fi
}

/* Pages::take_change */
inline take_change() {
    if
    :: change & 1 -> frame[in(me, 0)] = value[0]
    :: else
    fi;
    if
    :: change & 2 -> frame[in(me, 1)] = value[1]
    :: else
    fi
}

/* Consistency::acquire_from_all, Consistency::take_changes */
inline acquire_from_all() {
    if
    :: !is_home && state[me] == CLEAN ->
       if
#ifdef ANNOUNCED_TAKES_CHANGES
       :: others[me] != 0 -> drop()
#else
       :: others[me] != 0 || (announced[me] && change != 0) -> drop()
#endif
       :: else -> take_change()
       fi
    :: else
    fi;
    others[me] = 0;
    announced[me] = false
}

/* SharedMemory::barrier. After it, no copy has an old byte, and the home has lost none, unless a host that has left
   before has written it anew. */
inline expect_no_old_byte(number) {
    assert(!may_access(number) || !is_here || current(number) == truth[number])
}

inline barrier() {
    release_pages(true);
    d_step { enter() }
    d_step {
        interval != my_interval;
        my_interval = 0;
        acquire_from_all();
        expect_no_old_byte(0);
        expect_no_old_byte(1)
    }
}

proctype Host(byte me) {
    byte bring = 0, marks = 0, my_interval = 0;
    bool announces = false, learns = false;
    do
    :: interval < INTERVALS ->
       compute();
       barrier()
    :: else -> break
    od
}

init {
    atomic {
        run Host(0);
        run Host(1);
        run Host(2)
    }
}
