package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// portableConn is one connection of the portable engine, or one stream of an HTTP/3 connection. A goroutine
// sends its requests one after another.
type portableConn struct {
	p         *portable
	s         *settings
	shard     *shard
	transport transport

	opened     bool
	addr       int  // address to try, modulo their number
	isReopened bool // it was open before: the next connection is a reconnect
	uses       int
	lastUse    int64 // ns
	request    exchange
	idleTimer  *time.Timer // for checks during waits; nil before the first
}

// transport carries the requests of a connection: a socket with a framer, or a Carrier.
type transport interface {
	// open opens the connection. onHandshake gets the duration of a TLS handshake in ns. fresh is false if
	// another user of a shared connection has opened it, or has failed to. That user records the result.
	open(ctx context.Context, addr string, onHandshake func(took int64, resumed bool)) (fresh bool, err error)
	// countIn marks the open connection as counted in phase r. It returns false if another user of a shared
	// connection has done so.
	countIn(r *run) bool
	// startRequest starts a request. last marks the connection's last one. It fails if a number does not
	// fit.
	startRequest(q *encodedRequest, x *exchange, last bool) error
	// roundTrip sends the request and reads its response, at the latest until due.
	roundTrip(l *portablePhase, x *exchange, due time.Time) reply
	// checkIdle checks a connection without a request. unsolicited is the error if the server has sent
	// bytes.
	checkIdle(l *portablePhase) (usable bool, unsolicited error)
	sendPending()
	interrupt()
	// shut releases the connection, and reports whether that has closed it.
	shut() bool
}

type reply struct {
	response
	class int   // error class of why
	why   error // why there is no complete response; nil if there is one
	ends  bool
}

func (c *portableConn) runPhase(l *portablePhase) {
	r := l.r
	if c.opened {
		if c.transport.countIn(r) {
			r.conns.Add(1)
		}
		c.checkIdle(l) // the server may have closed it since the last phase
	}
	for dialed := false; !r.aborted.Load(); {
		if !c.opened && !c.openConn(l.ctx, l) {
			if !l.sleepFor(time.Duration(retryAfter)) {
				break
			}
			continue
		}
		if !dialed {
			dialed = true
			r.markDialed()
		}
		<-l.started
		if !c.sendNext(l) {
			break
		}
	}
}

