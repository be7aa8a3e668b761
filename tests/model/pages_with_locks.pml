/* Pages that come with a lock (Locks::add_page, Consistency::store): included by shared_locks.pml. The page with the
   number of a lock has the lock's manager as its home. Every host that asks for the lock wants it. */

bool comes[MOST_HOSTS];                  /* Locks::Arrival::page */
bit comes_with[MOST_HOSTS * BYTES];

/* Consistency::lend, right behind the answer's news. */
inline add_page(host, page) {
    for (i : 0 .. 3) {
        if
        :: i < news_count && page_of(news[i]) == page -> comes[host] = true
        :: else
        fi
    }
    if
    :: comes[host] ->
       mark_lent(page)
#ifndef PAGE_AS_ASKED
       ;
       copy_page(host, page)
#endif
    :: else
    fi
}

inline copy_page(host, page) {
    comes_with[host * BYTES] = frame[in(page, page, 0)];
    comes_with[host * BYTES + 1] = frame[in(page, page, 1)]
}

/* Consistency::store, after learn_all(). */
inline store_page(page) {
    if
#ifdef PAGE_ALTHOUGH_WRITTEN
    :: comes[me] && state[at(me, page)] == ABSENT ->
#else
    :: comes[me] && state[at(me, page)] == ABSENT && !(own & mask(page)) ->
#endif
       state[at(me, page)] = CLEAN;
       frame[in(me, page, 0)] = comes_with[me * BYTES];
       frame[in(me, page, 1)] = comes_with[me * BYTES + 1]
    :: else
    fi;
    comes[me] = false;
    comes_with[me * BYTES] = 0;
    comes_with[me * BYTES + 1] = 0
}
