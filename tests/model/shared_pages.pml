/* The protocol of shared arrays with a copy of each page at each host (src/dsm), for every interleaving of a small job
   that meets at barriers. README.md says how to run it, and what it leaves out.

   The comment at a step names the function of the source that it stands for. What no other thread can see is joined
   with the step before it. Each switch (-D) makes one mistake, which the model has to find. */

#ifndef INTERVALS
#define INTERVALS 3 /* each ends with a barrier */
#endif
#ifndef ACCESSES
#define ACCESSES 2 /* of all hosts together, in any of these intervals */
#endif

#define HOSTS 3
#define PAGES 2
#define BYTES 2 /* of a page: neighbours that may have different writers; of page 1 the first one is used */

/* Homes::of: host 2 is the home of no page. */
#define home_of(page) (page)
#define is_home (page == me)
#define at(host, page) ((host) * PAGES + (page))
#define in(host, page, number) (at(host, page) * BYTES + (number))
#define cell(page, number) ((page) * BYTES + (number))
#define mask(page) (1 << (page))

/* ---- what the program may do, and what it must see ---- */

/* The program has no data races: in an interval a byte has one writer, and what others read there is ignored. */
#define NOBODY 0
#define WRITER(host) (1 + (host))
byte writer[PAGES * BYTES];
bit truth[PAGES * BYTES]; /* the value that the last write gave to the byte */

/* ---- Pages, one for each host ---- */

#define ABSENT 0
#define CLEAN 1
#define WRITTEN 2
#define OPEN 3
byte state[HOSTS * PAGES];
bit frame[HOSTS * PAGES * BYTES];
bit twin[HOSTS * PAGES * BYTES];
byte written[HOSTS]; /* written_: a bit for each page */

/* The home's part of the layout: one mark for each page, one word for all of them. */
bool fetched[PAGES];
bool news[HOSTS];

/* A store of the home to its open page becomes visible to others later, at the latest at a fence: of one byte, for the
   others would only multiply the states. */
#define DELAYS (page == 0 && number == 0)
bool delayed[PAGES * BYTES];
bit stored[PAGES * BYTES];

#ifdef UPDATE
/* The protocol `update` (docs/decisions/shared-updates.md). A host may drop copies without telling the home: as at a
   lock, or for want of room. */
#ifndef DROPS
#define DROPS 1 /* of all hosts together */
#endif
bool holds[HOSTS * PAGES]; /* at the home: the host has a copy, as far as the home knows */
bool sent[PAGES];          /* at the home: all holders have at least what the twin has */
chan updates[HOSTS] = [6] of { byte, byte, bit, bit, byte }; /* UpdateBox: page, bytes, values, interval */
byte announced = 0; /* what anybody has announced in this interval */
byte drops = DROPS;
#endif

/* ---- Courier ---- */

#define FETCH 1
#define DIFFERENCES 2
#define DROPPED 3
chan inbox[PAGES] = [2 * HOSTS] of { byte, byte, byte, bit, bit }; /* of each home: kind, source, changed bytes, values */
bool here[HOSTS];      /* Fetch::here */
byte under_way[HOSTS]; /* under_way_ */

/* ---- the exchange of notices, an all-gather ---- */

byte notices[HOSTS]; /* of this interval, a bit for each page */
byte others[HOSTS];  /* what the exchange gave to each host: the notices of the other ones */
byte entered = 0;
byte interval = 0;
byte left = ACCESSES;

/* ---- the home serves ---- */

/* Pages::apply: exactly the bytes that differ. */
inline apply() {
    if
    :: changed & 1 -> frame[in(home_of(page), page, 0)] = first
    :: else
    fi;
    if
    :: changed & 2 -> frame[in(home_of(page), page, 1)] = second
    :: else
    fi
#ifndef NO_ANSWER
    ; under_way[source]-- /* Kind::applied */
#endif
}

