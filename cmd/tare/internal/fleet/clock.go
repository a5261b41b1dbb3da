package fleet

import (
	"context"
	"encoding/json"
	"time"
)

// roundTrips counts the requests of one clock measurement.
const roundTrips = 20

// Clock compares an agent's clock with the coordinator's.
type Clock struct {
	Offset    time.Duration // the agent's clock minus the coordinator's
	Uncertain time.Duration // largest error of Offset: half of the shortest round trip
}

// measureClock compares an agent's clock by the shortest of several round trips (Cristian,
// "Probabilistic clock synchronization", 1989).
func (h *Hub) measureClock(ctx context.Context, name string) (Clock, error) {
	best := Clock{Uncertain: time.Duration(1<<63 - 1)}
	for range roundTrips {
		var c clockReply
		one, cancel := context.WithTimeout(ctx, h.o.times.replyTimeout)
		began := time.Now()
		m, err := h.nc.RequestWithContext(one, subjects{h.o.Prefix, name}.toAgent(toClock), nil)
		took := time.Since(began)
		cancel()
		if err == nil {
			err = json.Unmarshal(m.Data, &c)
		}
		if err != nil {
			if ctx.Err() != nil {
				return best, context.Cause(ctx)
			}
			if best.Uncertain < time.Minute {
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
