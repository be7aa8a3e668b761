/* Homes of shared pages that a touch decides, and that move (src/dsm/page_moves, homes.hpp), for every interleaving of a
   small job whose hosts meet at barriers and pass a lock on. README.md says how to run it, and what it leaves out.

   The comment at a step names the function of the source that it stands for. Each switch (-D) makes one mistake, which
   the model has to find. */

#ifndef ACCESSES
#define ACCESSES 3 /* of all hosts together */
#endif
#ifndef ACQUIRES
#define ACQUIRES 2 /* of all hosts together */
#endif
#ifndef BARRIERS
#define BARRIERS 2 /* the last one ends the program */
#endif
#ifndef SERVED
#define SERVED 0 /* releases by a further thread of a host, which others have asked for, of all hosts together */
#endif
#ifndef REOPENED
#define REOPENED 0 /* barriers after which the next touch decides again */
#endif
#ifndef EARLY
#define EARLY 0 /* requests for the page ahead of a barrier, of all hosts together; then its first home is known */
#endif
#ifndef AHEAD
#define AHEAD 0 /* requests for the page ahead of an access, of all hosts together; then its first home is known */
#endif

#define HOSTS 3
#define STAND_IN 1 /* the home until a touch decides: a lower and a higher host are beside it */
#define NOBODY 3
#define BYTES 2 /* of the page: neighbours that may have different writers */
#define in(host, number) ((host) * BYTES + (number))
#define mask(which) (1 << (which))
#define ALL_BYTES 3

hidden byte changed, other; /* variables of single steps; they are no part of a state */
hidden byte own_first, own_second;

/* ---- what the program may do, and what it must see: as in shared_locks.pml ---- */

byte knows[HOSTS], lock_knows;
bit truth[BYTES];
byte accesses = ACCESSES, acquires = ACQUIRES, served = SERVED, reopened = REOPENED;

/* ---- Pages: one page at each host ---- */

#define UNTOUCHED 0
#define TOUCHED 1 /* its twin is zeros */
#define ABSENT 2
#define CLEAN 3
#define WRITTEN 4
#define OPEN 5
#define REQUESTED 6
byte state[HOSTS];
bit frame[HOSTS * BYTES], twin[HOSTS * BYTES];
bool tracked[HOSTS];
bool has_data[HOSTS]; /* the frame is no hole in the memory's file */
bool brought[HOSTS];  /* others have changed it */
bool noted[HOSTS];    /* for the next release: the host has written, or touched */
bool fetched[HOSTS];  /* the page's mark */
bool news[HOSTS];     /* the mark of its block, and the word for all: taken by each release */
bool touched[HOSTS], told[HOSTS];
byte home[HOSTS] = STAND_IN;
bool is_open[HOSTS] = true;

/* ---- notices at a lock: each host counts its own, and knows how many of the others it has got ---- */

byte number[HOSTS * HOSTS], lock_number[HOSTS];
#define got(host, writer) number[(host) * HOSTS + (writer)]
byte holder = NOBODY;

/* ---- a barrier ---- */

#define TOUCHED_HERE 1
#define TOUCHED_ONCE 2
#define WANTED 3
byte changes, request[HOSTS]; /* a bit for each host that has changed the page; what each has asked for */
byte entered, met;
byte barriers, target;        /* what all have decided: the new home; NOBODY: it stays */
bool fetches, collides;
byte exchanged;
bool moves[HOSTS];

/* ---- requests ahead of a barrier, by host and home; 0: none ---- */

#if EARLY > 0
#define pair(host, source) ((host) * HOSTS + (source))
byte early = EARLY;
bool comes[HOSTS];                     /* EarlyFetches: what comes counts */
byte asked[HOSTS * HOSTS];             /* EarlyRequests: ahead of this barrier */
byte answered[HOSTS * HOSTS];          /* UpdateBox: an answer that belongs to this barrier is here, or under way */
bool declined[HOSTS * HOSTS];
bit sent[HOSTS * HOSTS * BYTES];
#define contents(of, number) sent[(of) * BYTES + (number)]
#endif

