package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

func num(name string, kind ctype.Kind, size int64) *ctype.Type {
	return &ctype.Type{Kind: kind, Name: name, Size: size, Language: ctype.C}
}

func ptr(to *ctype.Type) *ctype.Type { return &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: to} }

func arr(of *ctype.Type, n int64) *ctype.Type {
	return &ctype.Type{Kind: ctype.Array, Elem: of, Count: n, Size: max(0, n) * of.Strip().Size}
}

func rec(name string, size int64, fields ...ctype.Field) *ctype.Type {
	return &ctype.Type{Kind: ctype.Struct, Name: name, Size: size, Fields: fields, File: "h.h", Line: 1, Language: ctype.C}
}

func at(name string, t *ctype.Type, offset int64) ctype.Field {
	return ctype.Field{Name: name, Type: t, Offset: offset, File: "h.h", Line: 2}
}

func derive(s *ctype.Type, o Options) (*Plan, string) {
	if o.Word == 0 {
		o.Word = 8
	}
	p, err := Derive([]Wanted{{"s", s}}, o)
	if err != nil {
		var all Refusals
		if !errors.As(err, &all) {
			return nil, "not refusals: " + err.Error()
		}
		return nil, err.Error()
	}
	return p, ""
}

// TestRefusals checks the errors of members that cannot be copied: the position, the reason and the remedy.
func TestRefusals(t *testing.T) {
	i32, u8, char := num("int", ctype.Int, 4), num("uint8_t", ctype.Uint, 1), num("char", ctype.Char, 1)
	double := num("double", ctype.Float, 8)
	ld := &ctype.Type{Kind: ctype.Other, Name: "long double", Size: 16, Why: "is a number of 16 bytes, for which Go has no type"}
	union := &ctype.Type{Kind: ctype.Union, Size: 4, Fields: []ctype.Field{at("i", i32, 0), at("f", num("float", ctype.Float, 4), 0)}}
	inner := rec("struct inner", 4, at("n", i32, 0))
	loop := rec("struct loop", 16, at("n", i32, 0))
	loop.Fields = append(loop.Fields, at("kids", ptr(loop), 8))
	bits := func(t *ctype.Type, from, width int64) ctype.Field {
		f := at("b", t, 0)
		f.BitOffset, f.BitSize = from, width
		return f
	}
	for name, tt := range map[string]struct {
		s    *ctype.Type
		tags map[string]Tag
		big  bool
		want string
	}{
		"long double":       {s: rec("struct s", 16, at("x", ld, 0)), want: "h.h:2: s.x (long double) is a number of 16 bytes, for which Go has no type; leave it out with -tag 's.x=-'"},
		"union":             {s: rec("struct s", 4, at("u", union, 0)), want: "s.u (union without a name) is a union, and C does not say which member holds; say how with -tag 's.u=,union=MEMBER:0:first,1:second'"},
		"pointer":           {s: rec("struct s", 8, at("p", ptr(i32), 0)), want: "s.p (int *) points to one value, or to many; say how with -tag 's.p=,len=MEMBER'"},
		"struct pointer":    {s: rec("struct s", 8, at("p", ptr(inner), 0)), want: "s.p (struct inner *) points to a struct, or to many; say how with -tag 's.p=,depth=1' for one, or ',len=MEMBER'"},
		"flexible":          {s: rec("struct s", 8, at("n", i32, 0), at("t", arr(i32, ctype.Flexible), 4)), want: "s.t (int []) is an array without a length; say how with -tag 's.t=,len=MEMBER'"},
		"no such count":     {s: rec("struct s", 16, at("n", i32, 0), at("p", ptr(i32), 8)), tags: map[string]Tag{"s.p": {Len: "m"}}, want: "s.p (int *) is counted by m, which is no number next to it; numbers there: n"},
		"no such case":      {s: rec("struct s", 8, at("u", union, 0), at("k", i32, 4)), tags: map[string]Tag{"s.u": {On: "k", Cases: map[int64]string{0: "x"}}}, want: "s.u (union without a name) has no member x; name one of its members for each value of k"},
		"empty array":       {s: rec("struct s", 4, at("n", i32, 0), at("z", arr(i32, 0), 4)), want: "s.z (int [0]) is an array of nothing"},
		"nothing in it":     {s: rec("struct s", 0), want: "h.h:1: s (struct s) has no size; there is nothing to copy"},
		"rust":              {s: &ctype.Type{Kind: ctype.Struct, Name: "struct s", Size: 4, Language: ctype.Rust}, want: "s (struct s) comes from Rust, whose layouts may change unless they are repr(C), and that cannot be seen; declare it #[repr(C)] and say so with -repr-c"},
		"incomplete":        {s: &ctype.Type{Kind: ctype.Struct, Name: "struct s", Incomplete: true}, want: "s (struct s) is declared but not defined; include the header that defines it"},
		"no struct":         {s: i32, want: "s (int) is no struct; name a struct"},
		"wide bit-field":    {s: rec("struct s", 16, bits(num("unsigned long long", ctype.Uint, 8), 3, 62)), want: "s.b (unsigned long long) is a bit-field across nine bytes"},
		"float bit-field":   {s: rec("struct s", 8, bits(double, 0, 3)), want: "s.b (double) is a bit-field of a type that is no integer"},
		"big-endian":        {s: rec("struct s", 4, bits(i32, 0, 3)), big: true, want: "s.b (int) is a bit-field of a processor that puts the highest byte first"},
		"two of one name":   {s: rec("struct s", 8, at("a_b", i32, 0), at("aB", i32, 4)), want: "s.aB (int) would be the second AB in Go; leave one of them out"},
		"a method's name":   {s: rec("struct s", 4, at("from_c", i32, 0)), want: "s.from_c (int) would be called FromC in Go, as a method is; leave it out with -tag 's.from_c=-'"},
		"no letter":         {s: rec("struct s", 4, at("_", i32, 0)), want: "s._ (int) has a name that cannot be written in Go"},
		"free":              {s: rec("struct s", 4, at("n", i32, 0)), tags: map[string]Tag{"s.n": {Free: "f"}}, want: "s.n (int) is no pointer, so nothing can be freed; take free= away"},
		"no such member":    {s: rec("struct s", 4, at("n", i32, 0)), tags: map[string]Tag{"s.m": {Skip: true}}, want: "s.m (tag) names no member of a type that was requested"},
		"idle word":         {s: rec("struct s", 4, at("n", i32, 0)), tags: map[string]Tag{"s.n": {Max: 3, UTF8: Refuse}}, want: "s.n (int) is nothing that max and utf8 in its tag could say more about; take that away"},
		"circle":            {s: loop, tags: map[string]Tag{"s.kids": {Len: "n"}}, want: "h.h:2: s.kids (struct loop *) leads to its own kind, which may go in a circle; add ,depth=N to its tag"},
		"tag of a struct":   {s: rec("struct s", 4, at("n", i32, 0)), tags: map[string]Tag{"s": {Len: "n"}}, want: "s (struct s) has a tag that a struct cannot have; the only one is free=FUNCTION"},
		"string of no text": {s: rec("struct s", 4, at("n", i32, 0)), tags: map[string]Tag{"s.n": {String: true}}, want: "is nothing that string in its tag"},
		"same Go name":      {s: rec("struct s", 16, at("a", rec("struct in", 4, at("n", i32, 0)), 0), at("b", rec("struct In", 4, at("c", u8, 0)), 4), at("c", char, 8)), want: "In (struct In) would be called In in Go, as struct in is; generate them into two packages"},
	} {
		if _, got := derive(tt.s, Options{Tags: tt.tags, Big: tt.big}); !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestArrayOfNothingThatIsCounted checks that a counted array of zero elements, as GNU C has them from
// before C99, is copied as a flexible array.
func TestArrayOfNothingThatIsCounted(t *testing.T) {
	i32 := num("int", ctype.Int, 4)
	for _, count := range []int64{0, ctype.Flexible} {
		s := rec("struct s", 4, at("n", i32, 0), at("items", arr(i32, count), 4))
		p, refused := derive(s, Options{Tags: map[string]Tag{"s.items": {Len: "n"}}})
		if refused != "" {
			t.Fatal(refused)
		}
		if r := p.Structs[0].Fields[1].Rule; r.Op != Tail || r.Go != "[]int32" || r.Max != MaxCount {
			t.Errorf("of %d elements: %+v", count, r)
		}
	}
}

// TestFlat checks that a struct is flat if Go gives it the layout that it has in C, and only then.
func TestFlat(t *testing.T) {
	i32, i64, u8 := num("int", ctype.Int, 4), num("int64_t", ctype.Int, 8), num("uint8_t", ctype.Uint, 1)
	point := rec("struct point", 16, at("x", num("double", ctype.Float, 8), 0), at("y", num("double", ctype.Float, 8), 8))
	for name, tt := range map[string]struct {
		s    *ctype.Type
		tags map[string]Tag
		word int64
		flat bool
	}{
		"numbers":           {s: rec("struct s", 16, at("a", i32, 0), at("b", i64, 8)), flat: true},
		"with an end":       {s: rec("struct s", 16, at("a", i64, 0), at("b", u8, 8)), flat: true},
		"nested":            {s: rec("struct s", 40, at("p", arr(point, 2), 0), at("n", i32, 32)), flat: true},
		"packed":            {s: rec("struct s", 12, at("a", i32, 0), at("b", i64, 4))},
		"packed at the end": {s: rec("struct s", 9, at("a", i64, 0), at("b", u8, 8))},
		"aligned to more":   {s: rec("struct s", 32, at("a", i64, 0), at("b", u8, 8))},
		"one left out":      {s: rec("struct s", 16, at("a", i64, 0), at("b", i64, 8)), tags: map[string]Tag{"s.b": {Skip: true}}},
		"a hole left":       {s: rec("struct s", 16, at("a", i32, 0), at("b", i32, 4), at("c", i64, 8)), tags: map[string]Tag{"s.b": {Skip: true}}},
		"on 386":            {s: rec("struct s", 12, at("a", i32, 0), at("b", i64, 4)), word: 4, flat: true},
		"with a bool":       {s: rec("struct s", 1, at("a", num("_Bool", ctype.Bool, 1), 0))},
		"with text":         {s: rec("struct s", 4, at("a", arr(num("char", ctype.Char, 1), 4), 0))},
		"with an address":   {s: rec("struct s", 8, at("a", ptr(nil), 0))},
	} {
		p, refused := derive(tt.s, Options{Tags: tt.tags, Word: tt.word})
		if refused != "" {
			t.Errorf("%s: %s", name, refused)
			continue
		}
		if got := p.Structs[len(p.Structs)-1].Flat; got != tt.flat {
			t.Errorf("%s: flat is %v", name, got)
		}
	}
}

func TestExported(t *testing.T) {
	for c, want := range map[string]string{
		"items_count": "ItemsCount", "GameObject": "GameObject", "id": "ID", "user_id": "UserID", "RUN_FAST": "RunFast", "x": "X", "_pad": "Pad",
		"__a__b": "AB", "3d": "N3d", "geo::Point": "GeoPoint", "_": "", "url": "URL", "sHTTP": "SHTTP", "größe": "Größe",
	} {
		if got := Exported(c); got != want {
			t.Errorf("%q is %q, want %q", c, got, want)
		}
	}
}

// TestEnums checks that the names of values are unique, and that a large value is unchanged.
func TestEnums(t *testing.T) {
	e := &ctype.Type{Kind: ctype.Enum, Name: "enum mode", Size: 8, Elem: num("unsigned long", ctype.Uint, 8), Language: ctype.C, Enumerators: []ctype.Enumerator{{Name: "a_b", Value: 1}, {Name: "aB", Value: 2}, {Name: "MODE_MAX", Value: -1}}}
	p, refused := derive(rec("struct s", 8, at("m", e, 0)), Options{})
	if refused != "" {
		t.Fatal(refused)
	}
	var got []string
	for _, v := range p.Enums[0].Values {
		got = append(got, v.Go)
	}
	if strings.Join(got, " ") != "ModeAB Mode_aB ModeMax" {
		t.Errorf("%v", got)
	}
	e.Name = ""
	p, refused = derive(rec("struct s", 8, at("m", &ctype.Type{Kind: ctype.Typedef, Name: "mode_t", Elem: e}, 0)), Options{})
	if refused != "" || p.Enums[0].Go != "ModeT" || p.Enums[0].C.String() != "mode_t" {
		t.Errorf("%s: %+v", refused, p)
	}
}
