package homelab

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// maxID is the largest length of a request's own id in bytes.
const maxID = 64

// requestIDs makes ids of requests: a random prefix of this process, and a number.
type requestIDs struct {
	prefix string
	last   atomic.Uint64
}

func newIDs() *requestIDs {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	return &requestIDs{prefix: hex.EncodeToString(seed[:]) + "-"}
}

// RequestID returns the id of a request: given if it is valid, with 1 to 64 visible ASCII
// characters, or a new one.
func (h *House) RequestID(given string) string {
	if isValidID(given) {
		return given
	}
	return h.ids.nextID()
}

func (s *requestIDs) nextID() string {
	var room [maxID]byte
	return string(strconv.AppendUint(append(room[:0], s.prefix...), s.last.Add(1), 36))
}

func isValidID(id string) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}
