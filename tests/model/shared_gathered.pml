/* Updates of a word that a host makes in its own copy and sends to the word's home with its next release, beside others
   that the home makes at once (src/dsm/gathered_changes, Locks::change_word), for every interleaving of a small job that
   meets at barriers and uses locks. README.md says how to run it, and what it leaves out.

   The comment at a step names the function of the source that it stands for. What no other thread can see is joined
   with the step before it. Each switch (-D) makes one mistake, which the model has to find. */

#ifndef ACCESSES
#define ACCESSES 3 /* of all hosts together */
#endif
#ifndef ACQUIRES
#define ACQUIRES 0 /* of locks, by all hosts together, and as many releases */
#endif
#ifndef INTERVALS
#define INTERVALS 2 /* each ends with a barrier */
#endif

#ifndef OWNER
#define OWNER NOBODY /* of the counter, in the first interval; then nobody and host 1 in turn */
#endif

#define HOSTS 3
#define HOME 0
#define NOBODY 3
#define is_home (me == HOME)

/* ---- what the program may do, and what it must see ---- */

/* The page has a counter, which all may update and draw numbers from at any time, and a byte of data, which a host may
   write if it knows the last write, by locks and barriers in any order. In some intervals the counter belongs to one
   host, which may also store to it as to any variable. */
byte owner = OWNER;
byte total, base;      /* of all updates; and when the interval began */
byte own[HOSTS];       /* what each host has added in this interval */
bit truth;             /* of the data */
bool knows[HOSTS] = true;
bool lock_knows = true;
byte accesses = ACCESSES, acquires = ACQUIRES, releases = ACQUIRES;
bool has_drawn;
byte last_drawn;

/* ---- Pages: one page at each host ---- */

#define ABSENT 0
#define CLEAN 1
#define WRITTEN 2
byte state[HOSTS]; /* that of the home does not matter */
byte counter[HOSTS], twin_counter[HOSTS];
bit data[HOSTS], twin_data[HOSTS];
byte gathered[HOSTS];
bool unread[HOSTS]; /* there is a notice that this host has not read */
bool fetched;       /* the home's mark: another host has the page */

/* ---- messages to the home, in order from each host ---- */

mtype = {changes, draw};
#define COUNTER 1
#define DATA 2
chan to_home[HOSTS] = [1] of {mtype, byte, byte, byte, bit}; /* gathered; what differs, and its contents */
bool answered[HOSTS];
byte drawn[HOSTS];

byte entered, interval;

inline announce(who) {
    unread[0] = unread[0] || who != 0;
    unread[1] = unread[1] || who != 1;
    unread[2] = unread[2] || who != 2
}

/* What a host has in its copy: all of the intervals before, what it has added itself, and nothing else. */
inline look_at_counter() {
    assert(counter[me] >= base + own[me] && counter[me] <= total);
    assert(owner != me || counter[me] == total)
}

/* ---- the home's receiving thread ---- */

/* Under the lock that the home manages: so nobody makes another one meanwhile. */
inline make_draw(who) {
    drawn[who] = counter[HOME];
    counter[HOME]++;
    total++;
    assert(!has_drawn || drawn[who] > last_drawn);
    has_drawn = true;
    last_drawn = drawn[who];
#ifdef OWN_DRAW_UNTOLD
    announce(who)
#else
    announce(HOME) /* to whoever has drawn, too */
#endif
}

/* Pages::apply, Pages::apply_gathered. */
inline take_changes(who) {
#ifdef DIFFERENCE_FIRST
    d_step { if :: differs & COUNTER -> counter[HOME] = its_counter :: else fi }
#endif
#ifdef PLAIN_ADDITION
    before = counter[HOME];
    counter[HOME] = before + added;
#else
    counter[HOME] = counter[HOME] + added;
#endif
    d_step {
#ifndef DIFFERENCE_FIRST
        if :: differs & COUNTER -> counter[HOME] = its_counter :: else fi;
#endif
        if :: differs & DATA -> data[HOME] = its_data :: else fi;
        added = 0; differs = 0; its_counter = 0; its_data = 0; before = 0;
        answered[who] = true
    }
}

proctype agent() {
    byte added, differs, its_counter, before;
    bit its_data;
end:
    do
    :: to_home[1] ? changes(added, differs, its_counter, its_data) -> take_changes(1)
    :: to_home[2] ? changes(added, differs, its_counter, its_data) -> take_changes(2)
    :: to_home[1] ? draw(_, _, _, _) -> d_step { make_draw(1); answered[1] = true }
    :: to_home[2] ? draw(_, _, _, _) -> d_step { make_draw(2); answered[2] = true }
    od
}

/* ---- the host's thread ---- */

/* Pages::release_to; send_difference, send_gathered. A host waits until the home has taken what it has sent. */
inline release() {
    if
    :: is_home ->
        d_step {
            if :: fetched -> fetched = false; announce(HOME) :: else fi
        }
    :: !is_home && state[me] == WRITTEN ->
        d_step {
            state[me] = CLEAN;
            sent = gathered[me];
            gathered[me] = 0;
            differs = (counter[me] != twin_counter[me] -> COUNTER : 0) | (data[me] != twin_data[me] -> DATA : 0)
        }
        if
        :: sent == 0 && differs == 0
        :: else ->
            to_home[me] ! changes(sent, differs, counter[me], data[me]);
            d_step {
                answered[me] ->
                answered[me] = false;
#ifdef GATHERED_ONLY_UNTOLD
                if :: differs != 0 -> announce(me) :: else fi
#else
                announce(me)
#endif
            }
        fi;
        d_step { sent = 0; differs = 0 }
    :: else
    fi
}

