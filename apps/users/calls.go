package users

import "sync/atomic"

// Calls counts use-case calls: rejected ones too, but none that a transport or the rate limit
// rejected before they were calls.
type Calls struct {
	Create int64 `json:"create"`
	Get    int64 `json:"get"`
	Update int64 `json:"update"`
	Delete int64 `json:"delete"`
	List   int64 `json:"list"`
	// Sum adds up a hash of each call with its arguments, after they were trimmed and bounded: two
	// transports with the same requests have the same sum.
	Sum uint64 `json:"sum,string"`
}

// callMethod is a number of the recorder, which the sum depends on.
type callMethod int

const (
	methodCreate callMethod = iota
	methodGet
	methodUpdate
	methodDelete
	methodList
)

func methodNames() [5]string { return [...]string{"create", "get", "update", "delete", "list"} }

// recorder counts calls.
type recorder struct {
	counts [5]atomic.Int64
	sum    atomic.Uint64
}

func (r *recorder) addCall(m callMethod, h hash) {
	r.counts[m].Add(1)
	r.sum.Add(uint64(h.addNumber(uint64(m))))
}

func (r *recorder) loadCalls() Calls {
	n := func(m callMethod) int64 { return r.counts[m].Load() }
	return Calls{Create: n(methodCreate), Get: n(methodGet), Update: n(methodUpdate), Delete: n(methodDelete), List: n(methodList), Sum: r.sum.Load()}
}

func (r *recorder) resetCalls() {
	for i := range r.counts {
		r.counts[i].Store(0)
	}
	r.sum.Store(0)
}

// hash is a hash of numbers and texts that were added one after another. It is the same in all
// processes.
type hash uint64

func (h hash) addNumber(x uint64) hash { return hash(scramble(uint64(h) ^ x)) }

// addText adds eight bytes at a time, and the length, so that two texts differ from one that is as
// long as both.
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
