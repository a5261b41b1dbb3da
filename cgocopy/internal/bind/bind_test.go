package bind_test

import (
	"context"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/bind"
	"github.com/tarebench/tare/cgocopy/internal/cc"
	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/object"
	"github.com/tarebench/tare/cgocopy/internal/plan"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const oddHeader = `struct far;
typedef struct { double x, y, z; } Point3D;
struct node { struct node *kids; int kids_count; };
enum kind { LOW = -1, HIGH = 70000 };
typedef struct {
	int n;
	unsigned u;
	long wide;
	double d;
	char name[8];
	char c;
	const char *text;
	int *numbers;
	int count;
	int pair[2];
	Point3D point, other, third;
	struct far *away;
	enum kind kind;
	unsigned bits : 9;
	int low : 3;
	_Bool yes;
	union { int i; float f; } un;
	int tag;
	void (*call)(void);
	long double huge;
	int snake_case, snakecase;
	Point3D *at;
	unsigned char raw[4];
	struct node *nodes;
	int room[6];
	_Bool flags[2];
} Odd;
`

// odd compiles oddHeader, and returns the object file and the type Odd.
func odd(t *testing.T) (*object.File, *ctype.Type) {
	t.Helper()
	testenv.Programs(t, "gcc")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "odd.h"), []byte(oddHeader), 0o600); err != nil {
		t.Fatal(err)
	}
	f, found, err := cc.Read(context.Background(), cc.Config{Headers: []string{"odd.h"}, Types: []string{"Odd"}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return f, found["Odd"]
}

// derive binds a Go type Odd with these fields to the type Odd of the header.
func derive(t *testing.T, f *object.File, c *ctype.Type, fields string) (*bind.Result, error) {
	t.Helper()
	dir := t.TempDir()
	src := "package odd\n\nimport (\n\t\"image\"\n\t\"time\"\n\t\"example.invalid/nowhere\"\n)\n\nvar _ = image.Point{}\n\n" +
		"type Small struct{ X, Y, Z float32 }\n\ntype Pair struct{ X, Q float64 }\n\ntype One struct{ I int }\n\n" +
		"type Three struct {\n\tI int\n\tF float32\n\tExtra int\n}\n\ntype Tiny uint8\n\ntype Made struct{ X, Y, Z float64 }\n\n" +
		"type Node struct{ Kids []Node `cgocopy:\",len=kids_count\"` }\n\ntype Right struct{ X, Y, Z float64 }\n\ntype Part struct{ Z, X float64 }\n\nfunc (*Made) FromC() {}\n\ntype Param[T any] struct{ X, Y, Z float64 }\n\ntype Odd struct { " + fields + " }\n"
	if err := os.WriteFile(filepath.Join(dir, "odd.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := bind.Load(build.Default, dir, func(string) bool { return false }, f.Arch)
	if err != nil {
		t.Fatal(err)
	}
	return bind.Derive(s, []bind.Pair{{Go: "Odd", C: "Odd", Type: c}}, plan.Options{Word: 8})
}

// TestRefusals checks the errors of fields that cannot take a member: positions, reason and remedy.
func TestRefusals(t *testing.T) {
	f, c := odd(t)
	for _, one := range []struct{ field, want string }{
		{"N int16", "Odd.N (int16) cannot hold Odd.n (int, "},
		{"N int16", "that has 32 bits, int16 has 16; make it int32, or wider"},
		{"N uint32", "that can be below zero, uint32 cannot; make it int32, or wider"},
		{"N float64", "one is an integer, the other has fractions"},
		{"N string", "that is a number; make it int32, or wider"},
		{"N bool", "that is a number"},
		{"U int32", "that can be above the largest int32; make it uint32, or wider"},
		{"Wide int32", "that has 64 bits, int32 has 32"},
		{"D float32", "that has 64 bits, float32 has 32"},
		{"Name int", "Odd.Name (int) cannot hold Odd.name (char [8], "},
		{"Name [7]byte", "that has 8 elements, not 7"},
		{"Name [8]int16", "whether char has a sign differs by processor"},
		{"Name []rune", "make it string, []byte or [8]byte"},
		{"C int", "whether char has a sign differs by processor, so it is not made wider; make it byte or int8"},
		{"Text int", "that is text; make it string or []byte, or uintptr for the bare address"},
		{"Numbers []int32", "which points to one value, or to many; say how with the tag `cgocopy:\"numbers,len=MEMBER\"`"},
		{"Numbers []int32 `cgocopy:\",len=nothing\"`", "which is counted by nothing, which is no number next to it; numbers there: "},
		{"Numbers int `cgocopy:\",len=count\"`", "that is as many as count says; make it a slice"},
		{"Numbers []int16 `cgocopy:\",len=count\"`", "that has 32 bits, int16 has 16"},
		{"Numbers *int32", "which points to one value, or to many"},
		{"Pair [3]int32", "that has 2 elements, not 3; make it an array of 2"},
		{"Pair []int32", "make it an array of 2, or say which member counts"},
		{"Point struct{ X, Y, Z float64 }", "this one has no name to give methods to; declare it as a type of its own"},
		{"Point image.Point", "this one is of another package"},
		{"Point nowhere.Point", "its type cannot be resolved"},
		{"Point [3]float64", "that is a struct; make it a struct declared in this package"},
		{"Point Small", "Small.X (float32) cannot hold Point3D.x (double, "},
		{"Point Made", "Made (Point3D) has a method FromC already"},
		{"Point Param[int]", "this one has type parameters"},
		{"Other Pair", "Pair.Q (float64) has no member of its name in Point3D"},
		{"Away *Odd `cgocopy:\",depth=1\"`", "is declared but not defined"},
		{"Kind uint32", "that can be below zero, uint32 cannot"},
		{"Kind Tiny", "Odd.Kind (Tiny) cannot hold Odd.kind (enum kind, "},
		{"Bits uint8", "that has 9 bits, uint8 has room for 8"},
		{"Bits bool", "that is a number of 9 bits"},
		{"Low uint8", "that can be below zero, uint8 cannot"},
		{"Yes int", "that becomes bool; make it bool"},
		{"Un int32", "which is a union, and C does not say which member holds; say how with the tag `cgocopy:\"un,union="},
		{"Un int32 `cgocopy:\",union=tag:0:i,1:f\"`", "that is a union; make it a struct with a field for each member"},
		{"Un One `cgocopy:\",union=tag:0:i,1:f\"`", "it has no field for the union's member f; declare one, e.g. F float32"},
		{"Un Three `cgocopy:\",union=tag:0:i,1:f\"`", "its field Extra takes no member of the union that the tag names"},
		{"Call int", "that becomes uintptr; make it uintptr"},
		{"Huge float64", "which is a number of 16 bytes, for which Go has no type; leave it out with the tag `cgocopy:\"-\"`"},
		{"SnakeCase_ int", "could take snake_case and snakecase in Odd"},
		{"Missing int", "Odd.Missing (int) has no member of its name in Odd"},
		{"Named int `cgocopy:\"missing\"`", "takes missing by its tag, and there is no such member in Odd"},
		{"At *Small", "or to many; say how with the tag `cgocopy:\"at,depth=1\"` for one, or `cgocopy:\"at,len=MEMBER\"`"},
		{"N int `cgocopy:\",max=4\"`", "which is nothing that max in its tag could say more about; take that away"},
		{"N int `cgocopy:\",len=count\"`", "which is nothing that len in its tag could say more about"},
		{"N int `cgocopy:\",utf8=error\"`", "which is nothing that utf8 in its tag could say more about"},
		{"N int `cgocopy:\",enum\"`", "which is no enum; take the word enum out of its tag"},
		{"Nodes []Node `cgocopy:\",len=count\"`", "Node.Kids ([]Node) takes struct node.kids (struct node *, "},
		{"Nodes []Node `cgocopy:\",len=count\"`", "which leads to its own kind, which may go in a circle; add ,depth=N to its tag"},
		{"FromC int `cgocopy:\"n\"`", "has the name of a method that is generated"},
		{"N int `cgocopy:\",colour\"`", "has a tag that cannot be read: unknown word"},
		{"A int `cgocopy:\"n\"`; N int", "takes Odd.n (int, "},
		{"A int `cgocopy:\"n\"`; N int", "as A does; take one of them away"},
	} {
		_, err := derive(t, f, c, one.field)
		if err == nil || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), "odd.go:") {
			t.Errorf("%s: %v\nwant %s", one.field, err, one.want)
		}
	}
}

// TestRules checks the rules that follow from the C type and the Go type.
func TestRules(t *testing.T) {
	f, c := odd(t)
	for _, one := range []struct {
		field string
		op    plan.Op
		from  string
		wide  bool
	}{
		{"N int32", plan.Load, "", false},
		{"N int", plan.Load, "int32", false},
		{"N time.Duration", plan.Load, "int32", false},
		{"U int", plan.Load, "uint32", true},
		{"U int64", plan.Load, "uint32", false},
		{"U uint", plan.Load, "uint32", false},
		{"Wide int", plan.Load, "", true},
		{"Wide int64", plan.Load, "", false},
		{"D float64", plan.Load, "", false},
		{"C int8", plan.Load, "", false},
		{"Kind int", plan.Load, "int32", false},
		{"Name string", plan.Chars, "", false},
		{"Name []byte", plan.Chars, "", false},
		{"Name [8]byte", plan.Load, "", false},
		{"Raw string", plan.Chars, "", false},
		{"Raw [4]byte", plan.Load, "", false},
		{"Text uintptr", plan.Opaque, "", false},
		{"Text string", plan.Text, "", false},
		{"Text []byte `cgocopy:\",len=count\"`", plan.Slice, "", false},
		{"Numbers uintptr", plan.Opaque, "", false},
		{"Numbers []int `cgocopy:\",len=count\"`", plan.Slice, "", false},
		{"Pair [2]int", plan.Each, "", false},
		{"Text string `cgocopy:\",len=count\"`", plan.Text, "", false},
		{"Text []byte", plan.Text, "", false},
		{"Room []int32 `cgocopy:\",len=count\"`", plan.Tail, "", false},
		{"Flags [2]bool", plan.Each, "", false},
		{"Un struct{ I int; Real float64 `cgocopy:\"f\"` } `cgocopy:\",union=tag:0:i,1:f\"`", plan.Union, "", false},
		{"Pair [2]int32", plan.Load, "", false},
		{"Low int8", plan.Bits, "", false},
		{"Bits uint16", plan.Bits, "", false},
		{"At *Right `cgocopy:\",depth=1\"`", plan.Deref, "", false},
		{"At []Right `cgocopy:\",len=count\"`", plan.Slice, "", false},
		{"Point Right", plan.Load, "", false},
		{"Point Part", plan.Nested, "", false},
		{"Call uintptr", plan.Opaque, "", false},
	} {
		r, err := derive(t, f, c, one.field)
		if err != nil {
			t.Errorf("%s: %v", one.field, err)
			continue
		}
		s := r.Plan.Structs[len(r.Plan.Structs)-1]
		if got := s.Fields[0].Rule; got.Op != one.op || got.From != one.from || r.Wide != one.wide || s.Flat {
			t.Errorf("%s: op %d from %q wide %v flat %v, want %d %q %v", one.field, got.Op, got.From, r.Wide, s.Flat, one.op, one.from, one.wide)
		}
	}
}

// TestLeft checks that each member is taken by a field, counts another, or is noted.
func TestLeft(t *testing.T) {
	f, c := odd(t)
	r, err := derive(t, f, c, "N, U int64; Numbers []int32 `cgocopy:\",len=count\"`; inner int; Own string `cgocopy:\"-\"`")
	if err != nil {
		t.Fatal(err)
	}
	members := plan.Members(c.Strip())
	if len(r.Untaken)+4 != len(members) {
		t.Errorf("%d of %d left: %v", len(r.Untaken), len(members), r.Untaken)
	}
	for _, l := range r.Untaken {
		if !strings.Contains(l.String(), "odd.h:") || !strings.Contains(l.String(), "is taken by no field of Odd") {
			t.Errorf("note %q", l)
		}
	}
}
