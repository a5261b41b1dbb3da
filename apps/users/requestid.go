package users

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// MaxRequestID is the largest length in bytes of an id that a client sends.
const MaxRequestID = 128

// requestIDs makes a random prefix and a number in base 36.
type requestIDs struct {
	prefix string
	last   atomic.Uint64
}

func (r *requestIDs) drawPrefix() {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	r.prefix = hex.EncodeToString(seed[:]) + "-"
}

// RequestID returns the id of a request. It is sent, the client's id, if that has 1 to [MaxRequestID] visible
// ASCII characters. Otherwise it is new.
func (s *Service) RequestID(sent string) string {
	if isValidID(sent) {
		return sent
	}
	var buf [MaxRequestID]byte // only the string is allocated
	return string(strconv.AppendUint(append(buf[:0], s.requests.prefix...), s.requests.last.Add(1), 36))
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
