package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// In all operations the output for Answer is the result of the timed function itself:
// there is no second path that could be correct while the timed one is wrong.
// The result is on the heap and read by Answer, so the
// compiler cannot drop any result.

func (i Impl) newMarshal(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
	var last []byte
	do := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		last = out
		return len(out), err
	}
	return contender.Work{Fresh: !i.Shared, Do: do, Answer: func(k int) (contender.Answered, error) {
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		return show(last)
	}}
}

// sink counts the bytes written to it, and stores them if keep is set.
type sink struct {
	bytes  int
	keep   bool
	stored []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	if s.keep {
		s.stored = append(s.stored, p...)
	}
	return len(p), nil
}

func (i Impl) newStream(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
	w := new(sink)
	do := func(k int) (int, error) {
		w.bytes = 0
		err := i.Stream(w, values[k])
		return w.bytes, err
	}
	return contender.Work{Do: do, Answer: func(k int) (contender.Answered, error) {
		w.keep, w.stored = true, nil
		defer func() { w.keep, w.stored = false, nil }() // also after a panic
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		return show(w.stored)
	}}
}

func (i Impl) newUnmarshal(target func() any, inputs [][]byte, show func(v any) ([]byte, error)) contender.Work {
	var last any
	do := func(k int) (int, error) {
		into := target()
		err := i.Unmarshal(inputs[k], into)
		last = into
		return 0, err
	}
	return contender.Work{Do: do, Answer: func(k int) (contender.Answered, error) {
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		out, err := show(last)
		return contender.Answered{Output: out}, err
	}}
}

func newFields(pick func(data []byte) (any, error), inputs [][]byte) contender.Work {
	var last any
	do := func(k int) (int, error) {
		v, err := pick(inputs[k])
		last = v
		return 0, err
	}
	return contender.Work{Do: do, Answer: func(k int) (contender.Answered, error) {
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		out, err := json.Marshal(last)
		return contender.Answered{Output: out}, err
	}}
}

// newRoundTrip counts the size of the encoding as output, although only Unmarshal reads it.
func (i Impl) newRoundTrip(values []any, target func() any, show func(v any) ([]byte, error)) contender.Work {
	var last any
	do := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		if err != nil {
			return len(out), err
		}
		into := target()
		err = i.Unmarshal(out, into)
		last = into
		return len(out), err
	}
	return contender.Work{Fresh: !i.Shared, Do: do, Answer: func(k int) (contender.Answered, error) {
		size, err := do(k)
		if err != nil {
			return contender.Answered{}, err
		}
		out, err := show(last)
		return contender.Answered{Output: out, Size: int64(size)}, err
	}}
}
