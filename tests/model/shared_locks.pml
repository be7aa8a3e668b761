/* The locks of shared arrays (src/dsm/locks, consistency, history, notice_log), for every interleaving of a small job
   whose hosts meet at barriers and pass locks on. README.md says how to run it, and what it leaves out.

   The comment at a step names the function of the source that it stands for. Each switch (-D) makes one mistake, which
   the model has to find. */

#ifndef ACCESSES
#define ACCESSES 2 /* of all hosts together: fetches of pages to read them, and writes */
#endif
#ifndef ACQUIRES
#define ACQUIRES 2 /* of all hosts together */
#endif
#ifndef BARRIERS
#define BARRIERS 1 /* the last one ends the program */
#endif
#ifndef EVICTIONS
#define EVICTIONS 0
#endif
#ifndef CHANGES
#define CHANGES 0 /* of a word at its home, by all hosts together (changed_words.pml) */
#endif
#ifndef CAPACITY
#define CAPACITY 4 /* of a manager's log */
#endif

#ifndef HOSTS
#define HOSTS 3
#endif
#define MOST_HOSTS 3
#if HOSTS > 2
#define MESSAGES 2 /* under way from one host to another */
#else
#define MESSAGES 6
#endif
#define MANAGERS 2 /* lock 0 is managed by host 0, lock 1 by host 1, which are also the homes of pages 0 and 1 */
#define PAGES 2
#define BYTES 2 /* of a page; of page 1 the first one is used */
#define NOBODY 3
#define WRITERS 4 /* of notices: the hosts, and host 0 for others */
#define HOST_0_FOR_OTHERS 3

#define home_of(page) (page)
#define manager_of(lock) (lock)
#define at(host, page) ((host) * PAGES + (page))
#define in(host, page, number) (at(host, page) * BYTES + (number))
#define cell(page, number) ((page) * BYTES + (number))
#define mask(which) (1 << (which))
#define ALL_CELLS 7

/* Variables of single steps; they are no part of a state. */
hidden byte i, j, kept, each, told, complete, news_count, announced;
hidden byte news[4];
hidden byte saved;

/* ---- what the program may do, and what it must see ---- */

/* A host knows a byte if the last write to it comes before what the host does now, by barriers and locks: then it may
   read and write it. So the program has no data races. */
byte knows[MOST_HOSTS];
byte lock_knows[MANAGERS]; /* what the one that released it last knew */
byte change_knows[MOST_HOSTS];  /* what the host that wants a change knew, and what it knows by the change */
bit truth[PAGES * BYTES];
byte inside[MANAGERS]; /* hosts that have the lock, as far as they know */
byte accesses = ACCESSES;
byte acquires = ACQUIRES;
byte evictions = EVICTIONS;

/* The byte gets its other value. Nobody knows that, until synchronizing with the host that did it. */
inline nobody_knows(which) {
    truth[which] = 1 - truth[which];
    for (i : 0 .. MOST_HOSTS - 1) {
        knows[i] = knows[i] & ~mask(which);
        change_knows[i] = change_knows[i] & ~mask(which)
    }
    lock_knows[0] = lock_knows[0] & ~mask(which);
    lock_knows[1] = lock_knows[1] & ~mask(which)
}

/* ---- Pages, one for each host ---- */

#define ABSENT 0
#define CLEAN 1
#define WRITTEN 2
#define OPEN 3
byte state[MOST_HOSTS * PAGES];
bit frame[MOST_HOSTS * PAGES * BYTES];
bit twin[MOST_HOSTS * PAGES * BYTES];
byte evicted[MOST_HOSTS];     /* evicted_: a bit for each page */
byte announced_before[MOST_HOSTS]; /* told_ */
bool fetched[PAGES];

/* ---- LockArea ---- */