/* ---- a request ahead of an access ---- */

#if AHEAD > 0
#define ASKED 1
#define ANSWERED 2
#define HERE 3
byte ahead = AHEAD;
byte fetch[HOSTS];            /* of the last request */
bit under_way[HOSTS * BYTES]; /* an answer */
#define is_here (state[me] != REQUESTED || fetch[me] == HERE)
#else
#define is_here true
#endif
#ifdef NO_WAIT
#define may_be_dropped true
#else
#define may_be_dropped is_here
#endif

/* ---- releasing and acquiring ---- */

/* Courier::send_differences, Pages::apply, and the answer: a host does nothing before it has that. */
inline send_difference(zeros) {
    changed = (frame[in(me, 0)] != (zeros -> 0 : twin[in(me, 0)]) -> 1 : 0) |
              (frame[in(me, 1)] != (zeros -> 0 : twin[in(me, 1)]) -> 2 : 0);
    if
    :: changed & 1 -> frame[in(home[me], 0)] = frame[in(me, 0)]
    :: else
    fi;
    if
    :: changed & 2 -> frame[in(home[me], 1)] = frame[in(me, 1)]
    :: else
    fi;
    if
    :: changed != 0 -> has_data[home[me]] = true; brought[home[me]] = true
    :: else
    fi;
    twin[in(me, 0)] = 0;
    twin[in(me, 1)] = 0
}

inline announce(at_barrier) {
    if
    :: at_barrier -> changes = changes | mask(me)
    :: else -> got(me, me)++; told[me] = true
    fi
}

/* Pages::find_touched */
inline find_touched() {
    if
#ifdef STAND_IN_PASSES_OVER
    :: is_open[me] && has_data[me] && state[me] == UNTOUCHED && !brought[me] ->
#else
    :: is_open[me] && has_data[me] && state[me] == UNTOUCHED ->
#endif
       state[me] = TOUCHED;
       noted[me] = true;
       touched[me] = true
    :: else
    fi
}

inline track() {
    if
    :: !tracked[me] -> tracked[me] = true; find_touched()
    :: else
    fi
}

/* Pages::protect_open, mark_fetched: `host` lends the page. */
inline mark(host) {
#ifndef ONLY_MARKED
    if
    :: state[host] == OPEN && !fetched[host] -> state[host] = CLEAN
    :: else
    fi;
#endif
    fetched[host] = true;
    news[host] = true
}

/* Pages::release_to */
inline release_pages(at_barrier) {
    if
    :: !tracked[me] ->
       find_touched();
#ifndef LEAVE_UNTRACKED
       tracked[me] = (has_data[me] && !at_barrier) || fetched[me]
#endif
    :: else
    fi;
    if
    :: home[me] == me && fetched[me] && news[me] && state[me] == OPEN -> state[me] = CLEAN; announce(at_barrier)
    :: home[me] == me && at_barrier && state[me] == WRITTEN ->
       state[me] = OPEN;
       fetched[me] = false;
       announce(at_barrier)
    :: home[me] == me && !at_barrier && noted[me] && (state[me] == WRITTEN || state[me] == TOUCHED) ->
       state[me] = CLEAN;
       announce(at_barrier)
    :: home[me] != me && noted[me] && (state[me] == WRITTEN || (state[me] == TOUCHED && !at_barrier)) ->
       send_difference(state[me] == TOUCHED);
       state[me] = CLEAN;
       if
       :: changed != 0 -> announce(at_barrier)
       :: else
       fi
    :: else
    fi;
    noted[me] = false;
    news[me] = false
}

/* Pages::invalidate */
inline invalidate() {
    track();
    if
    :: home[me] != me && (state[me] == CLEAN || state[me] == UNTOUCHED || state[me] == REQUESTED) -> state[me] = ABSENT
    :: else
    fi
}