/* Pages::invalidate: what the host has written goes home first. */
inline drop() {
#ifdef DROPPED_WITHOUT_CHANGES
    gathered[me] = 0;
#else
    release();
#endif
    state[me] = (is_home -> state[me] : ABSENT)
}

inline read_notices() {
    if
    :: d_step { unread[me] -> unread[me] = false }
       drop()
    :: else
    fi
}

/* Pages::fault: the mark is set before the page is copied. */
inline make_present() {
    if
    :: !is_home && state[me] == ABSENT ->
        fetched = true;
        d_step {
            counter[me] = counter[HOME];
            data[me] = data[HOME];
            state[me] = CLEAN
        }
    :: else
    fi
}

inline make_writable() {
    make_present();
    d_step {
        if
        :: !is_home && state[me] == CLEAN ->
            twin_counter[me] = counter[me];
            twin_data[me] = data[me];
            state[me] = WRITTEN
        :: else
        fi
    }
}

/* Pages::gather_change, Pages::change_copy: under the page's lock. */
inline update() {
    make_writable();
    d_step {
        if
        :: is_home
#ifdef TWIN_STAYS
        :: !is_home
#else
#ifdef STORES_UNNOTICED
        :: !is_home ->
#else
        :: !is_home && counter[me] == twin_counter[me] ->
#endif
            twin_counter[me] = counter[me] + 1;
            gathered[me]++
        :: else
#endif
        fi;
        counter[me]++;
        total++;
        own[me]++;
        look_at_counter()
    }
}

/* Locks::change_word, by its home; change_own_word. It acquires and releases. */
inline draw_number() {
#ifndef NO_RELEASE_BEFORE
    release();
#endif
    d_step { lock_knows = lock_knows || knows[me] }
#ifdef CHANGED_HERE
    /* Under a lock of all, in the host's own copy. */
    d_step { !drawing -> drawing = true }
    read_notices();
    make_writable();
    d_step {
        drawn[me] = counter[me];
        counter[me]++;
        total++
    }
    release();
    drawing = false;
#else
    if
    :: is_home -> d_step { make_draw(me) }
    :: else ->
        to_home[me] ! draw(0, 0, 0, 0);
        d_step { answered[me] -> answered[me] = false }
    fi;
#endif
    d_step {
        assert(drawn[me] >= base + own[me]);
        drawn[me] = 0;
        own[me]++;
        knows[me] = knows[me] || lock_knows
    }
    read_notices();
    make_present();
    d_step { look_at_counter() }
}

inline store_counter() {
    make_writable();
    d_step {
        counter[me] = counter[me] + 2;
        total = total + 2;
        own[me] = own[me] + 2;
        look_at_counter()
    }
}

/* If another host has written the data meanwhile, this one does not: the program has no races. */
inline store_data() {
    make_writable();
    d_step {
        if
        :: knows[me] ->
            assert(data[me] == truth);
            truth = 1 - truth;
            data[me] = truth;
            knows[0] = false;
            knows[1] = false;
            knows[2] = false;
            knows[me] = true;
            lock_knows = false
        :: else
        fi
    }
}

inline meet() {
    release();
    d_step {
        entered++;
        if
        :: entered == HOSTS ->
            assert(counter[HOME] == total && data[HOME] == truth);
            entered = 0;
            base = total;
            own[0] = 0;
            own[1] = 0;
            own[2] = 0;
            knows[0] = true;
            knows[1] = true;
            knows[2] = true;
            lock_knows = true;
            owner = (owner == NOBODY -> 1 : NOBODY);
            interval++
        :: else
        fi
    }
    interval > met;
    met++;
    read_notices();
    d_step {
        if
        :: state[me] == ABSENT && !is_home
        :: else ->
            look_at_counter();
            assert(!knows[me] || data[me] == truth)
        fi
    }
}

#ifdef CHANGED_HERE
bool drawing;
#endif

proctype host(byte me) {
    byte sent, differs, met;
    do
    :: met < INTERVALS ->
        do
        :: d_step { accesses > 0 && (owner == NOBODY || owner == me) -> accesses-- }
           update()
        :: d_step { accesses > 0 && owner == NOBODY -> accesses-- }
           draw_number()
        :: d_step { accesses > 0 && owner == me -> accesses-- }
           store_counter()
        :: d_step { accesses > 0 && knows[me] -> accesses-- }
           store_data()
        :: d_step { acquires > 0 -> acquires--; knows[me] = knows[me] || lock_knows }
           read_notices()
        :: d_step { releases > 0 -> releases-- }
           release();
           d_step { lock_knows = lock_knows || knows[me] }
        :: break
        od;
        meet()
    :: else -> break
    od
}

init {
    atomic {
        run agent();
        run host(0);
        run host(1);
        run host(2)
    }
}
