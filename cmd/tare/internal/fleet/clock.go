package fleet

import (
	"context"
	"encoding/json"
	"math"
	"time"
)

const roundTrips = 20

// Clock compares an agent's clock with the coordinator's.
type Clock struct {
	Offset    time.Duration // agent's clock minus the coordinator's
	Uncertain time.Duration // largest error of Offset
}

// measureClock compares an agent's clock with ours by the shortest round trip. Source: Cristian,
// "Probabilistic clock synchronization", 1989.
func (h *Hub) measureClock(ctx context.Context, name string) (Clock, error) {
	best := Clock{Uncertain: math.MaxInt64}
	for range roundTrips {
		var reply clockReply
		requestCtx, cancel := context.WithTimeout(ctx, h.options.times.replyTimeout)
		began := time.Now()
		message, err := h.nc.RequestWithContext(requestCtx, subjects{h.options.Prefix, name}.toAgent(toClock), nil)
		took := time.Since(began)
		cancel()
		if err == nil {
			err = json.Unmarshal(message.Data, &reply)
		}
		if err != nil {
			if ctx.Err() != nil {
				return best, context.Cause(ctx)
			}
			if hasReply := best.Uncertain < math.MaxInt64; hasReply {
				continue // an earlier round trip was successful
			}
			return best, err
		}
		// The agent read its clock at some moment of the round trip. Its middle is wrong by at most half.
		if half := took / 2; half < best.Uncertain {
			agentTime, coordinatorTime := time.Unix(0, reply.Now), began.Add(half)
			best = Clock{Offset: agentTime.Sub(coordinatorTime), Uncertain: half}
		}
	}
	return best, nil
}