byte holder[MANAGERS] = NOBODY;
byte first[MANAGERS] = NOBODY, second[MANAGERS] = NOBODY; /* the queue */
byte asked_from[MOST_HOSTS]; /* Link::position */
bool granted[MOST_HOSTS];
byte arrival[MOST_HOSTS * 4], arrival_count[MOST_HOSTS], arrival_end[MOST_HOSTS]; /* Locks::Arrival */
bool arrival_complete[MOST_HOSTS];
bool wants_change[MOST_HOSTS]; /* Locks::Wanted */

/* ---- Courier: messages from each host to each of the first two, in order ---- */

#define FETCH 1
#define DIFFERENCES 2 /* page, changed bytes, values */
#define ASK 3         /* position, epoch */
#define RELEASE 4     /* number of notices, epoch, notices */
#define CHANGE 5      /* position and number of notices, epoch, notices */
#define to(source, host) ((source) * MANAGERS + (host))
chan inbox[MOST_HOSTS * MANAGERS] = [MESSAGES] of { byte, byte, byte, byte, byte, byte, byte };
bool here[MOST_HOSTS];
byte under_way[MOST_HOSTS];

/* What a host's thread waits for. */
#define COMPUTE 0
#define AWAIT_PAGE 1
#define AWAIT_LOCK 2
#define AWAIT_HOMES 3
#define computes (step == COMPUTE)

#ifdef NO_WAIT_FOR_HOMES
#define HAS_ARRIVED true
#else
#define HAS_ARRIVED (under_way[me] == 0)
#endif

/* Courier::answers_differences: two hosts do not wait for the homes. What one of them sends, a lock or its arrival at a
   barrier, reaches the other one behind its differences. */
#if HOSTS > 2
#define ANSWERS 1
#define reached_by(host) true
#else
#define ANSWERS 0
#ifdef OUT_OF_ORDER
#define reached_by(host) true
#else
#define reached_by(host) empty(inbox[to(host, me)])
#endif
#endif

/* ---- the exchange of notices at a barrier ---- */

byte notices[MOST_HOSTS], others[MOST_HOSTS], entered = 0, barriers = 0;
bool any_notices;

#include "notice_log.pml"

/* ---- LockArea ---- */

/* LockArea::tell: the manager's log gets news. */
inline tell(manager, of_epoch) {
    renew(manager, of_epoch);
    if
    :: of_epoch < epoch[manager]
    :: else ->
       kept = 0;
       do
       :: kept < news_count ->
          told = news[kept];
          if
          :: number_of(told) > seen[manager * WRITERS + writer_of(told)] ->
             seen[manager * WRITERS + writer_of(told)] = number_of(told);
             saved = kept; /* make_room uses the variables */
             append(manager, told);
             kept = saved
          :: else
          fi;
          kept++
       :: else -> break
       od
    fi
}

/* Locks::answer_for */
inline answer(host, lock, of_epoch) {
    renew(manager_of(lock), of_epoch);
    since(manager_of(lock), asked_from[host]);
    arrival_count[host] = news_count;
    for (i : 0 .. 3) {
        if
        :: i < news_count -> arrival[(host) * 4 + i] = news[i]
        :: else
        fi
    }
    arrival_end[host] = end_of[manager_of(lock)];
    arrival_complete[host] = complete;
    granted[host] = true
}

inline answer_with_page(host, lock, of_epoch) {
    answer(host, lock, of_epoch)
#ifdef PAGES_COME
    ;
    add_page(host, lock)
#endif
}

/* Of news, for a message. */
inline clear_rest() {
    for (i : 0 .. 3) {
        if
        :: i >= news_count -> news[i] = 0
        :: else
        fi
    }
}

#include "changed_words.pml"
#include "pages_with_locks.pml"

/* LockArea::pass and Locks::grant */
inline pass(lock, of_epoch) {
    holder[lock] = NOBODY;
#ifndef QUEUE_FORGOTTEN
    do
    :: first[lock] != NOBODY ->
       saved = first[lock];
       first[lock] = second[lock];
       second[lock] = NOBODY;
       if
       :: wants_change[saved] -> make_change(saved)
       :: else ->
#ifndef FREE_WHEN_PASSED
          holder[lock] = saved;
#endif
          if
          :: saved == manager_of(lock) -> granted[saved] = true
          :: else -> answer_with_page(saved, lock, of_epoch)
          fi;
          break
       fi
    :: else -> break
    od
#endif
}

