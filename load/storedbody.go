package load

import "sync/atomic"

const (
	maxBody      = 16 << 20  // largest stored body in bytes
	maxAllBodies = 256 << 20 // most bytes of all stored bodies of a session
	maxReused    = 64 << 10  // largest buffer in bytes that is reused
)

// storedBody stores the body of one response for Options.Verify, a function of the user. It is reused for
// the next response.
type storedBody struct {
	budget   *atomic.Int64 // bytes that all stored bodies may still take; nil means unlimited
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

// appendPart stores the next part of the body. If the body becomes too large, it releases it and returns
// false.
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
