package server

import (
	"context"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
)

const (
	busyLimit = 5 * time.Second  // limit until the load counts as running
	stopLimit = 15 * time.Second // limit of the end of the server, which takes at most 10 s
)

// measureStop measures how long a program takes to end under load, for op tare.OpStop. The program
// ends its server when every connection is open and as many requests have ended as there are
// connections. Afterwards there is no server until another workload is prepared.
func (c *conn) measureStop(s tare.Sample) {
	w := c.work
	if w.workload.Op != tare.OpStop || c.program == nil || c.failure != nil || w.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, busyLimit+stopLimit)
	defer cancel()
	if w.openSession(c.kind) != nil {
		return
	}
	loadCtx, stopLoad := context.WithCancel(ctx)
	busyCtx, cancelBusy := context.WithTimeout(ctx, busyLimit)
	defer cancelBusy()
	isBusy, loadEnded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(loadEnded)
		_, _ = c.runUntil(loadCtx, load.Leg{
			Lead: int64(w.traffic.Connections), Duration: time.Minute,
			Mark: func(begins bool) {
				if begins {
					close(isBusy)
				}
			},
		})
	}()
	defer func() {
		stopLoad()
		<-loadEnded
		w.closeSession()
	}()
	select {
	case <-isBusy:
	case <-loadEnded: // the connections were closed, or the server has ended
		return
	case <-busyCtx.Done():
		return
	}
	w.stopped = true
	a, err := c.forward(ctx, wire.Request{Op: wire.OpEnd, On: w.workload.ID})
	if err == nil && a.WallNS > 0 {
		s[tare.KeyStop] = float64(a.WallNS)
	}
}
