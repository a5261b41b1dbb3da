package server

import (
	"context"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

const (
	busyLimit = 5 * time.Second  // how long it may take until each connection has had an answer
	stopLimit = 15 * time.Second // for the server to end, who is given up after ten
)

// measureStop makes the program end its server while every connection is open and has a request in
// flight, or is about to, and measures how long that took. It is not part of the measurement;
// afterwards there is no server until another workload is prepared. Only programs can be stopped.
func (c *conn) measureStop(s tare.Sample) {
	w := c.work
	if w.in.Op != tare.OpStop || c.program == nil || c.failure != nil || w.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, busyLimit+stopLimit)
	defer cancel()
	if w.openSession(c.kind) != nil {
		return
	}
	busy, idle := context.WithCancel(ctx)
	patience, enough := context.WithTimeout(ctx, busyLimit)
	defer enough()
	under, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, _ = c.runUntil(busy, load.Leg{
			Lead: int64(w.traffic.Connections), Duration: time.Minute,
			Mark: func(begins bool) {
				if begins {
					close(under)
				}
			},
		})
	}()
	defer func() {
		idle()
		<-over
		w.closeSession()
	}()
	select {
	case <-under:
	case <-over: // its connections broke, or it has ended
		return
	case <-patience.Done():
		return
	}
	w.stopped = true
	a, err := c.forward(ctx, wire.Request{Op: wire.OpEnd, On: w.in.ID})
	if err == nil && a.WallNS > 0 {
		s[tare.KeyStop] = float64(a.WallNS)
	}
}
