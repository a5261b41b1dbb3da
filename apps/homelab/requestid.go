package homelab

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// maxID is how many bytes a request's own id may have.
const maxID = 64

// ids makes ids of requests: what this process drew when it started, and a
// number.
type ids struct {
	prefix string
	last   atomic.Uint64
}

func newIDs() *ids {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	return &ids{prefix: hex.EncodeToString(seed[:]) + "-"}
}

// RequestID is the id of a request: given where it is a sound one, which is 1
// to 64 visible ASCII characters, or a new one.
func (h *House) RequestID(given string) string {
	if sound(given) {
		return given
	}
	return h.ids.next()
}

func (s *ids) next() string {
	var room [maxID]byte
	return string(strconv.AppendUint(append(room[:0], s.prefix...), s.last.Add(1), 36))
}

func sound(id string) bool {
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
