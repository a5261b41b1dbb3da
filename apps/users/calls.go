package users

import "sync/atomic"

// Calls are use-case calls, in no order: those that were refused too, but none
// that a face or the rate limit refused before they were calls.
type Calls struct {
	Create int64 `json:"create"`
	Get    int64 `json:"get"`
	Update int64 `json:"update"`
	Delete int64 `json:"delete"`
	List   int64 `json:"list"`
	// Sum adds up a hash of each call with its arguments, after they were
	// trimmed and bounded: two faces that were asked the same have the same sum.
	Sum uint64 `json:"sum,string"`
}

// method is a number of the recorder, which the sum depends on.
type method int

const (
	create method = iota
	get
	update
	remove
	list
)

func methods() [5]string { return [...]string{"create", "get", "update", "delete", "list"} }

// recorder counts calls.
type recorder struct {
	counts [5]atomic.Int64
	sum    atomic.Uint64
}

func (r *recorder) call(m method, h hash) {
	r.counts[m].Add(1)
	r.sum.Add(uint64(h.number(uint64(m))))
}

func (r *recorder) calls() Calls {
	n := func(m method) int64 { return r.counts[m].Load() }
	return Calls{Create: n(create), Get: n(get), Update: n(update), Delete: n(remove), List: n(list), Sum: r.sum.Load()}
}

func (r *recorder) forget() {
	for i := range r.counts {
		r.counts[i].Store(0)
	}
	r.sum.Store(0)
}

// hash is that of numbers and texts that were added one after another. It is the
// same in all processes.
type hash uint64

func (h hash) number(x uint64) hash { return hash(mixed(uint64(h) ^ x)) }

// text adds eight bytes at a time, and the length, so that two texts are not one
// that is as long as both.
func (h hash) text(s string) hash {
	h = h.number(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h = h.number(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	var rest uint64
	for i := range len(s) {
		rest |= uint64(s[i]) << (8 * i)
	}
	return h.number(rest)
}

func (h hash) draft(d Draft) hash { return h.text(d.Name).text(d.Email) }