/* LockArea::take_or_queue */
inline take_or_queue(host, lock) {
    if
    :: holder[lock] == NOBODY -> holder[lock] = host
    :: holder[lock] != NOBODY && first[lock] == NOBODY -> first[lock] = host
    :: else -> assert(second[lock] == NOBODY); second[lock] = host
    fi
}

/* ---- Courier::receive and Locks::receive, in the thread that receives ---- */

inline apply_differences() {
    if
    :: b & 1 -> frame[in(me, a, 0)] = c & 1
    :: else
    fi;
    if
    :: b & 2 -> frame[in(me, a, 1)] = c >> 1
    :: else
    fi;
    under_way[source] = under_way[source] - ANSWERS
}

/* Pages::protect_open, mark_fetched. Of a page that was open the home's next release says nothing then. (Where a page
   stays open, because of its mark or another thread, is checked in shared_pages.pml.) */
inline mark_lent(page) {
#ifndef ONLY_MARKED
    if
    :: state[at(page, page)] == OPEN && !fetched[page] -> state[at(page, page)] = CLEAN
    :: else
    fi;
#endif
    fetched[page] = true
}

inline lend() {
    mark_lent(a);
    frame[in(source, a, 0)] = frame[in(me, a, 0)];
    frame[in(source, a, 1)] = frame[in(me, a, 1)];
    here[source] = true
}

inline receive(from) {
    d_step {
        inbox[to(from, me)] ? kind, a, b, c, d, e, f -> source = from;
        if
        :: kind == FETCH -> lend()
        :: kind == DIFFERENCES -> apply_differences()
        :: kind == ASK ->
           asked_from[source] = a;
#ifdef PAGE_AS_ASKED
           copy_page(source, me);
#endif
           take_or_queue(source, me);
           if
           :: holder[me] == source -> answer_with_page(source, me, b)
           :: else
           fi
        :: kind == RELEASE ->
           assert(holder[me] == source);
           news_count = a;
           news[0] = c;
           news[1] = d;
           news[2] = e;
           news[3] = f;
           tell(me, b);
           pass(me, b)
#if CHANGES > 0
        :: kind == CHANGE -> asked_to_change()
#endif
        fi;
        kind = 0;
        a = 0;
        b = 0;
        c = 0;
        d = 0;
        e = 0;
        f = 0;
        source = 0
    }
}

proctype Receiver(byte me; byte one; byte other) {
    byte kind, source, a, b, c, d, e, f;
end:
    do
    :: receive(one)
    :: receive(other)
    od
}

/* ---- one thread of the program at each host ---- */

/* What this host may read now has what was written last. */
inline check(page, number) {
    assert(state[at(me, page)] == ABSENT || !(knows[me] & mask(cell(page, number))) ||
           frame[in(me, page, number)] == truth[cell(page, number)])
}

inline check_copies() {
    check(0, 0);
    check(0, 1);
    check(1, 0)
}

/* Pages::send_difference; the page is announced if it has changed. */
inline send_difference(page) {
    changed = (frame[in(me, page, 0)] != twin[in(me, page, 0)] -> 1 : 0) |
              (frame[in(me, page, 1)] != twin[in(me, page, 1)] -> 2 : 0);
    twin[in(me, page, 0)] = 0;
    twin[in(me, page, 1)] = 0;
    if
    :: changed != 0 ->
       own = own | mask(page);
       under_way[me] = under_way[me] + ANSWERS;
       inbox[to(me, home_of(page))] ! DIFFERENCES, page, changed,
           frame[in(me, page, 0)] | frame[in(me, page, 1)] << 1, 0, 0, 0
    :: else
    fi;
    changed = 0
}

inline drop(page) {
    state[at(me, page)] = ABSENT;
    frame[in(me, page, 0)] = 0;
    frame[in(me, page, 1)] = 0
}

