package server

import (
	"sync/atomic"

	"github.com/tarebench/tare/contender"
)

// Receipts count what a server did, by its own account, for the lab to hold
// against what it sent. Counting is one atomic addition, and is done at the same
// place by all: the handler of each endpoint counts its request first thing, and
// each middleware that is installed is wrapped so that it counts its calls.
// What a framework refuses by itself, such as an unknown path, is not counted.
type Receipts struct {
	requests, body, layers atomic.Int64
}

// Request counts one request that is answered.
func (r *Receipts) Request() { r.requests.Add(1) }

// Body counts n bytes of a request's body that were read.
func (r *Receipts) Body(n int64) { r.body.Add(n) }

// Layer counts one call of a middleware.
func (r *Receipts) Layer() { r.layers.Add(1) }

// reset forgets what was counted.
func (r *Receipts) reset() {
	r.requests.Store(0)
	r.body.Store(0)
	r.layers.Store(0)
}

func (r *Receipts) counts() contender.Counts {
	return contender.Counts{Requests: r.requests.Load(), BodyBytes: r.body.Load(), Layers: r.layers.Load()}
}
