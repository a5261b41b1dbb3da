package users

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// MaxRequestID is the largest length of a request's own id in bytes.
const MaxRequestID = 128

// requestIDs makes ids: a random prefix of this service, and a number.
type requestIDs struct {
	prefix string
	last   atomic.Uint64
}

func (r *requestIDs) drawPrefix() {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	r.prefix = hex.EncodeToString(seed[:]) + "-"
}

// RequestID returns the id of a request: given if it is valid, with 1 to [MaxRequestID] visible
// ASCII characters, or a new one.
func (s *Service) RequestID(given string) string {
	if isValidID(given) {
		return given
	}
	var room [MaxRequestID]byte
	return string(strconv.AppendUint(append(room[:0], s.requests.prefix...), s.requests.last.Add(1), 36))
}

func isValidID(id string) bool {
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