/* Network::post of the home, Pages::take of the host that waits. */
inline send_page() {
    frame[in(source, page, 0)] = frame[in(home_of(page), page, 0)];
    frame[in(source, page, 1)] = frame[in(home_of(page), page, 1)];
    here[source] = true
}

#ifdef PROTECTED_THOUGH_MARKED
#define may_protect true
#else
#define may_protect !fetched[page]
#endif

/* Pages::protect_open: what the home's thread has stored so far is visible to all when its page is protected. */
inline protect_open() {
#ifndef PROTECTED_TOO_EARLY
    if
    :: delayed[cell(page, 0)] ->
       frame[in(page, page, 0)] = stored[cell(page, 0)];
       delayed[cell(page, 0)] = false;
       stored[cell(page, 0)] = 0
    :: else
    fi;
#endif
    state[at(page, page)] = CLEAN
}

/* Courier::receive, in the thread of the home that receives: one that waits, or the agent. A page is read in one step,
   and differences are applied in one: in which order the bytes of a page move matters to programs with data races only.
   Pages::lend, mark_fetched: first the mark, then the news, then the fence, and then the page is read. */
proctype Receiver(byte page; chan requests) {
    byte kind, source, changed;
    bit first, second;
    xr requests;
end:
    do
    :: d_step {
           requests ? kind, source, changed, first, second;
           if
           :: kind == DIFFERENCES -> apply(); source = 0
#ifdef UPDATE
           :: kind == DROPPED -> holds[at(source, page)] = false; source = 0
#endif
           :: else
           fi;
           changed = 0;
           first = 0;
           second = 0
       }
#ifndef UPDATE
       if
       :: d_step { kind == FETCH && state[at(page, page)] == OPEN && may_protect -> protect_open() }
       :: true /* another thread has locked the page, or the host that fetches is a rank of the home's host */
       fi;
#endif
       if
       :: kind == FETCH ->
          d_step {
#if defined(MARK_AFTER_COPY)
              send_page()
#elif defined(NEWS_BEFORE_MARK)
              news[home_of(page)] = true
#else
#if defined(UPDATE) && !defined(NO_NOTE_OF_HOLDER)
              holds[at(source, page)] = true;
#endif
              fetched[page] = true
#endif
          }
#if defined(MARK_AFTER_COPY)
          fetched[page] = true;
          d_step { news[home_of(page)] = true; source = 0 }
#elif defined(NEWS_BEFORE_MARK)
          fetched[page] = true;
          d_step { send_page(); source = 0 }
#else
          news[home_of(page)] = true;
          d_step { send_page(); source = 0 }
#endif
       :: else
       fi;
       kind = 0
    od
}

/* ---- one thread of the program at each host ---- */

/* Pages::fault of a write: Pages::make_twin, Pages::note_written */
inline note_written() {
    if
    :: state[at(me, page)] == CLEAN ->
       if
       :: is_home
       :: else ->
          twin[in(me, page, 0)] = frame[in(me, page, 0)];
          twin[in(me, page, 1)] = frame[in(me, page, 1)]
       fi;
       written[me] = written[me] | mask(page);
       state[at(me, page)] = WRITTEN
    :: else
    fi
}

/* The program reads a byte that no other host writes in this interval. */
inline look(number) {
    if
    :: writer[cell(page, number)] != NOBODY && writer[cell(page, number)] != WRITER(me)
    :: else ->
       if
       :: is_home && delayed[cell(page, number)] -> assert(stored[cell(page, number)] == truth[cell(page, number)])
       :: else -> assert(frame[in(me, page, number)] == truth[cell(page, number)])
       fi
    fi
}

/* The program writes a new value. */
inline store() {
    truth[cell(page, number)] = 1 - truth[cell(page, number)];
    if
    :: is_home && DELAYS -> delayed[cell(page, number)] = true; stored[cell(page, number)] = truth[cell(page, number)]
    :: else -> frame[in(me, page, number)] = truth[cell(page, number)]
    fi
}

#define is_delayed(number) (me < PAGES && delayed[cell(me, number)])