// sleepFor waits for d. It returns false if the phase is over.
func (l *portablePhase) sleepFor(d time.Duration) bool {
	select {
	case <-l.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// openConn tries each address of the target. It returns false if none can be connected, or if ctx is done.
func (c *portableConn) openConn(ctx context.Context, l *portablePhase) bool {
	select { // limits the number of connections that are opened at a time
	case c.p.dials <- struct{}{}:
		defer func() { <-c.p.dials }()
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		return false
	}
	began := c.s.nowNS()
	fresh, err := c.transport.open(ctx, c.s.addrs[c.addr%len(c.s.addrs)], c.recordHandshake)
	for err != nil && ctx.Err() == nil {
		if c.addr++; c.addr%len(c.s.addrs) == 0 {
			break
		}
		began = c.s.nowNS()
		fresh, err = c.transport.open(ctx, c.s.addrs[c.addr%len(c.s.addrs)], c.recordHandshake)
	}
	now := c.s.nowNS()
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil && fresh {
			c.shard.rec.recordConnectError(err)
			l.r.abortIfUnconnected(now)
		}
		return false
	}
	if fresh && c.transport.countIn(l.r) {
		c.shard.rec.recordConnect(now-began, c.isReopened)
		l.r.addConn()
	}
	c.opened, c.isReopened, c.uses, c.lastUse = true, true, 0, now
	return true
}

func (c *portableConn) recordHandshake(took int64, resumed bool) {
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	c.shard.rec.recordHandshake(took, resumed)
}

// dropConn releases the connection, and counts its close if nothing else uses it.
func (c *portableConn) dropConn(r *run, now int64) {
	c.opened = false
	if c.transport.shut() {
		r.removeConn(now)
	}
}

// maxUnchecked is the longest idle time in ns of a connection that is reused without a check.
const maxUnchecked = int64(10 * time.Millisecond)

// checkInterval is the time between checks of a connection without a request. A check replies to a server's
// ping and notices a close.
const checkInterval = 100 * time.Millisecond

// sendNext sends the next request and waits for its outcome. An open loop first waits for a ticket, a
// closed loop for the think time. It returns false if there are no more requests.
func (c *portableConn) sendNext(l *portablePhase) bool {
	var t ticket
	if l.r.queue != nil { // open loop
		if c.idleTimer == nil {
			c.idleTimer = time.NewTimer(checkInterval)
		}
		c.idleTimer.Reset(checkInterval)
		var ok bool
		select {
		case t, ok = <-l.tickets:
			if !ok {
				return false
			}
		case <-c.idleTimer.C:
			c.checkIdle(l)
			return true
		}
	} else {
		mustThink := l.r.leg.Think > 0 && c.uses > 0
		if l.r.isOver() || mustThink && !c.sleepThinkTime(l) {
			return false
		}
	}
	if !c.opened { // checkIdle has found it closed: runPhase opens it again
		return true
	}
	if c.s.nowNS()-c.lastUse > maxUnchecked && !c.checkIdle(l) {
		if l.r.queue != nil {
			l.r.queue.giveBack(t) // for any connection, also this one when it is open again
		}
		return true
	}
	if l.r.queue == nil && !l.r.admitRequest() {
		return false
	}
	c.runRequest(l, t)
	return true
}

// sleepThinkTime waits for the think time, and checks the connection meanwhile. It returns false if the
// phase ends.
func (c *portableConn) sleepThinkTime(l *portablePhase) bool {
	for remaining := l.r.leg.Think; remaining > 0; remaining -= checkInterval {
		if !l.sleepFor(min(remaining, checkInterval)) {
			return false
		}
		if c.opened {
			c.checkIdle(l)
		}
	}
	return true
}

// checkIdle drops a connection that the server has closed or used without a request. It reports whether the
// connection is usable.
func (c *portableConn) checkIdle(l *portablePhase) bool {
	usable, unsolicited := c.transport.checkIdle(l)
	if usable {
		return true
	}
	now := c.s.nowNS()
	if unsolicited != nil {
		c.shard.mu.Lock()
		c.shard.rec.recordUnsolicited(now)
		c.shard.mu.Unlock()
	}
	c.dropConn(l.r, now)
	return false
}

// runRequest sends one request, reads its response and records the outcome. A request that the server has
// not processed is sent again.
func (c *portableConn) runRequest(l *portablePhase, t ticket) {
	last, err := c.startNext(t)
	if err != nil {
		if l.r.queue != nil {
			l.r.queue.giveBack(t)
		}
		l.r.abort(err)
		c.dropConn(l.r, c.s.nowNS())
		return
	}
	for {
		o := c.transport.roundTrip(l, &c.request, c.deadline())
		now := c.s.nowNS()
		o.ends = o.ends || last || o.closes || o.unsent
		if c.lastUse = now; o.why == nil {
			c.shard.mu.Lock()
			c.shard.rec.recordResponse(&c.request, o.response, now)
			c.shard.mu.Unlock()
			c.finishRequest(l.r, now, o.ends)
			return
		}
		if l.r.aborted.Load() {
			c.dropConn(l.r, now)
			return
		}
		c.finishRequest(l.r, now, o.ends)
		if c.request.isRetryable(o.why) {
			if last, err = c.resend(l); err == nil {
				continue
			}
			if l.r.aborted.Load() {
				return
			}
			o.class, o.why, now = classTimeout, err, c.s.nowNS()
		}
		c.shard.mu.Lock()
		c.shard.rec.recordFailure(&c.request, o.class, o.why, now)
		c.shard.mu.Unlock()
		return
	}
}

func (c *portableConn) deadline() time.Time {
	return c.s.base.Add(time.Duration(c.request.sent) + c.s.Timeout)
}

// resend starts a request again, if needed on a new connection. It fails if no connection can be opened
// before the deadline.
func (c *portableConn) resend(l *portablePhase) (last bool, err error) {
	ctx, cancel := context.WithDeadline(l.requests, c.deadline())
	defer cancel()
	for !c.opened && !c.openConn(ctx, l) {
		select {
		case <-ctx.Done():
			return false, errTimeout
		case <-time.After(time.Duration(retryAfter)):
		}
	}
	sh := c.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	last, err = c.startRequest()
	sh.rec.recordSend(&c.request, c.s.nowNS())
	return last, err
}

func (c *portableConn) startRequest() (last bool, err error) {
	q := &c.s.requests[c.request.index]
	c.uses++
	ends := c.uses == c.s.PerConn
	if err := c.transport.startRequest(q, &c.request, ends); err != nil {
		return false, fmt.Errorf("request %d: %w", c.request.index, err)
	}
	return ends || q.closes, nil
}

// finishRequest drops the connection if drop is true. Otherwise it sends the accumulated output.
func (c *portableConn) finishRequest(r *run, now int64, drop bool) {
	if drop {
		c.dropConn(r, now)
		return
	}
	c.transport.sendPending()
}

// startNext starts the next request of the list. A closed loop has no tickets: t is zero.
func (c *portableConn) startNext(t ticket) (last bool, err error) {
	sh := c.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	i := sh.nextRequest
	if sh.nextRequest++; sh.nextRequest == len(c.s.requests) {
		sh.nextRequest = 0
	}
	c.request = exchange{
		index: i, measured: t.measured, intended: t.at,
		verify: sh.rec.takeVerify(), numbers: c.s.requests[i].drawNumbers(c.request.numbers[:0]),
	}
	if last, err = c.startRequest(); err != nil {
		return false, err
	}
	c.request.sent = c.s.nowNS()
	sh.rec.recordSend(&c.request, c.request.sent)
	return last, nil
}

// isRequestError reports whether the connection remains usable after an error.
func isRequestError(err error) bool {
	var reset resetError
	var unprocessed unprocessedError
	return errors.As(err, &reset) || errors.As(err, &unprocessed)
}

func errorClass(err error) int {
	if isRequestError(err) {
		return classReset
	}
	return classFraming
}
