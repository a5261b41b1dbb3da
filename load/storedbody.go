package load

import "sync/atomic"

const (
	maxBody      = 16 << 20  // largest body in bytes that is stored for Verify
	maxAllBodies = 256 << 20 // most bytes of bodies that all connections of a session store
	maxReused    = 64 << 10  // largest buffer in bytes that is reused for the next body
)

// storedBody stores the body of one response, which Options.Verify, a function of the user, checks. It is reused for
// the next response.
type storedBody struct {
	budget   *atomic.Int64 // bytes that all connections may still store; nil means unlimited
	body     []byte
	reserved int64 // bytes that were subtracted from budget
}

// release gives back the bytes that the last body took from budget.
func (k *storedBody) release() {
	if k.budget != nil {
		k.budget.Add(k.reserved)
	}
	k.reserved, k.body = 0, k.body[:0]
	if cap(k.body) > maxReused {
		k.body = nil
	}
}

// appendPart stores the next part of the body. If the body is too large or the budget is used up, it releases the
// body and returns false.
func (k *storedBody) appendPart(b []byte) bool {
	fits := len(k.body)+len(b) <= maxBody
	if fits && k.budget != nil {
		k.reserved += int64(len(b))
		fits = k.budget.Add(-int64(len(b))) >= 0
	}
	if !fits {
		k.release()
		return false
	}
	k.body = append(k.body, b...)
	return true
}
