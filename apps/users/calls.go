package users

import "sync/atomic"

// Calls counts a service's calls by method, also rejected ones.
type Calls struct {
	Create int64 `json:"create"`
	Get    int64 `json:"get"`
	Update int64 `json:"update"`
	Delete int64 `json:"delete"`
	List   int64 `json:"list"`
	// Sum adds up a hash of each call, of method and arguments. The order of requests does not matter.
	Sum uint64 `json:"sum,string"`
}

// callMethod numbers a method. Calls.Sum depends on the numbers.
type callMethod int

const (
	methodCreate callMethod = iota
	methodGet
	methodUpdate
	methodDelete
	methodList
)

func methodNames() [5]string { return [...]string{"create", "get", "update", "delete", "list"} }

type recorder struct {
	counts [5]atomic.Int64
	sum    atomic.Uint64
}

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

// hash is a hash of numbers and texts, the same in all processes. An empty sequence has 0.
type hash uint64

func (h hash) addNumber(x uint64) hash { return hash(scramble(uint64(h) ^ x)) }

// addText adds the length of s and its bytes, eight at a time. The length distinguishes two texts from their
// concatenation.
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
