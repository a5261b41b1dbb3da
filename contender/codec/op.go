package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// This file makes the work of a codec for each operation, such as encoding. A contender.Work has a function Do,
// which is timed, and a function Answer, whose result is compared with those of other codecs. Do is do, which
// runs the operation on value k or input k and returns the size of the output. Answer also calls do: a separate
// function could be correct although the timed one is wrong. Because Answer reads the result, the compiler
// cannot omit the work. show converts the result into the form that is compared.

// newMarshal returns the work of encoding. Fresh means that each call returns newly allocated memory.
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

// newStream returns the work of encoding to a writer. Only Answer stores what is written.
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

// newUnmarshal returns the work of decoding each input into a new value that target makes.
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

// newFields returns the work of reading a few fields of each input with readFields.
func newFields(readFields func(data []byte) (any, error), inputs [][]byte) contender.Work {
	var last any
	do := func(k int) (int, error) {
		v, err := readFields(inputs[k])
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

// newRoundTrip returns the work of encoding each value and decoding the encoding.
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