/* Pages::invalidate_written */
inline invalidate_written() {
    if
    :: home[me] != me && (state[me] == WRITTEN || state[me] == TOUCHED) ->
       send_difference(state[me] == TOUCHED);
       state[me] = ABSENT;
       if
       :: changed != 0 -> announce(false)
       :: else
       fi
    :: else
    fi
}

/* ---- the program ---- */

inline check_byte(which) {
    assert(state[me] == ABSENT || state[me] == REQUESTED || !(knows[me] & mask(which)) || frame[in(me, which)] == truth[which])
}

inline check() {
    check_byte(0);
    check_byte(1)
}

/* Pages::fault; an untracked page has none. */
inline touch(writes) {
    if
    :: !tracked[me] && state[me] != ABSENT -> has_data[me] = true
    :: else ->
       if
       :: is_open[me] && (state[me] == UNTOUCHED || state[me] == ABSENT || (state[me] == CLEAN && writes)) ->
          touched[me] = true
       :: else
       fi;
       has_data[me] = true;
       if
       :: state[me] == UNTOUCHED -> state[me] = TOUCHED; noted[me] = true
       :: state[me] == REQUESTED -> state[me] = CLEAN
       :: state[me] == ABSENT -> /* Pages::fetch, Pages::lend */
          assert(home[me] != me);
          mark(home[me]);
          frame[in(me, 0)] = frame[in(home[me], 0)];
          frame[in(me, 1)] = frame[in(home[me], 1)];
          state[me] = CLEAN
       :: else
       fi;
       if
       :: state[me] == CLEAN && writes ->
          twin[in(me, 0)] = (home[me] == me -> 0 : frame[in(me, 0)]);
          twin[in(me, 1)] = (home[me] == me -> 0 : frame[in(me, 1)]);
          state[me] = WRITTEN;
          noted[me] = true
       :: else
       fi
    fi
}

inline read() {
    d_step { accesses > 0 && is_here && state[me] != OPEN && state[me] != WRITTEN -> accesses--; touch(false); check() }
}

inline write(which) {
    d_step {
        accesses > 0 && is_here && (knows[me] & mask(which)) -> accesses--;
        touch(true);
        check();
        truth[which] = 1 - truth[which];
        frame[in(me, which)] = truth[which];
        knows[0] = knows[0] & ~mask(which);
        knows[1] = knows[1] & ~mask(which);
        knows[2] = knows[2] & ~mask(which);
        knows[me] = knows[me] | mask(which);
        lock_knows = lock_knows & ~mask(which)
    }
}

/* EarlyFetches::forget */
inline forget_early() {
#if EARLY > 0 && !defined(NO_FORGETTING)
    comes[me] = false
#else
    skip
#endif
}

/* A lock that tells its next owner all that its last one knew: how it does is in shared_locks.pml. */
inline take_in() {
    if
    :: (me != 0 && lock_number[0] > got(me, 0)) || (me != 1 && lock_number[1] > got(me, 1)) ||
           (me != 2 && lock_number[2] > got(me, 2)) ->
       invalidate();
       invalidate_written();
       forget_early()
    :: else
    fi;
    for (other : 0 .. 2) { got(me, other) = (lock_number[other] > got(me, other) -> lock_number[other] : got(me, other)) }
}

/* Ranks::flush: the lock is acquired and released. The program knows nothing of it. */
inline flush() {
    take_in();
    release_pages(false);
    for (other : 0 .. 2) { lock_number[other] = got(me, other) }
    skip
}

inline acquire() {
    d_step {
        acquires > 0 && holder == NOBODY && may_be_dropped -> acquires--;
        holder = me;
        take_in();
        knows[me] = knows[me] | lock_knows;
        check()
    }
}

inline release() {
    d_step {
        holder == me -> release_pages(false);
        for (other : 0 .. 2) { lock_number[other] = got(me, other) }
        lock_knows = knows[me];
        holder = NOBODY
    }
}

