package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
)

// A codec is a library that encodes and decodes JSON. Each of its operations becomes a contender.Work.
// A Work has two functions:
//
//   - Do(k) runs the operation on input k and returns the size of the output. It is timed.
//   - Answer(k) runs the operation and returns its output, to be compared.
//
// Both call the same closure run, so that the timed operation is the compared one. run leaves its result in a
// variable that Answer reads. So the compiler cannot omit the work.

// newWork returns a Work that runs run. readResult returns the output of the last run, of size bytes.
func newWork(run func(k int) (size int, err error), readResult func(size int) (contender.Answered, error)) contender.Work {
	return contender.Work{Do: run, Answer: func(k int) (contender.Answered, error) {
		size, err := run(k)
		if err != nil {
			return contender.Answered{}, err
		}
		return readResult(size)
	}}
}

// newMarshal returns the work of encoding. Its Fresh is true if each call returns newly allocated memory.
func (i Impl) newMarshal(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
	var last []byte
	run := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		last = out
		return len(out), err
	}
	work := newWork(run, func(int) (contender.Answered, error) { return show(last) })
	work.Fresh = !i.Shared
	return work
}

// countingWriter counts the bytes written to it. It stores them only if storing is set.
type countingWriter struct {
	bytes   int
	storing bool
	stored  []byte
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.bytes += len(p)
	if w.storing {
		w.stored = append(w.stored, p...)
	}
	return len(p), nil
}

// newStream returns the work of encoding to a writer. The writer stores the bytes only for Answer.
func (i Impl) newStream(values []any, show func(out []byte) (contender.Answered, error)) contender.Work {
	w := new(countingWriter)
	run := func(k int) (int, error) {
		w.bytes = 0
		err := i.Stream(w, values[k])
		return w.bytes, err
	}
	return contender.Work{Do: run, Answer: func(k int) (contender.Answered, error) {
		w.storing, w.stored = true, nil
		defer func() { w.storing, w.stored = false, nil }() // also after a panic
		if _, err := run(k); err != nil {
			return contender.Answered{}, err
		}
		return show(w.stored)
	}}
}

func (i Impl) newUnmarshal(target func() any, inputs [][]byte, show func(v any) ([]byte, error)) contender.Work {
	var last any
	run := func(k int) (int, error) {
		v := target()
		err := i.Unmarshal(inputs[k], v)
		last = v
		return 0, err
	}
	return newWork(run, func(int) (contender.Answered, error) {
		out, err := show(last)
		return contender.Answered{Output: out}, err
	})
}

func newFields(readFields func(data []byte) (any, error), inputs [][]byte) contender.Work {
	var last any
	run := func(k int) (int, error) {
		v, err := readFields(inputs[k])
		last = v
		return 0, err
	}
	return newWork(run, func(int) (contender.Answered, error) {
		out, err := json.Marshal(last)
		return contender.Answered{Output: out}, err
	})
}

func (i Impl) newRoundTrip(values []any, target func() any, show func(v any) ([]byte, error)) contender.Work {
	var last any
	run := func(k int) (int, error) {
		out, err := i.Marshal(values[k])
		if err != nil {
			return len(out), err
		}
		v := target()
		err = i.Unmarshal(out, v)
		last = v
		return len(out), err
	}
	work := newWork(run, func(size int) (contender.Answered, error) {
		out, err := show(last)
		return contender.Answered{Output: out, Size: int64(size)}, err
	})
	work.Fresh = !i.Shared
	return work
}
