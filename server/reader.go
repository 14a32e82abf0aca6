package server

import (
	"context"
	"errors"
	"time"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/views"
)

const (
	// writeTimeout is how long a reader may leave a frame unread.
	writeTimeout = 30 * time.Second
	// pingEvery is how often a reader must show signs of life, and how often its
	// right to read is checked again.
	pingEvery   = 20 * time.Second
	pongTimeout = 3 * pingEvery
	// readBatch is how many transitions are taken from the journal at a time. What
	// a slow reader holds back is no more than these.
	readBatch = 16
)

// errOver ends a feed whose reader's right to read is over.
var errOver = errors.New("the session is over")

// reader is one connection to the live feed: a cursor in the journal.
type reader struct {
	server   *Server
	conn     *websocket.Conn
	protocol *protocol
	identity identity
	filter   filter
	next     uint64
	pingAt   time.Time
	// statusAt is when the status is due, zero if the reader does not want it: the
	// pipeline if it wants the stations, else the problems if they have changed.
	statusAt time.Time
	stations bool
	problems string
}

// run feeds the reader until it goes away, cannot follow, or may not any more.
func (rd *reader) run(ctx context.Context) {
	defer rd.conn.Close() //nolint:errcheck // nobody is left to be told
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go rd.listen(cancel)
	if sess := rd.identity.session; sess != nil {
		defer context.AfterFunc(sess.over, func() { cancel(errOver) })() //nolint:contextcheck // it is the session that ends the feed
	}
	err := rd.feed(ctx)
	if errors.Is(err, errOver) {
		rd.close(websocket.ClosePolicyViolation, err.Error())
	}
	rd.server.log.DebugContext(ctx, "live reader left", "who", rd.identity.name, "next", rd.next, "why", err)
}

// listen takes what the reader sends, which is only signs of life, and ends the
// feed when the connection does.
func (rd *reader) listen(cancel context.CancelCauseFunc) {
	rd.conn.SetReadLimit(readerMessageLimit)
	alive := func(string) error { return rd.conn.SetReadDeadline(time.Now().Add(pongTimeout)) }
	rd.conn.SetPongHandler(alive)
	err := alive("")
	for err == nil {
		_, _, err = rd.conn.ReadMessage()
	}
	cancel(err)
}

// feed sends transitions as they come.
func (rd *reader) feed(ctx context.Context) error {
	rd.pingAt = time.Now().Add(pingEvery)
	for {
		if err := rd.send(ctx); err != nil {
			return err
		}
		if err := rd.sendStatusIfDue(ctx); err != nil {
			return err
		}
		wait, cancel := context.WithDeadline(ctx, rd.wakeAt())
		err := rd.server.core.Journal().Wait(wait, rd.next)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if err := rd.pingIfDue(); err != nil {
				return err
			}
		}
	}
}

// wakeAt is when there is something to send even if nothing changes.
func (rd *reader) wakeAt() time.Time {
	if !rd.statusAt.IsZero() && rd.statusAt.Before(rd.pingAt) {
		return rd.statusAt
	}
	return rd.pingAt
}

// sendStatusIfDue sends the pipeline, or what is wrong with the source, now and
// then to who wants it.
func (rd *reader) sendStatusIfDue(ctx context.Context) error {
	now := time.Now()
	if rd.statusAt.IsZero() || now.Before(rd.statusAt) {
		return nil
	}
	rd.statusAt = now.Add(stationsEvery)
	if rd.stations {
		m, err := rd.server.stationsFrame(ctx, now)
		if err != nil {
			return err
		}
		return rd.write(func() error { return rd.conn.WritePreparedMessage(m) })
	}
	text, err := render(ctx, views.TroubleBadge(rd.server.troubles(rd.server.core.Snapshot())))
	if err != nil || string(text) == rd.problems {
		return err
	}
	rd.problems = string(text)
	return rd.write(func() error { return rd.conn.WriteMessage(websocket.TextMessage, text) })
}

// send sends what there is in the journal from next on.
func (rd *reader) send(ctx context.Context) error {
	for ctx.Err() == nil {
		b := rd.server.core.Journal().Since(rd.next, readBatch)
		if b.Gap != nil {
			if err := rd.sendGap(b.Gap); err != nil {
				return err
			}
		}
		for _, t := range b.Transitions {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := rd.pingIfDue(); err != nil {
				return err
			}
			if err := rd.sendTransition(t); err != nil {
				return err
			}
		}
		rd.next = b.Next
		if len(b.Transitions) == 0 {
			return nil
		}
	}
	return context.Cause(ctx)
}

func (rd *reader) sendTransition(t *journal.Transition) error {
	if !rd.filter.wants(t, rd.server.concerns) {
		return nil
	}
	f, err := rd.protocol.frames.get(t)
	if err != nil {
		return err
	}
	rd.server.metrics.frames.Inc()
	return rd.write(func() error { return rd.conn.WritePreparedMessage(f) })
}

func (rd *reader) sendGap(g *journal.Gap) error {
	text, err := rd.protocol.gap(g)
	if err != nil {
		return err
	}
	rd.server.metrics.gaps.Inc()
	return rd.write(func() error { return rd.conn.WriteMessage(websocket.TextMessage, text) })
}

// pingIfDue pings by the clock, whether or not there is something to send: the
// answers alone keep the connection open.
func (rd *reader) pingIfDue() error {
	if time.Now().Before(rd.pingAt) {
		return nil
	}
	rd.pingAt = time.Now().Add(pingEvery)
	if sess := rd.identity.session; sess != nil && !sess.live(rd.server.now()) {
		return errOver
	}
	return rd.write(func() error { return rd.conn.WriteMessage(websocket.PingMessage, nil) })
}

func (rd *reader) write(f func() error) error {
	if err := rd.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return f()
}

func (rd *reader) close(code int, text string) {
	deadline := time.Now().Add(time.Second)
	if err := rd.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), deadline); err != nil {
		rd.server.log.Debug("close not sent", "error", err)
	}
}