/* A delayed store becomes visible. */
inline drain(number) {
    frame[in(me, me, number)] = stored[cell(me, number)];
    delayed[cell(me, number)] = false;
    stored[cell(me, number)] = 0
}

inline fence() {
    if
    :: is_delayed(0) -> drain(0)
    :: else
    fi
}

#define announce(page) notices[me] = notices[me] | mask(page)

/* Pages::protect_fetched: the first two hosts are the homes of one page each. */
inline protect_fetched() {
    if
    :: me < PAGES && fetched[me] && state[at(me, me)] == OPEN ->
       state[at(me, me)] = CLEAN
#ifndef NO_NOTICE_OF_HOME
       ; announce(me)
#endif
    :: else
    fi
}

/* Pages::release_own */
inline open_again(page) {
#ifdef UPDATE
    state[at(me, page)] = CLEAN;
#else
    if
    :: fetched[page] -> state[at(me, page)] = CLEAN
    :: else -> state[at(me, page)] = OPEN
    fi;
    fetched[page] = false;
#endif
    announce(page)
}

/* Pages::release_written of another page, Pages::send_difference */
inline send_difference(page) {
    state[at(me, page)] = CLEAN;
    changed = (frame[in(me, page, 0)] != twin[in(me, page, 0)] -> 1 : 0) |
              (frame[in(me, page, 1)] != twin[in(me, page, 1)] -> 2 : 0);
    twin[in(me, page, 0)] = 0;
    twin[in(me, page, 1)] = 0;
    if
    :: changed != 0 ->
#ifdef WORD_DIFFERENCES
       changed = 3;
#endif
       announce(page);
       under_way[me]++;
       inbox[page] ! DIFFERENCES, me, changed, frame[in(me, page, 0)], frame[in(me, page, 1)];
       changed = 0
    :: else
    fi
}

inline release_written(page) {
    if
    :: written[me] & mask(page) ->
       written[me] = written[me] & ~mask(page);
       if
       :: home_of(page) == me -> open_again(page)
       :: else -> send_difference(page)
       fi
    :: else
    fi
}

/* Pages::invalidate */
inline invalidate(page) {
    if
    :: (others[me] & mask(page)) && home_of(page) != me && state[at(me, page)] == CLEAN ->
       state[at(me, page)] = ABSENT;
       frame[in(me, page, 0)] = 0;
       frame[in(me, page, 1)] = 0
    :: else
    fi
}

/* After a barrier no copy has an old byte, unless its writer has written it anew since. */
inline expect_no_old_byte(page, number) {
    assert(state[at(me, page)] == ABSENT || writer[cell(page, number)] != NOBODY ||
           frame[in(me, page, number)] == truth[cell(page, number)])
}

#ifdef UPDATE

#define held (holds[at(0, me)] || holds[at(1, me)] || holds[at(2, me)])

#define is_left_out(host) (holds[at(host, me)] && !(others[host] & mask(me)))
#define gets_update(host) (holds[at(host, me)] && (others[host] & mask(me)))

/* Pages::contents_for_holders: what has changed since all holders got the page, or all of it. */
inline choose_contents() {
    whole = state[at(me, me)] == OPEN || fetched[me] || !sent[me];
#ifdef SENT_TO_FETCHERS
    sent[me] = true;
#else
    sent[me] = state[at(me, me)] != OPEN && !fetched[me];
#endif
    if
    :: state[at(me, me)] != OPEN -> fetched[me] = false
    :: else
    fi;
    changed = (whole || frame[in(me, me, 0)] != twin[in(me, me, 0)] -> 1 : 0) |
              (whole || frame[in(me, me, 1)] != twin[in(me, me, 1)] -> 2 : 0);
    twin[in(me, me, 0)] = frame[in(me, me, 0)];
    twin[in(me, me, 1)] = frame[in(me, me, 1)];
    whole = false
}