/* ---- the steps of a barrier ---- */

#define COMPUTE 0
#define FETCH 1
#define MOVE 2
#define LAST 3
#define AWAIT 4

/* Pages::plan_moves; all hosts decide the same. */
inline plan_for(host) {
    if
    :: request[host] == 0
    :: request[host] == WANTED ->
       if
#ifdef WANTED_BY_SEVERAL
       :: target == NOBODY -> target = host
#else
       :: (changes & ~mask(host)) == 0 && target == NOBODY -> target = host
#endif
       :: else
       fi
    :: else ->
       if
       :: target == NOBODY ->
          target = host;
#ifndef NO_FETCH
          fetches = home[host] != host && ((changes & ~mask(host)) != 0 || request[host] == TOUCHED_ONCE)
#endif
       :: else -> collides = true
       fi
    fi
}

inline exchange() {
    assert(home[0] == home[1] && home[1] == home[2] && is_open[0] == is_open[1] && is_open[1] == is_open[2]);
    target = NOBODY;
    fetches = false;
    collides = false;
    plan_for(0);
    plan_for(1);
    plan_for(2);
    exchanged = changes;
    changes = 0;
    for (other : 0 .. 2) {
        moves[other] = request[other] == TOUCHED_HERE || request[other] == TOUCHED_ONCE;
        request[other] = 0;
        knows[other] = ALL_BYTES
    }
    for (other : 0 .. 8) { number[other] = 0 }
    for (other : 0 .. 2) { lock_number[other] = 0 }
    lock_knows = ALL_BYTES;
    entered = 0;
    barriers++
}

#if EARLY > 0
/* Courier::answer_early, Pages::lend_early: the home sends its page, or declines. */
inline answer_early(to, number_of) {
    asked[pair(to, me)] = 0;
    answered[pair(to, me)] = number_of;
#ifdef LENT_BY_ANYBODY
    declined[pair(to, me)] = late;
#else
    declined[pair(to, me)] = late || home[me] != me || is_open[me];
#endif
    contents(pair(to, me), 0) = (declined[pair(to, me)] -> 0 : frame[in(me, 0)]);
    contents(pair(to, me), 1) = (declined[pair(to, me)] -> 0 : frame[in(me, 1)]);
#ifndef NO_MARK_EARLY
    if
    :: !declined[pair(to, me)] -> mark(me)
    :: else
    fi
#endif
}

/* Those that arrive when the home has left the barrier are declined: Courier::receive_early. */
inline answer_all_early() {
    atomic {
        if
        :: asked[pair(0, me)] == barriers || asked[pair(1, me)] == barriers || asked[pair(2, me)] == barriers ->
           if
           :: late = true
           :: skip
           fi
        :: else
        fi;
        d_step {
            for (other : 0 .. 2) {
                if
                :: asked[pair(other, me)] == barriers -> answer_early(other, barriers)
                :: else
                fi
            }
            late = false
        }
    }
}

/* Pages::request_early: the program may turn out not to need the page, or to have it. */
inline request_early() {
    comes[me] = false;
    if
    :: asks ->
       early--;
       comes[me] = true;
#ifdef ANSWERED_AT_ONCE
       answered[pair(me, home[me])] = barriers + 1;
       declined[pair(me, home[me])] = false;
       contents(pair(me, home[me]), 0) = frame[in(home[me], 0)];
       contents(pair(me, home[me]), 1) = frame[in(home[me], 1)];
       fetched[home[me]] = true;
       news[home[me]] = true
#else
       asked[pair(me, home[me])] = barriers + 1
#endif
    :: else
    fi;
    asks = false
}

#ifdef ANY_BARRIER
#define has_come(source) (answered[pair(me, source)] != 0)
#else
#define has_come(source) (answered[pair(me, source)] == barriers)
#endif

