/* A word that its home changes for others while they would have had a lock (src/dsm/word_changes), for
   shared_locks.pml: the first byte of page 0, under lock 0, both of host 0. Programs have no data races: a change need not
   be ordered with other changes, nor with what a host does to the word while it has the lock. */

#if CHANGES == 0
#define make_change(host) skip
#define is_no_race(page, number) true
#else

#define WORD 0 /* cell(0, 0) */
byte changes = CHANGES;
byte wanted = 0;            /* changes that hosts wait for */
bool word_is_locked = true; /* it was last written by a change, or by a host that had the lock */

#define is_no_race(page, number) (cell(page, number) != WORD || holds == 0 || wanted == 0)

/* ---- the home ---- */

inline write_word() {
    assert(frame[in(0, 0, 0)] == truth[WORD]); /* nothing is lost that was written before */
    nobody_knows(WORD);
    word_is_locked = true;
    frame[in(0, 0, 0)] = truth[WORD]
}

/* LockArea::tell_changed, in the log of lock 0, which is the first one. */
inline tell_changed() {
    seen[HOST_0_FOR_OTHERS]++;
    append(0, TOLD(HOST_0_FOR_OTHERS, 0, seen[HOST_0_FOR_OTHERS]))
}

/* Locks::change */
inline make_change(host) {
    assert(inside[0] == 0);
    write_word();
    lock_knows[0] = lock_knows[0] | change_knows[host] | mask(WORD);
    change_knows[host] = lock_knows[0];
    wants_change[host] = false;
#ifndef CHANGE_UNTOLD
    tell_changed();
#endif
    answer(host, 0, 0)
}

/* Locks::asked_to_change */
inline asked_to_change() {
    asked_from[source] = a & 31;
    news_count = a >> 5;
    news[0] = c;
    news[1] = d;
    news[2] = e;
    news[3] = f;
    tell(me, b);
    wants_change[source] = true;
    if
#ifdef CHANGE_AT_ONCE
    :: true -> make_change(source)
#endif
    :: holder[0] == NOBODY -> make_change(source)
    :: else -> take_or_queue(source, 0)
    fi
}

/* ---- the host that wants a change: Locks::change_word ---- */

#define may_change (changes > 0 && (word_is_locked || (knows[me] & mask(WORD))))

inline send_change() {
    publish_own();
    news_for(0);
    clear_rest();
    assert(has_read[me * MANAGERS] < 32);
    inbox[to(me, 0)] ! CHANGE, news_count << 5 | has_read[me * MANAGERS], epoch[history_of(me)], news[0], news[1], news[2], news[3];
    step = AWAIT_LOCK
}

inline take_answer() {
#ifdef OWN_CHANGE_UNTOLD
    arrival_count[me] = 0;
#endif
    lock = 0;
    take_news();
#ifndef NOT_AT_BARRIER
    announced_before[me] = announced_before[me] | mask(0); /* Pages::announce_at_barrier */
#endif
    if
    :: under_way[me] == 0 -> go_on()
    :: else -> step = AWAIT_HOMES
    fi
}

inline go_on() {
    publish_own();
    knows[me] = knows[me] | change_knows[me];
    change_knows[me] = 0;
    check_copies();
    step = COMPUTE
}

inline change_word() {
    d_step {
        me != 0 && holds == NOBODY && may_change -> changes--;
        wanted++;
        change_knows[me] = knows[me];
#ifndef NO_RELEASE_BEFORE
        release_pages(false);
#endif
        if
        :: HAS_ARRIVED -> send_change()
        :: else -> step = AWAIT_HOMES
        fi
    }
    if
    :: step == AWAIT_HOMES -> d_step { HAS_ARRIVED -> send_change() }
    :: else
    fi;
    d_step { granted[me] && reached_by(0) -> wanted--; take_answer() }
    if
    :: step == AWAIT_HOMES -> d_step { under_way[me] == 0 -> go_on() }
    :: else
    fi
}

/* Locks::change_own_word, by a host that has acquired the lock, and releases it next. */
inline change_own_word() {
    d_step {
        me == 0 && holds == 0 && may_change -> changes--;
        assert(knows[me] & mask(WORD)); /* by the lock */
        write_word();
        knows[me] = knows[me] | mask(WORD);
#ifndef OWN_CHANGE_OF_HOME_UNTOLD
        tell_changed();
#endif
        announced_before[me] = announced_before[me] | mask(0)
    }
}

#endif