/* Pages::send_update of the home's page to a host */
inline send_update_to(host) {
    if
    :: gets_update(host) -> updates[host] ! me, changed, frame[in(me, me, 0)], frame[in(me, me, 1)], my_interval
    :: else
    fi
}

inline send_update() {
    if
    :: gets_update(0) || gets_update(1) || gets_update(2) ->
       choose_contents();
       send_update_to(0);
       send_update_to(1);
       send_update_to(2);
       changed = 0;
       sent[me] = sent[me] && !(is_left_out(0) || is_left_out(1) || is_left_out(2))
    :: else -> sent[me] = false
    fi
}

/* Pages::send_updates: what this host sends, and what it waits for. */
inline send_updates() {
    if
    :: me < PAGES && (announced & mask(me)) ->
       send_update();
       opens = !held && state[at(me, me)] == CLEAN
    :: else
    fi;
    expected = (home_of(0) != me && state[at(me, 0)] == CLEAN -> others[me] & mask(0) : 0) |
               (home_of(1) != me && state[at(me, 1)] == CLEAN -> others[me] & mask(1) : 0)
}

/* Pages::store */
inline store_update() {
    updates[me] ? page, changed, first, second, number;
    if
#ifdef ANY_BARRIER
    :: state[at(me, page)] == CLEAN ->
#else
    :: (expected & mask(page)) && number == my_interval ->
#endif
       if
       :: changed & 1 -> frame[in(me, page, 0)] = first
       :: else
       fi;
       if
       :: changed & 2 -> frame[in(me, page, 1)] = second
       :: else
       fi;
       expected = expected & ~mask(page)
    :: else ->
       if
       :: state[at(me, page)] == ABSENT -> inbox[page] ! DROPPED, me, 0, 0, 0
       :: else
       fi
    fi;
    page = 0;
    number = 0;
    changed = 0;
    first = 0;
    second = 0
}

/* Pages::send_updates, Pages::open_again, Pages::await_updates. What comes after this host has what it waits for stays
   in the box. */
inline update() {
    d_step { interval != my_interval; send_updates() }
    if
    :: opens ->
       d_step { state[at(me, me)] = OPEN; fetched[me] = false; opens = false }
#ifndef OPEN_WITHOUT_LOOK
       d_step {
           if
           :: held -> fetched[me] = true; news[me] = true
           :: else
           fi
       }
#endif
    :: else
    fi;
    do
    :: d_step { nempty(updates[me]) -> store_update() }
    :: expected == 0 -> break
    od;
    skip
}

/* A host loses a copy, and tells nobody. */
inline drop(number_of_page) {
    d_step {
        !waits && drops > 0 && home_of(number_of_page) != me && state[at(me, number_of_page)] == CLEAN -> drops--;
        state[at(me, number_of_page)] = ABSENT;
        frame[in(me, number_of_page, 0)] = 0;
        frame[in(me, number_of_page, 1)] = 0
    }
}
#endif

inline exchange() {
#ifdef UPDATE
    announced = notices[0] | notices[1] | notices[2];
#endif
    others[0] = notices[1] | notices[2];
    others[1] = notices[0] | notices[2];
    others[2] = notices[0] | notices[1];
    notices[0] = 0;
    notices[1] = 0;
    notices[2] = 0;
    writer[0] = NOBODY;
    writer[1] = NOBODY;
    writer[2] = NOBODY;
    entered = 0;
    interval++
}

/* The steps of a barrier. */
#define PROTECT 0
#define RELEASE 1
#define AWAIT 2
#define LEAVE 3

#ifdef NO_ACKNOWLEDGEMENT
#define HAS_ARRIVED true
#else
#define HAS_ARRIVED (under_way[me] == 0)
#endif

/* SharedMemory::exchange: where the last host enters, every host gets the notices of the others. */
inline enter() {
    my_interval = interval;
    entered++;
    if
    :: entered == HOSTS -> exchange()
    :: else
    fi
}

