package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// In all operations an answer is what the timed function itself left behind:
// there is no second path that could be right where the timed one is wrong.
// What it leaves behind lives on the heap and is read by Answer, so the
// compiler has to keep every result.

func (i Impl) marshal(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
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

// sink counts what is written to it, and keeps it when asked to.
type sink struct {
	bytes int
	keep  bool
	kept  []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	if s.keep {
		s.kept = append(s.kept, p...)
	}
	return len(p), nil
}

func (i Impl) stream(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
	w := new(sink)
	do := func(k int) (int, error) {
		w.bytes = 0
		err := i.Stream(w, values[k])
		return w.bytes, err
	}
	return contender.Work{Do: do, Answer: func(k int) (contender.Answered, error) {
		w.keep, w.kept = true, nil
		defer func() { w.keep, w.kept = false, nil }() // a panic must not leave it keeping
		if _, err := do(k); err != nil {
			return contender.Answered{}, err
		}
		return show(w.kept)
	}}
}

func (i Impl) unmarshal(target func() any, inputs [][]byte, show func(v any) ([]byte, error)) contender.Work {
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

func fields(pick func(data []byte) (any, error), inputs [][]byte) contender.Work {
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

// roundtrip puts out the encoding, though nobody but Unmarshal sees it.
func (i Impl) roundtrip(values []any, target func() any, show func(v any) ([]byte, error)) contender.Work {
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
