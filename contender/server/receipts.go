package server

import (
	"sync/atomic"

	"github.com/tarebench/tare/contender"
)

// Receipts counts a server's work, to be compared with the requests sent. It costs one atomic addition. In all
// servers a handler counts its request first, and each middleware its calls. Requests that a framework
// rejects, such as unknown paths, are not counted.
type Receipts struct {
	requests, body, layers atomic.Int64
}

// Request counts one answered request.
func (r *Receipts) Request() { r.requests.Add(1) }

// Body counts n bytes of a request's body that were read.
func (r *Receipts) Body(n int64) { r.body.Add(n) }

// Layer counts one call of a middleware.
func (r *Receipts) Layer() { r.layers.Add(1) }

// resetCounts sets all counts to zero.
func (r *Receipts) resetCounts() {
	r.requests.Store(0)
	r.body.Store(0)
	r.layers.Store(0)
}

func (r *Receipts) readCounts() contender.Counts {
	return contender.Counts{Requests: r.requests.Load(), BodyBytes: r.body.Load(), Layers: r.layers.Load()}
}
