package cgocopytest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy"
)

// Same compares a struct that C has filled with want, and fails the test with the differing fields. fill is
// the name of the C function. size is the size of the struct in the generated code. Same copies the struct
// twice: the second copy may reuse the texts of the first.
func Same[T any, P cgocopy.From[T]](t testing.TB, m *Memory, fill string, size int, want T) {
	t.Helper()
	var got T
	const maxLines = 20 // of a failure
	for range 2 {
		if err := P(&got).FromC(m.At(t, fill, size)); err != nil {
			t.Fatal(err)
		}
		if list := listDifferences("", reflect.ValueOf(got), reflect.ValueOf(want)); len(list) > 0 {
			t.Fatal(strings.Join(list[:min(len(list), maxLines)], "\n"))
		}
	}
}

// listDifferences returns a line per difference between two values. path is their path.
func listDifferences(path string, got, want reflect.Value) []string {
	var list []string
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			list = append(list, listDifferences(path+"."+got.Type().Field(i).Name, got.Field(i), want.Field(i))...)
		}
		return list
	case reflect.Array:
		for i := range got.Len() {
			list = append(list, listDifferences(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i))...)
		}
		return list
	case reflect.Slice:
		if got.Len() == want.Len() {
			for i := range got.Len() {
				list = append(list, listDifferences(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i))...)
			}
			return list
		}
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.Map, reflect.UnsafePointer:
		if got.Pointer() == want.Pointer() {
			return nil
		}
	default:
		if got.Equal(want) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %#v, not %#v as C filled it", strings.TrimPrefix(path, "."), got, want)}
}