/* Pages::invalidate and Pages::invalidate_written */
inline invalidate(page) {
    if
    :: home_of(page) == me
    :: home_of(page) != me && state[at(me, page)] == CLEAN -> drop(page)
    :: home_of(page) != me && state[at(me, page)] == WRITTEN ->
#ifndef DROP_WITHOUT_DIFFERENCE
       announced = own;
       send_difference(page);
#ifdef DROP_WITHOUT_NOTICE
       own = announced;
#endif
#endif
       twin[in(me, page, 0)] = 0;
       twin[in(me, page, 1)] = 0;
       drop(page)
    :: else
    fi
}

inline invalidate_all() {
    invalidate(0);
    invalidate(1)
}

/* Consistency::apply of news; its last line is publish_own(). */
inline learn_all() {
#ifndef LOSS_UNNOTICED
    if
    :: !complete ->
       invalidate_all();
#ifndef LOSS_NOT_TOLD
       announce(EVERYTHING)
#endif
    :: else
    fi;
#else
    complete = true;
#endif
    kept = 0;
    do
    :: kept < news_count ->
       told = news[kept];
       if
       :: number_of(told) > seen[history_of(me) * WRITERS + writer_of(told)] ->
          seen[history_of(me) * WRITERS + writer_of(told)] = number_of(told);
          saved = kept;
          append(history_of(me), told);
          kept = saved;
          if
          :: complete && page_of(told) == EVERYTHING -> invalidate_all()
          :: complete && page_of(told) == 0 -> invalidate(0)
          :: complete && page_of(told) == 1 -> invalidate(1)
          :: else
          fi
       :: else
       fi;
       kept++
    :: else -> break
    od
}

/* The changes of this host are at their homes: its notices go into its history. */
inline publish_own() {
    announced_before[me] = announced_before[me] | own;
    if
    :: own & 1 -> announce(0)
    :: else
    fi;
    if
    :: own & 2 -> announce(1)
    :: else
    fi;
    own = 0
}

/* Pages::release_to, without waiting for the homes. At a lock others may still have copies of the home's page; but a
   copy from before the notice is dropped by it, and one that is fetched later marks the page. */
inline release_home(at_barrier) {
    if
    :: me < PAGES && state[at(me, me)] == OPEN && fetched[me] ->
       state[at(me, me)] = CLEAN;
#ifndef FETCHED_WITHOUT_NOTICE
       own = own | mask(me)
#endif
    :: me < PAGES && state[at(me, me)] == WRITTEN ->
       own = own | mask(me);
       state[at(me, me)] = (at_barrier || !fetched[me] -> OPEN : CLEAN);
       fetched[me] = false
    :: else
    fi
}

inline release_written(page) {
    if
    :: home_of(page) != me && state[at(me, page)] == WRITTEN -> state[at(me, page)] = CLEAN; send_difference(page)
    :: else
    fi
}

inline release_pages(at_barrier) {
    release_home(at_barrier);
    release_written(0);
    release_written(1);
#ifndef EVICT_WITHOUT_NOTICE
    own = own | evicted[me];
#endif
    evicted[me] = 0
}

/* -- accesses -- */

inline read(number_of_page) {
    d_step {
        accesses > 0 && state[at(me, number_of_page)] == ABSENT -> accesses--;
        page = number_of_page;
        step = AWAIT_PAGE;
        inbox[to(me, home_of(page))] ! FETCH, page, 0, 0, 0, 0, 0
    }
}

#define may_write(page, number) (accesses > 0 && (knows[me] & mask(cell(page, number))) && is_no_race(page, number))

inline store() {
    nobody_knows(cell(page, number));
    knows[me] = knows[me] | mask(cell(page, number));
#if CHANGES > 0
    if
    :: cell(page, number) == WORD -> word_is_locked = holds == 0
    :: else
    fi;
#endif
    if
    :: state[at(me, page)] == CLEAN ->
       if
       :: home_of(page) == me
       :: else ->
          twin[in(me, page, 0)] = frame[in(me, page, 0)];
          twin[in(me, page, 1)] = frame[in(me, page, 1)]
       fi;
       state[at(me, page)] = WRITTEN
    :: else
    fi;
    frame[in(me, page, number)] = truth[cell(page, number)];
    page = 0;
    number = 0
}

