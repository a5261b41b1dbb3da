package copier

import (
	"reflect"
	"unsafe"

	"github.com/tarebench/tare/contender"
)

// Type defines how values of one C type are copied into a T. The timed loop calls functions directly, so the
// overhead is the same for all copiers. Operations of nil functions are not supported.
type Type[T any] struct {
	// Fill copies the C value at p into dst. It may leave parts that are already correct.
	Fill func(dst *T, p unsafe.Pointer) error

	// New copies the C value at p to the heap. If nil, new(T) and Fill are used.
	New func(p unsafe.Pointer) (*T, error)

	// Value returns a copy of the C value at p. If nil, Fill gets a zero T of the caller.
	Value func(p unsafe.Pointer) (T, error)

	// Slice copies the n values of the C array at p. If dst is nil, the slice is new. Otherwise dst may be
	// overwritten.
	Slice func(dst []T, p unsafe.Pointer, n int) ([]T, error)
}

// Copies is a [Type] of any T.
type Copies interface {
	newWork(op string, in input) (contender.Work, error)
}

// Of returns the copies of one C type.
func Of[T any](t Type[T]) Copies { return copies[T]{t} }

type copies[T any] struct{ Type[T] }

// newWork chooses one of the functions below. Each returns the timed function do, and one for the result of
// the last do(i). Results are on the heap, so that the compiler cannot drop them.
func (c copies[T]) newWork(op string, in input) (contender.Work, error) {
	if in.memory == nil {
		for _, seed := range in.seeds {
			values := newValues[T](in.shape, in.names, seed)
			in.pointers = append(in.pointers, unsafe.Pointer(&values[0]))
		}
	}
	var do func(i int) (int, error)
	var result func(i int) any
	switch {
	case op == OpSingle && c.New != nil:
		do, result = c.newSingleByNew(in)
	case op == OpSingle && c.Fill != nil:
		do, result = c.newSingle(in)
	case op == OpValue && c.Value != nil:
		do, result = c.newValue(in)
	case op == OpValue && c.Fill != nil:
		do, result = c.newValueByFill(in)
	case op == OpInto && c.Fill != nil:
		do, result = c.newInto(in)
	case op == OpBatch && c.Slice != nil:
		do, result = c.newBatch(in)
	case op == OpBatchInto && c.Slice != nil:
		do, result = c.newBatchInto(in)
	case op == OpFrame && c.Slice != nil:
		do, result = c.newFrame(in)
	default:
		return contender.Work{}, contender.ErrUnsupported
	}
	allocates := op == OpSingle || op == OpBatch // each operation makes a new value
	return contender.Work{
		Fresh: allocates, Do: do,
		Answer: func(k int) (contender.Answered, error) {
			if _, err := do(k); err != nil && !in.ignoreErrors {
				return contender.Answered{}, err
			}
			return in.showResult(result(k)), nil
		},
	}, nil
}

// showResult formats a result. After an ignored error a pointer may be nil; it then shows a zero value.
func (in input) showResult(result any) contender.Answered {
	v := reflect.ValueOf(result)
	if in.ignoreErrors && v.Kind() == reflect.Pointer && v.IsNil() {
		v = reflect.New(v.Type().Elem())
	}
	return contender.Answered{Output: appendValue(nil, v), Size: countBytes(v)}
}

func (c copies[T]) newSingle(in input) (do func(i int) (int, error), result func(i int) any) {
	fill, pointers := c.Fill, in.pointers
	var last *T
	return func(i int) (int, error) {
		v := new(T)
		err := fill(v, pointers[i])
		last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newSingleByNew(in input) (do func(i int) (int, error), result func(i int) any) {
	newCopy, pointers := c.New, in.pointers
	var last *T
	return func(i int) (int, error) {
		v, err := newCopy(pointers[i])
		last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newValue(in input) (do func(i int) (int, error), result func(i int) any) {
	copyValue, pointers := c.Value, in.pointers
	last := new(T)
	return func(i int) (int, error) {
		v, err := copyValue(pointers[i])
		*last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newValueByFill(in input) (do func(i int) (int, error), result func(i int) any) {
	fill, pointers := c.Fill, in.pointers
	last := new(T)
	return func(i int) (int, error) {
		var zero T
		*last = zero
		return 0, fill(last, pointers[i])
	}, func(int) any { return last }
}

func (c copies[T]) newInto(in input) (do func(i int) (int, error), result func(i int) any) {
	fill, pointers := c.Fill, in.pointers
	values := make([]T, len(pointers))
	return func(i int) (int, error) { return 0, fill(&values[i], pointers[i]) },
		func(i int) any { return &values[i] }
}

func (c copies[T]) newBatch(in input) (do func(i int) (int, error), result func(i int) any) {
	copySlice, pointers, n := c.Slice, in.pointers, in.shape.Count
	var last []T
	return func(i int) (int, error) {
		list, err := copySlice(nil, pointers[i], n)
		last = list
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newBatchInto(in input) (do func(i int) (int, error), result func(i int) any) {
	copySlice, pointers, n := c.Slice, in.pointers, in.shape.Count
	slices := make([][]T, len(pointers))
	return func(i int) (int, error) {
		var err error
		slices[i], err = copySlice(slices[i], pointers[i], n)
		return 0, err
	}, func(i int) any { return slices[i] }
}

// newFrame returns the work of a frame: it calls C for the array each time. Without C memory it is the
// operation batch-into.
func (c copies[T]) newFrame(in input) (do func(i int) (int, error), result func(i int) any) {
	if in.memory == nil {
		return c.newBatchInto(in)
	}
	copySlice, memory := c.Slice, in.memory
	slices := make([][]T, len(in.seeds))
	return func(i int) (int, error) {
		p, n := memory.At(i)
		var err error
		slices[i], err = copySlice(slices[i], p, n)
		return 0, err
	}, func(i int) any { return slices[i] }
}
