package copier

import (
	"reflect"
	"unsafe"

	"github.com/tarebench/tare/contender"
)

// Type defines how values of one C type become T. Each function is called directly, without an interface or a
// closure in between, and so in the same way for all copiers. A nil operation is not supported, unless stated
// otherwise.
type Type[T any] struct {
	// Fill fills dst from the C value at p. It may keep what dst has where that
	// is still right.
	Fill func(dst *T, p unsafe.Pointer) error

	// New is a new value on the heap. Nil: new(T) and Fill.
	New func(p unsafe.Pointer) (*T, error)

	// Value is a new value that the caller has the room for. Nil: that is set to
	// nothing and filled.
	Value func(p unsafe.Pointer) (T, error)

	// Slice fills n values from the C array at p. dst is nil, or what it returned
	// before and may be filled again.
	Slice func(dst []T, p unsafe.Pointer, n int) ([]T, error)
}

// Copies is a [Type] of any T.
type Copies interface {
	newWork(op string, g input) (contender.Work, error)
}

// Of returns the copies of one C type.
func Of[T any](t Type[T]) Copies { return copies[T]{t} }

type copies[T any] struct{ Type[T] }

// newWork returns the operation op. The output for Answer is the result of the timed function itself, on the
// heap, so the compiler cannot drop it.
func (c copies[T]) newWork(op string, g input) (contender.Work, error) {
	if g.memory == nil {
		for _, seed := range g.seeds {
			values := newValues[T](g.shape, g.names, seed)
			g.at = append(g.at, unsafe.Pointer(&values[0]))
		}
	}
	var do func(i int) (int, error)
	var left func(i int) any
	switch {
	case op == OpSingle && c.New != nil:
		do, left = c.newSingleByNew(g)
	case op == OpSingle && c.Fill != nil:
		do, left = c.newSingle(g)
	case op == OpValue && c.Value != nil:
		do, left = c.newValue(g)
	case op == OpValue && c.Fill != nil:
		do, left = c.newValueByFill(g)
	case op == OpInto && c.Fill != nil:
		do, left = c.newInto(g)
	case op == OpBatch && c.Slice != nil:
		do, left = c.newBatch(g)
	case op == OpBatchInto && c.Slice != nil:
		do, left = c.newBatchInto(g)
	case op == OpFrame && c.Slice != nil:
		do, left = c.newFrame(g)
	default:
		return contender.Work{}, contender.ErrUnsupported
	}
	return contender.Work{
		Fresh: op == OpSingle || op == OpBatch, Do: do,
		Answer: func(k int) (contender.Answered, error) {
			if _, err := do(k); err != nil && !g.ignoreErrors {
				return contender.Answered{}, err
			}
			v := reflect.ValueOf(left(k))
			if g.ignoreErrors && v.Kind() == reflect.Pointer && v.IsNil() {
				v = reflect.New(v.Type().Elem()) // the value was not filled
			}
			return contender.Answered{Output: appendValue(nil, v), Size: countBytes(v)}, nil
		},
	}, nil
}

func (c copies[T]) newSingle(g input) (do func(i int) (int, error), left func(i int) any) {
	fill, at := c.Fill, g.at
	var last *T
	return func(i int) (int, error) {
		v := new(T)
		err := fill(v, at[i])
		last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newSingleByNew(g input) (do func(i int) (int, error), left func(i int) any) {
	make, at := c.New, g.at
	var last *T
	return func(i int) (int, error) {
		v, err := make(at[i])
		last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newValue(g input) (do func(i int) (int, error), left func(i int) any) {
	value, at := c.Value, g.at
	last := new(T)
	return func(i int) (int, error) {
		v, err := value(at[i])
		*last = v
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newValueByFill(g input) (do func(i int) (int, error), left func(i int) any) {
	fill, at := c.Fill, g.at
	last := new(T)
	return func(i int) (int, error) {
		var nothing T
		*last = nothing
		return 0, fill(last, at[i])
	}, func(int) any { return last }
}

func (c copies[T]) newInto(g input) (do func(i int) (int, error), left func(i int) any) {
	fill, at := c.Fill, g.at
	kept := make([]T, len(at))
	return func(i int) (int, error) { return 0, fill(&kept[i], at[i]) },
		func(i int) any { return &kept[i] }
}

func (c copies[T]) newBatch(g input) (do func(i int) (int, error), left func(i int) any) {
	slice, at, n := c.Slice, g.at, g.shape.Count
	var last []T
	return func(i int) (int, error) {
		list, err := slice(nil, at[i], n)
		last = list
		return 0, err
	}, func(int) any { return last }
}

func (c copies[T]) newBatchInto(g input) (do func(i int) (int, error), left func(i int) any) {
	slice, at, n := c.Slice, g.at, g.shape.Count
	kept := make([][]T, len(at))
	return func(i int) (int, error) {
		var err error
		kept[i], err = slice(kept[i], at[i], n)
		return 0, err
	}, func(i int) any { return kept[i] }
}

// newFrame gets the array from C each time. A copier that starts from Go values has no C memory; it gets a
// batch-into.
func (c copies[T]) newFrame(g input) (do func(i int) (int, error), left func(i int) any) {
	if g.memory == nil {
		return c.newBatchInto(g)
	}
	slice, memory := c.Slice, g.memory
	kept := make([][]T, len(g.seeds))
	return func(i int) (int, error) {
		p, n := memory.At(i)
		var err error
		kept[i], err = slice(kept[i], p, n)
		return 0, err
	}, func(i int) any { return kept[i] }
}