/* Of a page that is here; a write to another one is a fetch and then this. */
inline write(number_of_page, number_of_byte) {
    d_step {
        may_write(number_of_page, number_of_byte) && state[at(me, number_of_page)] != ABSENT -> accesses--;
        page = number_of_page;
        number = number_of_byte;
        store()
    }
}

inline await_page() {
    d_step {
        step == AWAIT_PAGE && here[me] -> here[me] = false;
        step = COMPUTE;
        state[at(me, page)] = CLEAN;
        page = 0;
        check_copies()
    }
}

/* Pages::evict; it happens inside a fault, and that thread waits. */
inline evict(number_of_page) {
    d_step {
        evictions > 0 && home_of(number_of_page) != me && state[at(me, number_of_page)] == WRITTEN -> evictions--;
        announced = own;
        own = 0;
        send_difference(number_of_page);
        evicted[me] = evicted[me] | own;
        own = announced;
        drop(number_of_page)
    }
    under_way[me] == 0
}

/* -- locks -- */

/* Locks::read_log, or the end of Locks::ask */
inline take_news() {
    granted[me] = false;
    if
    :: manager_of(lock) == me ->
#ifdef LOG_BEFORE_LOCK
       news_count = 0;
       complete = true;
#else
       renew(lock, epoch[history_of(me)]);
       since(lock, has_read[me * MANAGERS + lock]);
       has_read[me * MANAGERS + lock] = end_of[lock]
#endif
    :: else ->
       news_count = arrival_count[me];
       complete = arrival_complete[me];
       for (i : 0 .. 3) { news[i] = arrival[me * 4 + i]; arrival[me * 4 + i] = 0 }
       has_read[me * MANAGERS + lock] = arrival_end[me];
       arrival_count[me] = 0;
       arrival_end[me] = 0;
       arrival_complete[me] = false
    fi;
    learn_all()
#ifdef PAGES_COME
    ;
    store_page(lock)
#endif
}

inline read_news() {
    take_news();
    holds = lock;
    lock = 0;
    if
    :: under_way[me] == 0 -> enter_section()
    :: else -> step = AWAIT_HOMES
    fi
}

/* The changes of dropped pages are at their homes. */
inline enter_section() {
    publish_own();
    inside[holds]++;
    assert(inside[holds] == 1);
    knows[me] = knows[me] | lock_knows[holds];
    check_copies();
    step = COMPUTE
}

/* Locks::acquire; a manager on another host is asked by a message. */
inline ask(which) {
    d_step {
        acquires > 0 && holds == NOBODY -> acquires--;
        lock = which;
        step = AWAIT_LOCK;
        if
        :: manager_of(lock) == me ->
#ifdef LOG_BEFORE_LOCK
           since(lock, has_read[me * MANAGERS + lock]);
           has_read[me * MANAGERS + lock] = end_of[lock];
           learn_all();
#endif
           take_or_queue(me, lock);
           if
           :: holder[lock] == me -> read_news()
           :: else
           fi
        :: else -> inbox[to(me, manager_of(lock))] ! ASK, has_read[me * MANAGERS + lock], epoch[history_of(me)], 0, 0, 0, 0
        fi
    }
    if
    :: step == AWAIT_LOCK -> d_step { granted[me] && reached_by(manager_of(lock)) -> read_news() }
    :: else
    fi;
    if
    :: step == AWAIT_HOMES -> d_step { under_way[me] == 0 -> enter_section() }
    :: else
    fi
}

