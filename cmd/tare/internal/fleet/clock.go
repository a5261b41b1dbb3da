package fleet

import (
	"context"
	"encoding/json"
	"math"
	"time"
)

// roundTrips is the number of requests of one clock measurement.
const roundTrips = 20

// Clock compares an agent's clock with the coordinator's.
type Clock struct {
	Offset    time.Duration // the agent's clock minus the coordinator's
	Uncertain time.Duration // largest error of Offset: half of the shortest round trip
}

// measureClock compares an agent's clock with that of this process, by the shortest of several round
// trips (Cristian, "Probabilistic clock synchronization", 1989).
func (h *Hub) measureClock(ctx context.Context, name string) (Clock, error) {
	best := Clock{Uncertain: math.MaxInt64}
	for range roundTrips {
		var c clockReply
		requestCtx, cancel := context.WithTimeout(ctx, h.o.times.replyTimeout)
		began := time.Now()
		m, err := h.nc.RequestWithContext(requestCtx, subjects{h.o.Prefix, name}.toAgent(toClock), nil)
		took := time.Since(began)
		cancel()
		if err == nil {
			err = json.Unmarshal(m.Data, &c)
		}
		if err != nil {
			if ctx.Err() != nil {
				return best, context.Cause(ctx)
			}
			if hasReply := best.Uncertain < math.MaxInt64; hasReply {
				continue // a single request may be lost
			}
			return best, err
		}
		if half := took / 2; half < best.Uncertain {
			best = Clock{Offset: time.Unix(0, c.Now).Sub(began.Add(half)), Uncertain: half}
		}
	}
	return best, nil
}
