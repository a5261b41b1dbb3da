package users

import "sync/atomic"

// Calls counts the calls of a service by method. It includes rejected calls, but not requests that a
// transport or the rate limit rejected before they reached the service.
type Calls struct {
	Create int64 `json:"create"`
	Get    int64 `json:"get"`
	Update int64 `json:"update"`
	Delete int64 `json:"delete"`
	List   int64 `json:"list"`
	// Sum is the sum of a hash of each call: its method and its arguments in normal form. Two
	// transports that get the same requests in any order have the same sum.
	Sum uint64 `json:"sum,string"`
}

// callMethod is the number of a method. Calls.Sum depends on these numbers.
type callMethod int

const (
	methodCreate callMethod = iota
	methodGet
	methodUpdate
	methodDelete
	methodList
)

// methodNames returns the names of the methods, in the order of their numbers.
func methodNames() [5]string { return [...]string{"create", "get", "update", "delete", "list"} }

// recorder counts calls by method, and adds up their hashes.
type recorder struct {
	counts [5]atomic.Int64
	sum    atomic.Uint64
}

// addCall counts a call of m with arguments that have the hash h.
func (r *recorder) addCall(m callMethod, h hash) {
	r.counts[m].Add(1)
	r.sum.Add(uint64(h.addNumber(uint64(m))))
}

func (r *recorder) loadCalls() Calls {
	return Calls{
		Create: r.counts[methodCreate].Load(),
		Get:    r.counts[methodGet].Load(),
		Update: r.counts[methodUpdate].Load(),
		Delete: r.counts[methodDelete].Load(),
		List:   r.counts[methodList].Load(),
		Sum:    r.sum.Load(),
	}
}

func (r *recorder) resetCalls() {
	for i := range r.counts {
		r.counts[i].Store(0)
	}
	r.sum.Store(0)
}

// hash is a hash of a sequence of numbers and texts. It is the same in all processes. The hash of the
// empty sequence is 0.
type hash uint64

// addNumber returns the hash of the sequence of h and then x.
func (h hash) addNumber(x uint64) hash { return hash(scramble(uint64(h) ^ x)) }

// addText adds the length of s and then its bytes, eight at a time. Because of the length, the hash of
// two texts differs from the hash of their concatenation.
func (h hash) addText(s string) hash {
	h = h.addNumber(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h = h.addNumber(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	var rest uint64
	for i := range len(s) {
		rest |= uint64(s[i]) << (8 * i)
	}
	return h.addNumber(rest)
}

func (h hash) addDraft(d Draft) hash { return h.addText(d.Name).addText(d.Email) }
