package plan

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// TestNameless checks that a union without a name has the name of the first member that C can refer to, and
// is rejected unless a tag omits it.
func TestNameless(t *testing.T) {
	i32 := num("int", ctype.Int, 4)
	part := func(name string, from, width int64) ctype.Field {
		f := at(name, i32, 0)
		f.BitOffset, f.BitSize = from, width
		return f
	}
	pair := rec("", 8, at("lo", i32, 0), at("hi", i32, 4))
	flags := rec("", 4, part("", 0, 1), part("ready", 1, 3))
	whole := at("whole", num("long", ctype.Int, 8), 0)
	for name, tt := range map[string]struct {
		fields []ctype.Field
		want   string
	}{
		"a struct first":    {[]ctype.Field{at("", pair, 0), whole}, "s.lo"},
		"a member first":    {[]ctype.Field{whole, at("", pair, 0)}, "s.whole"},
		"bit-fields first":  {[]ctype.Field{at("", flags, 0), whole}, "s.whole"},
		"only bit-fields":   {[]ctype.Field{at("", flags, 0)}, "s.ready"},
		"a union in it":     {[]ctype.Field{at("", &ctype.Type{Kind: ctype.Union, Size: 8, Fields: []ctype.Field{at("", pair, 0)}}, 0)}, "s.lo"},
		"a bit-field alone": {[]ctype.Field{part("on", 0, 1)}, "s.on"},
	} {
		s := rec("struct s", 16, at("n", i32, 0), at("", &ctype.Type{Kind: ctype.Union, Size: 8, Fields: append(tt.fields, part("odd", 0, 2))}, 8))
		if _, refused := derive(s, Options{}); !strings.Contains(refused, tt.want+" (union without a name) is a union, and C does not say which member holds") {
			t.Errorf("%s: it says %q", name, refused)
		}
		if p, refused := derive(s, Options{Tags: map[string]Tag{tt.want: {Skip: true}}}); refused != "" || len(p.Structs[0].Fields) != 1 {
			t.Errorf("%s, left out: it says %q", name, refused)
		}
		for _, m := range Members(s) {
			if m.Nameless() && "s."+m.Name != tt.want {
				t.Errorf("%s: the member is %s", name, m.Name)
			}
		}
	}
}

// TestAsked checks that types have the names by which the user requests them, also as members of types
// before them, and that a second name for a type, and a union, are rejected.
func TestAsked(t *testing.T) {
	point := rec("struct point", 8, at("x", num("int", ctype.Int, 4), 0), at("y", num("int", ctype.Int, 4), 4))
	vec := &ctype.Type{Kind: ctype.Typedef, Name: "vec", Elem: point}
	outer := rec("struct outer", 8, at("v", vec, 0))
	number := &ctype.Type{Kind: ctype.Union, Name: "union u", Size: 4, File: "h.h", Line: 3, Fields: []ctype.Field{at("i", num("int", ctype.Int, 4), 0), at("f", num("float", ctype.Float, 4), 0)}}
	p, err := Derive([]Wanted{{"outer", outer}, {"point", point}}, Options{Word: 8})
	if err != nil || len(p.Structs) != 2 || p.Structs[0].Go != "Point" || p.Structs[0].CName != "struct point" || p.Structs[1].Fields[0].Rule.Go != "Point" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = Derive([]Wanted{{"vec", vec}, {"point", point}, {"u", number}, {"vec", vec}}, Options{Word: 8})
	want := "h.h:1: point (struct point) is the same type as vec; ask for one of the two\n" +
		"h.h:3: u (union u) is a union, and nothing around it shows which member holds; where its members begin with a number that does, say so with -tag 'u=union=MEMBER:0:first,1:second'; or name the structs in it, and fill the one that holds; or a struct that it is in"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
