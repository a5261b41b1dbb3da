package homelab

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// maxID limits an id of a client, in bytes.
const maxID = 64

// requestIDs makes ids: a random prefix of the process, and a number in base 36.
type requestIDs struct {
	prefix string        // e.g. "5f0c1d2e3a4b5968-"
	last   atomic.Uint64 // number of the last id
}

func newIDs() *requestIDs {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	return &requestIDs{prefix: hex.EncodeToString(seed[:]) + "-"}
}

// RequestID returns the id of a request with X-Request-Id sent, if it is 1 to 64 visible ASCII characters.
// Otherwise it is new, such as 5f0c1d2e3a4b5968-1c.
func (h *House) RequestID(sent string) string {
	if isValidID(sent) {
		return sent
	}
	return h.ids.nextID()
}

func (s *requestIDs) nextID() string {
	var buf [maxID]byte // only the string is allocated
	return string(strconv.AppendUint(append(buf[:0], s.prefix...), s.last.Add(1), 36))
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