/* Pages::expect, Pages::await_early, Pages::store_early: the interval begins, and does nothing else until the page is here. */
inline begin_interval() {
    d_step {
        comes[me] -> comes[me] = false;
        step = (state[me] == ABSENT && home[me] != me && !is_open[me] -> AWAIT : COMPUTE)
    }
    if
    :: step == AWAIT ->
       d_step {
           has_come(0) || has_come(1) || has_come(2) -> step = COMPUTE;
           source = (has_come(0) -> 0 : (has_come(1) -> 1 : 2));
           answered[pair(me, source)] = 0;
           if
#ifdef LENT_BY_ANYBODY
           :: declined[pair(me, source)] -> touch(false)
#else
           :: declined[pair(me, source)] || source != home[me] -> touch(false)
#endif
           :: else ->
              frame[in(me, 0)] = contents(pair(me, source), 0);
              frame[in(me, 1)] = contents(pair(me, source), 1);
              state[me] = CLEAN
           fi;
           source = 0;
           check()
       }
    :: else
    fi
}
#endif

/* A rank barrier. */
inline meet() {
    d_step { meetings = met / HOSTS; met++ }
    d_step { met / HOSTS != meetings -> meetings = 0 }
}

/* Pages::release_to_all, with Pages::add_requests */
inline enter() {
    if
    :: told[me] -> told[me] = false; changes = changes | mask(me)
    :: else
    fi;
    release_pages(true);
#if AHEAD > 0
    if
    :: state[me] == REQUESTED -> state[me] = CLEAN /* Pages::settle_all: parked, which is a copy like others */
    :: else
    fi;
#endif
    if
    :: touched[me] && is_open[me] ->
       request[me] = (home[me] == me || state[me] != ABSENT -> TOUCHED_HERE : TOUCHED_ONCE)
    :: wants && !is_open[me] && home[me] != me && state[me] == CLEAN && (changes & mask(me)) -> request[me] = WANTED
    :: else
    fi;
    touched[me] = false;
    wants = false;
#if EARLY > 0
    request_early();
#endif
    passed = barriers;
    entered++;
    if
    :: entered == HOSTS -> exchange()
    :: else
    fi
}

/* Pages::fetch_moved */
inline fetch_moved() {
    own_first = frame[in(me, 0)];
    own_second = frame[in(me, 1)];
    frame[in(me, 0)] = frame[in(home[me], 0)];
    frame[in(me, 1)] = frame[in(home[me], 1)];
#ifndef FETCH_OVER_OWN
    if
    :: state[me] == TOUCHED && own_first != 0 -> frame[in(me, 0)] = own_first
    :: else
    fi;
    if
    :: state[me] == TOUCHED && own_second != 0 -> frame[in(me, 1)] = own_second
    :: else
    fi
#endif
}

/* Pages::finish_moves */
inline finish_moves() {
    tracked[me] = true;
    other = home[me];
    home[me] = target;
    is_open[me] = false;
    if
    :: target == me ->
#ifdef MARK_IS_LOST
       fetched[me] = false;
#endif
       state[me] = OPEN;
#ifndef NEWS_ARE_LOST
       news[me] = news[me] || fetched[me]
#endif
    :: else ->
#ifndef LOSER_DROPS
       if
       :: moves[me] && state[me] == TOUCHED -> send_difference(true)
       :: else
       fi;
#endif
       state[me] = ABSENT;
       if
       :: other == me -> fetched[me] = false
       :: else
       fi
    fi;
    brought[me] = false
}