inline pass_on() {
    publish_own();
    news_for(lock);
    if
    :: manager_of(lock) == me -> tell(lock, epoch[history_of(me)]); pass(lock, 0)
    :: else ->
       clear_rest();
       inbox[to(me, manager_of(lock))] ! RELEASE, news_count, epoch[history_of(me)], news[0], news[1], news[2], news[3]
    fi;
    lock = 0;
    step = COMPUTE
}

/* Locks::release */
inline release() {
    d_step {
        holds != NOBODY -> lock = holds;
        holds = NOBODY;
        inside[lock]--;
        lock_knows[lock] = knows[me];
        release_pages(false);
        if
        :: HAS_ARRIVED -> pass_on()
        :: else -> step = AWAIT_HOMES
        fi
    }
    if
    :: step == AWAIT_HOMES -> d_step { HAS_ARRIVED -> pass_on() }
    :: else
    fi
}

/* -- barriers -- */

inline exchange() {
    others[0] = notices[1] | notices[2];
    others[1] = notices[0] | notices[2];
    others[2] = notices[0] | notices[1];
    any_notices = notices[0] | notices[1] | notices[2];
    notices[0] = 0;
    notices[1] = 0;
    notices[2] = 0;
    entered = 0;
    knows[0] = ALL_CELLS;
    knows[1] = ALL_CELLS;
    knows[2] = ALL_CELLS;
    lock_knows[0] = ALL_CELLS; /* nobody has a lock */
    lock_knows[1] = ALL_CELLS;
    barriers++
}

inline enter() {
#ifndef NOTICES_ONCE
    own = own | announced_before[me];
#endif
    announced_before[me] = 0;
    notices[me] = own;
    own = 0;
    step = COMPUTE;
    entered++;
    if
    :: entered == HOSTS -> exchange()
    :: else
    fi
}

inline barrier() {
    d_step {
        release_pages(true);
        passed = barriers;
        if
        :: HAS_ARRIVED -> enter()
        :: else -> step = AWAIT_HOMES
        fi
    }
    if
    :: step == AWAIT_HOMES -> d_step { HAS_ARRIVED -> enter() }
    :: else
    fi;
    d_step { /* Consistency::acquire_from_all */
        barriers != passed && reached_by(1 - me) -> passed = 0;
        if
        :: others[me] & 1 -> invalidate(0)
        :: else
        fi;
        if
        :: others[me] & 2 -> invalidate(1)
        :: else
        fi;
        others[me] = 0;
        if
        :: any_notices -> renew(history_of(me), epoch[history_of(me)] + 1)
        :: else
        fi;
        check_copies()
    }
}

proctype Host(byte me) {
    byte page = 0, number = 0, changed = 0, own = 0, lock = 0, holds = NOBODY, passed = 0, step = COMPUTE;
    do
    :: computes && barriers < BARRIERS -> /* spin looks at no other guard of a host that waits */
       if
       :: read(0)
       :: read(1)
       :: write(0, 0)
       :: write(0, 1)
       :: write(1, 0)
       :: ask(0)
       :: ask(1)
       :: release()
#if CHANGES > 0
       :: change_word()
       :: change_own_word()
#endif
#if EVICTIONS > 0
       :: evict(0)
       :: evict(1)
#endif
       :: holds == NOBODY -> barrier()
       fi
    :: await_page()
    :: computes && barriers == BARRIERS -> break
    od
}

init {
    atomic {
        knows[0] = ALL_CELLS;
        knows[1] = ALL_CELLS;
        knows[2] = ALL_CELLS;
        lock_knows[0] = ALL_CELLS;
        lock_knows[1] = ALL_CELLS;
        state[at(0, 0)] = CLEAN; /* so that no accesses are spent on the first fetches */
        state[at(1, 0)] = CLEAN;
        state[at(2, 0)] = CLEAN;
        state[at(1, 1)] = OPEN;
        state[at(0, 1)] = CLEAN;
        fetched[0] = true;
        fetched[1] = true;
        run Receiver(0, 1, 2);
        run Receiver(1, 0, 2);
        run Host(0);
        run Host(1);
#if HOSTS > 2
        run Host(2)
#endif
    }
}
