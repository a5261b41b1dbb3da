package users

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// MaxRequestID is how many bytes a request's own id may have.
const MaxRequestID = 128

// requestIDs makes ids: what this service drew when it was made, and a number.
type requestIDs struct {
	prefix string
	last   atomic.Uint64
}

func (r *requestIDs) draw() {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	r.prefix = hex.EncodeToString(seed[:]) + "-"
}

// RequestID is the id of a request: given where it is a sound one, which is 1 to
// [MaxRequestID] visible ASCII characters, or a new one.
func (s *Service) RequestID(given string) string {
	if sound(given) {
		return given
	}
	var room [MaxRequestID]byte
	return string(strconv.AppendUint(append(room[:0], s.requests.prefix...), s.requests.last.Add(1), 36))
}

func sound(id string) bool {
	if len(id) == 0 || len(id) > MaxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}
