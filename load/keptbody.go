package load

import "sync/atomic"

const (
	maxKept    = 16 << 20  // bytes of a body that are kept to be verified
	maxKeptAll = 256 << 20 // the same, of all connections of a session
	reused     = 64 << 10  // bytes up to which the room of one body serves for the next
)

// keptBody is the body of an answer that is to be verified.
type keptBody struct {
	room *atomic.Int64 // what all connections may still keep; nil: there is no such bound
	body []byte
	held int64 // taken from room
}

// empty gives back what the last body took.
func (k *keptBody) empty() {
	if k.room != nil {
		k.room.Add(k.held)
	}
	if k.held, k.body = 0, k.body[:0]; cap(k.body) > reused {
		k.body = nil
	}
}

// add keeps a piece; false: there is no room for it, and nothing is kept of the
// answer.
func (k *keptBody) add(b []byte) bool {
	fits := len(k.body)+len(b) <= maxKept
	if fits && k.room != nil {
		k.held += int64(len(b))
		fits = k.room.Add(-int64(len(b))) >= 0
	}
	if !fits {
		k.empty()
		return false
	}
	k.body = append(k.body, b...)
	return true
}
