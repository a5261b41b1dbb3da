package cgocopy

import (
	"fmt"
	"unsafe"
)

// ABI is a size or an offset that generated code relies on.
type ABI struct {
	Name  string // C expression, e.g. offsetof(Person, age)
	Bytes uint64 // value of the expression when the code was generated
}

// ABIError is the error of a library whose C types have another layout than the generated code expects.
type ABIError struct {
	Name string // C expression, e.g. offsetof(Person, age); "" if the library has other members
	Got  uint64 // bytes in the library
	Want uint64 // bytes in the generated code
}

// Error returns the error in one line.
func (e *ABIError) Error() string {
	if e.Name == "" {
		return "the library describes other members than this program was generated for: generate both again"
	}
	return fmt.Sprintf("the library has %s = %d, and this program was generated for %d", e.Name, e.Got, e.Want)
}

// CheckABI compares the layout of a loaded library with want, the layout of the generated code. p is the
// address of a table that a generated C file exports from the library. The table contains identity, a hash
// of the names in want, then the number of values and the values. The error is an [ABIError] for the first
// difference, or [ErrNilPointer].
func CheckABI(p unsafe.Pointer, identity uint64, want []ABI) error {
	if p == nil {
		return ErrNilPointer
	}
	head := (*[2]uint64)(p)
	if head[0] != identity || head[1] != uint64(len(want)) {
		return &ABIError{}
	}
	got := unsafe.Slice((*uint64)(unsafe.Add(p, unsafe.Sizeof(*head))), len(want))
	for i, w := range want {
		if got[i] != w.Bytes {
			return &ABIError{Name: w.Name, Got: got[i], Want: w.Bytes}
		}
	}
	return nil
}
