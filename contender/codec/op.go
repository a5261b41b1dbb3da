package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// In all three operations an answer is what the timed function itself left
// behind: there is no second path that could be right where the timed one is
// wrong. What it leaves behind lives on the heap and is read by Answer, so the
// compiler has to keep every result.

func (i Impl) marshal(values []any) contender.Work {
	var last []byte
	do := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		last = out
		return len(out), err
	}
	return contender.Work{Fresh: !i.Shared, Do: do, Answer: func(k int) ([]byte, error) {
		_, err := do(k)
		return last, err
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

func (i Impl) stream(values []any) contender.Work {
	w := new(sink)
	do := func(k int) (int, error) {
		w.bytes = 0
		err := i.Stream(w, values[k])
		return w.bytes, err
	}
	return contender.Work{Do: do, Answer: func(k int) ([]byte, error) {
		w.keep, w.kept = true, nil
		_, err := do(k)
		out := w.kept
		w.keep, w.kept = false, nil
		return out, err
	}}
}

// unmarshal answers with what was decoded, written by encoding/json.
func (i Impl) unmarshal(target func() any, bodies [][]byte) contender.Work {
	var last any
	do := func(k int) (int, error) {
		into := target()
		err := i.Unmarshal(bodies[k], into)
		last = into
		return 0, err
	}
	return contender.Work{Do: do, Answer: func(k int) ([]byte, error) {
		if _, err := do(k); err != nil {
			return nil, err
		}
		return json.Marshal(last)
	}}
}
