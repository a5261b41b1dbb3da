package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// This file makes the functions Do and Answer of each operation. Do is timed. Answer calls the same function,
// do, and shows its result, which is compared with those of other codecs: a separate function could be correct
// although the timed one is wrong. Because Answer reads the result, the compiler cannot omit the work.

// newMarshal returns the work of encoding. show turns an encoding into an answer.
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

// sink is a writer that counts the bytes written to it, and stores them if storing is set.
type sink struct {
	bytes   int
	storing bool
	stored  []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	if s.storing {
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
		w.storing, w.stored = true, nil
		defer func() { w.storing, w.stored = false, nil }() // also after a panic
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		return show(w.stored)
	}}
}

func (i Impl) newUnmarshal(target func() any, inputs [][]byte, show func(v any) ([]byte, error)) contender.Work {
	var last any
	do := func(k int) (int, error) {
		v := target()
		err := i.Unmarshal(inputs[k], v)
		last = v
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

// newRoundTrip returns the work of encoding and decoding. The size of its output is the size of the encoding.
func (i Impl) newRoundTrip(values []any, target func() any, show func(v any) ([]byte, error)) contender.Work {
	var last any
	do := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		if err != nil {
			return len(out), err
		}
		v := target()
		err = i.Unmarshal(out, v)
		last = v
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