/* The rest of Pages::release, and Courier::await_differences. A host that need not wait enters the exchange at once. */
inline release_and_enter() {
    release_written(0);
    release_written(1);
#ifdef NO_FENCE_AT_HOME
    fence();
#endif
    if
    :: HAS_ARRIVED -> enter(); step = LEAVE
    :: else -> step = AWAIT
    fi
}

/* SharedMemory::barrier. Only the home's look at its news, its look at the marks and its reset of them can be seen by
   others one by one. */
inline barrier() {
    d_step { /* Pages::release */
#ifndef NO_FENCE_AT_HOME
        fence();
#endif
        if
        :: news[me] -> news[me] = false; step = PROTECT
        :: !news[me] && me < PAGES && (written[me] & mask(me)) -> step = RELEASE
#ifdef NO_FENCE_AT_HOME
        :: else -> step = RELEASE
#else
        :: else -> release_and_enter()
#endif
        fi
    }
    if
    :: step == PROTECT -> d_step { protect_fetched(); step = RELEASE }
    :: else
    fi;
    if
    :: step == RELEASE -> d_step { release_and_enter() }
    :: else
    fi;
    if
    :: step == AWAIT -> d_step { HAS_ARRIVED -> enter(); step = LEAVE }
    :: else
    fi;
#ifdef UPDATE
    update();
#endif
    d_step {
        interval != my_interval;
        my_interval = 0;
        step = 0;
#ifndef UPDATE
        invalidate(0);
        invalidate(1);
        others[me] = 0;
#endif
        expect_no_old_byte(0, 0);
        expect_no_old_byte(0, 1);
        expect_no_old_byte(1, 0)
    }
}

#define free(which) (writer[which] == NOBODY || writer[which] == WRITER(me))

#define may_write(page, number) (!waits && left > 0 && free(cell(page, number)))

/* An access: claims the byte, and makes it at once, or after the fetch of its page (Pages::fault of an absent page,
   Pages::fetch, Courier::fetch). */
inline read(number_of_page) {
    d_step {
        !waits && left > 0 -> left--;
        page = number_of_page;
        begin()
    }
}

inline write(number_of_page, number_of_byte) {
    d_step {
        may_write(number_of_page, number_of_byte) -> left--;
        writer[cell(number_of_page, number_of_byte)] = WRITER(me);
        writes = true;
        page = number_of_page;
        number = number_of_byte;
        begin()
    }
}

inline begin() {
    waits = state[at(me, page)] == ABSENT;
    if
    :: waits -> inbox[page] ! FETCH, me, 0, 0, 0
    :: else -> finish()
    fi
}

inline finish() {
    if
    :: writes -> note_written(); store()
    :: else -> look(0); look(1)
    fi;
    writes = false;
    page = 0;
    number = 0
}

inline compute() {
    do
    :: read(0)
    :: read(1)
    :: write(0, 0)
    :: write(0, 1)
    :: write(1, 0)
    :: waits -> d_step { here[me] -> here[me] = false; waits = false; state[at(me, page)] = CLEAN; finish() }
    :: d_step { is_delayed(0) -> drain(0) }
#ifdef UPDATE
    :: drop(0)
    :: drop(1)
#endif
    :: !waits -> break
    od
}

proctype Host(byte me) {
    byte page = 0, number = 0, changed = 0, my_interval = 0, step = 0;
    bool waits = false, writes = false;
#ifdef UPDATE
    byte expected = 0;
    bool opens = false, whole = false;
    bit first = 0, second = 0;
#endif
    do
    :: interval < INTERVALS ->
       compute();
       barrier()
    :: else -> break
    od
}

init {
    atomic {
#ifdef UPDATE
        state[at(0, 0)] = CLEAN; /* somebody had a copy of it */
#else
        state[at(0, 0)] = OPEN;
#endif
        state[at(1, 1)] = OPEN;
        run Receiver(0, inbox[0]);
        run Receiver(1, inbox[1]);
        run Host(0);
        run Host(1);
        run Host(2)
    }
}
