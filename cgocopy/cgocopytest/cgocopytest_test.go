package cgocopytest

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

type inner struct{ A, B int }

type outer struct {
	Name  string
	In    [2]inner
	List  []int
	Next  *inner
	quiet bool
}

// TestDifferences checks that each difference is a line that names the field.
func TestDifferences(t *testing.T) {
	want := outer{Name: "a", List: []int{1}}
	got := outer{Name: "b", In: [2]inner{{}, {B: 3}}, List: []int{2}, Next: &inner{}, quiet: true}
	list := listDifferences("", reflect.ValueOf(got), reflect.ValueOf(want))
	text := strings.Join(list, "\n")
	for _, line := range []string{`Name is "b", not "a" as C filled it`, "In[1].B is 3, not 0", "List[0] is 2, not 1", "Next is ", "quiet is true, not false"} {
		if !strings.Contains(text, line) {
			t.Errorf("nothing of %q in\n%s", line, text)
		}
	}
	if len(list) != 5 || listDifferences("", reflect.ValueOf(want), reflect.ValueOf(want)) != nil {
		t.Errorf("%q", list)
	}
}

func TestParse(t *testing.T) {
	m, arch, err := parseOutput([]byte("amd64\nfill0 3 0001ff\nfill1 1 00\n"))
	if err != nil || arch != "amd64" {
		t.Fatal(arch, err)
	}
	p := m.At(t, "fill0", 3)
	if b := *(*[3]byte)(p); b != [3]byte{0, 1, 0xff} || uintptr(p)%64 != 0 {
		t.Errorf("%v at %p", b, p)
	}
	for _, bad := range []string{"amd64\nfill0 2 00\n", "amd64\nfill0 x 00\n", "amd64\nfill0 1 zz\n", "amd64\nfill0\n"} {
		if _, _, err := parseOutput([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

type number int32

func (n *number) FromC(p unsafe.Pointer) error {
	*n = *(*number)(p)
	return nil
}

// TestRun checks that Go finds the value that C fills.
func TestRun(t *testing.T) {
	m := Run(t, Program{Headers: []string{"<stdint.h>"}, Source: "static void fill0(int32_t *v) { SET(*v, -77); }\n", Fills: []Fill{{"fill0", "int32_t"}}})
	Same(t, m, "fill0", 4, number(-77))
}
