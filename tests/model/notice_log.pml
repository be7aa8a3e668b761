/* The managers' logs of notices and the hosts' histories (src/dsm/notice_log, history.hpp), for shared_locks.pml. */

/* ---- logs of notices: of the managers, and the histories of the hosts ---- */

#define LOGS (MANAGERS + MOST_HOSTS)
#define MOST 4 /* capacity of a history, and notices of a message */
#define capacity_of(log) ((log) < MANAGERS -> CAPACITY : MOST)
#define history_of(host) (MANAGERS + (host))
#define EVERYTHING 2 /* instead of a page */
/* Told: the writer, the page, and the writer's number, in one byte. */
#define TOLD(writer, page, number) ((writer) << 6 | (page) << 4 | (number))
#define writer_of(told) ((told) >> 6)
#define page_of(told) ((told) >> 4 & 3)
#define number_of(told) ((told) & 15)
byte entry[LOGS * MOST];
byte position[LOGS * MOST];
byte count[LOGS], begin[LOGS], end_of[LOGS], lost[LOGS], epoch[LOGS];
byte seen[LOGS * WRITERS];           /* the number of a writer's last notice in the log */
byte has_told[MOST_HOSTS * MANAGERS]; /* History::Manager::told */
byte has_read[MOST_HOSTS * MANAGERS];

/* ---- NoticeLog ---- */

inline renew(log, new_epoch) {
    if
    :: (new_epoch) > epoch[log] ->
       epoch[log] = new_epoch;
       begin[log] = end_of[log];
       lost[log] = end_of[log];
       for (i : 0 .. MOST - 1) { entry[(log) * MOST + i] = 0; position[(log) * MOST + i] = 0 }
       count[log] = 0
    :: else
    fi
}

/* NoticeLog::make_room: what the same writer has announced again later goes, and then all but the newer half. Moves
   what stays to the end, and then to the beginning. */
inline make_room(log) {
    kept = capacity_of(log);
    i = kept;
    do
    :: i > 0 ->
       i--;
       each = entry[(log) * MOST + i] >> 4;
       j = kept;
       do
       :: j < capacity_of(log) && entry[(log) * MOST + j] >> 4 != each -> j++
       :: else -> break
       od;
       if
       :: j < capacity_of(log)
       :: else ->
          if
          :: capacity_of(log) - kept == capacity_of(log) / 2 -> lost[log] = position[(log) * MOST + i] + 1; break
          :: else ->
             kept--;
             entry[(log) * MOST + kept] = entry[(log) * MOST + i];
             position[(log) * MOST + kept] = position[(log) * MOST + i]
          fi
       fi
    :: else -> break
    od;
    count[log] = capacity_of(log) - kept;
    for (i : 0 .. MOST - 1) {
        if
        :: i < count[log] ->
           entry[(log) * MOST + i] = entry[(log) * MOST + kept + i];
           position[(log) * MOST + i] = position[(log) * MOST + kept + i]
        :: else -> entry[(log) * MOST + i] = 0; position[(log) * MOST + i] = 0
        fi
    }
}

inline append(log, what) {
    if
    :: count[log] == capacity_of(log) -> make_room(log)
    :: else
    fi;
    entry[(log) * MOST + count[log]] = what;
    position[(log) * MOST + count[log]] = end_of[log];
    count[log]++;
    end_of[log]++
}

/* NoticeLog::since: into news */
inline since(log, from) {
    news_count = 0;
    for (i : 0 .. MOST - 1) {
        if
        :: i < count[log] && position[(log) * MOST + i] >= (from) ->
           news[news_count] = entry[(log) * MOST + i];
           news_count++
        :: else
        fi
    }
    complete = ((from) > begin[log] -> (from) : begin[log]) >= lost[log]
}

/* ---- History ---- */

inline announce(page) {
    seen[history_of(me) * WRITERS + me]++;
    assert(seen[history_of(me) * WRITERS + me] < 16);
    append(history_of(me), TOLD(me, page, seen[history_of(me) * WRITERS + me]))
}

/* Puts what the manager lacks into news. */
inline news_for(manager) {
    since(history_of(me), has_told[me * MANAGERS + manager]);
#ifndef LOSS_NOT_TOLD
    if
    :: !complete ->
       announce(EVERYTHING);
       news[0] = TOLD(me, EVERYTHING, seen[history_of(me) * WRITERS + me]);
       news_count = 1
    :: else
    fi;
#endif
#ifdef OWN_NOTICES_ONLY
    j = 0;
    for (i : 0 .. 3) {
        if
        :: i < news_count && writer_of(news[i]) == me -> news[j] = news[i]; j++
        :: else
        fi
    }
    news_count = j;
#endif
    has_told[me * MANAGERS + manager] = end_of[history_of(me)]
#ifdef ONE_POSITION_FOR_ALL
    ; has_told[me * MANAGERS] = end_of[history_of(me)]; has_told[me * MANAGERS + 1] = end_of[history_of(me)]
#endif
}