inline barrier() {
    atomic {
        may_be_dropped;
        if
        :: home[me] != me && !is_open[me] && state[me] != ABSENT -> wants = true /* relocation: in any interval */
        :: skip
        fi;
#if EARLY > 0
        if
        :: home[me] != me && early > 0 && barriers + 1 < BARRIERS -> asks = true
        :: skip
        fi;
#endif
#if SERVED > 0 && !defined(NO_FLUSH_BEFORE)
        d_step { holder == NOBODY -> flush(); enter() }
#else
        d_step { enter() }
#endif
    }
    d_step {
        barriers != passed -> passed = 0;
        if
        :: exchanged & ~mask(me) -> invalidate()
        :: else
        fi;
        step = (target != NOBODY && fetches -> FETCH : (target != NOBODY -> MOVE : COMPUTE))
    }
    if
    :: step == FETCH ->
       d_step {
           if
           :: target == me -> fetch_moved()
           :: else
           fi
       }
#ifndef NO_MEETING_BEFORE
       meet();
#endif
       step = MOVE
    :: else
    fi;
    if
    :: step == MOVE -> d_step { finish_moves(); step = (collides -> LAST : COMPUTE) }
    :: else
    fi;
    if
    :: step == LAST ->
#ifndef NO_MEETING_AFTER
       meet();
#endif
       step = COMPUTE
    :: else
    fi;
#if EARLY > 0
    answer_all_early();
#endif
    d_step { check() }
}

#if REOPENED > 0
/* SharedMemory::open_homes: a barrier, Pages::open_homes, a barrier. */
inline reopen() {
    meet();
    d_step {
        if
        :: tracked[me] && !is_open[me] ->
           is_open[me] = true;
           state[me] = (home[me] == me -> CLEAN : ABSENT)
        :: else
        fi
    }
    meet()
}
#endif

#if SERVED > 0
/* ReleaseServer: at any time, also when the host is in a barrier. */
proctype Server(byte me) {
    do
    :: d_step {
        served > 0 && holder == NOBODY -> served--;
        flush()
    }
    :: barriers == BARRIERS -> break
    od
}
#endif

#if AHEAD > 0
/* Pages::leave_requested */
inline request_ahead() {
    d_step {
        ahead > 0 && state[me] == ABSENT && home[me] != me && !is_open[me] && fetch[me] % HERE == 0 -> ahead--;
        state[me] = REQUESTED;
        fetch[me] = ASKED
    }
}

/* The home's agent, and the thread of the host that receives: Courier::answer, Pages::take. */
proctype Agents(byte me) {
    do
    :: d_step {
        fetch[me] == ASKED -> fetch[me] = ANSWERED;
        mark(home[me]);
        under_way[in(me, 0)] = frame[in(home[me], 0)];
        under_way[in(me, 1)] = frame[in(home[me], 1)]
    }
    :: d_step {
        fetch[me] == ANSWERED -> fetch[me] = HERE;
        frame[in(me, 0)] = under_way[in(me, 0)];
        frame[in(me, 1)] = under_way[in(me, 1)]
    }
    :: barriers == BARRIERS && fetch[me] % HERE == 0 -> break
    od
}
#endif

proctype Host(byte me) {
    byte passed = 0, meetings = 0, step = COMPUTE;
    bool wants = false;
#if EARLY > 0
    byte source = 0;
    bool asks = false, late = false;
#endif
    do
    :: barriers < BARRIERS ->
       if
       :: read()
       :: write(0)
       :: write(1)
       :: acquire()
       :: release()
#if EARLY > 0
       :: begin_interval()
#endif
#if AHEAD > 0
       :: request_ahead()
#endif
       :: holder != me -> barrier();
#if REOPENED > 0
          if
          :: barriers == 1 -> reopen()
          :: else
          fi
#endif
       fi
    :: else -> break
    od
}

init {
    atomic {
        lock_knows = ALL_BYTES;
        knows[0] = ALL_BYTES;
        knows[1] = ALL_BYTES;
        knows[2] = ALL_BYTES;
#if EARLY > 0 || AHEAD > 0
        for (other : 0 .. 2) {
            tracked[other] = true;
            is_open[other] = false;
            state[other] = (other == STAND_IN -> OPEN : ABSENT)
        }
#endif
        run Host(0);
        run Host(1);
        run Host(2);
#if AHEAD > 0
        run Agents(0);
        run Agents(1);
        run Agents(2);
#endif
#if SERVED > 0
        run Server(0);
        run Server(1);
        run Server(2)
#endif
    }
}
