package fleet

import (
	"context"
	"encoding/json"
	"time"
)

// roundTrips are the questions that a clock is asked.
const roundTrips = 20

// Clock is an agent's clock against the coordinator's.
type Clock struct {
	Offset    time.Duration // by which it is ahead
	Uncertain time.Duration // by which Offset may be wrong: half of the shortest round trip
}

// clock compares an agent's clock by the shortest of some round trips (Cristian,
// "Probabilistic clock synchronization", 1989).
func (h *Hub) clock(ctx context.Context, name string) (Clock, error) {
	best := Clock{Uncertain: time.Duration(1<<63 - 1)}
	for range roundTrips {
		var c clocked
		one, cancel := context.WithTimeout(ctx, h.o.times.ask)
		began := time.Now()
		m, err := h.nc.RequestWithContext(one, subjects{h.o.Prefix, name}.to(toClock), nil)
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
				continue // one of them may be lost
			}
			return best, err
		}
		if half := took / 2; half < best.Uncertain {
			best = Clock{Offset: time.Unix(0, c.Now).Sub(began.Add(half)), Uncertain: half}
		}
	}
	return best, nil
}
