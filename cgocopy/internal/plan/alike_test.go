package plan

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

func union(name string, fields ...ctype.Field) *ctype.Type {
	var size int64
	for _, f := range fields {
		size = max(size, f.Type.Size)
	}
	return &ctype.Type{Kind: ctype.Union, Name: name, Size: size, Fields: fields}
}

// TestAlike checks that a union is copied as its first member if all others consist of the same bits,
// in numbers of the same sort, and that other unions are rejected.
func TestAlike(t *testing.T) {
	u8, u16, u32, u64 := num("unsigned char", ctype.Uint, 1), num("unsigned short", ctype.Uint, 2), num("unsigned int", ctype.Uint, 4), num("unsigned long", ctype.Uint, 8)
	i32, i64, f32, f64 := num("int", ctype.Int, 4), num("long", ctype.Int, 8), num("float", ctype.Float, 4), num("double", ctype.Float, 8)
	array := func(n int64, elem *ctype.Type) *ctype.Type {
		return &ctype.Type{Kind: ctype.Array, Count: n, Elem: elem, Size: n * elem.Size}
	}
	bits := func(name string, of *ctype.Type, byteAt, from, width int64) ctype.Field {
		return ctype.Field{Name: name, Type: of, Offset: byteAt, BitOffset: from, BitSize: width}
	}
	to := func(elem *ctype.Type) *ctype.Type { return &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: elem} }
	text := num("char", ctype.Char, 1)
	word := &ctype.Type{Kind: ctype.Typedef, Name: "word", Elem: i64}
	hidden := &ctype.Type{Kind: ctype.Other, Name: "long double", Size: 16, Why: "is too long"}
	for name, tt := range map[string]struct {
		fields []ctype.Field
		want   string // type of the Go field; empty: the union is refused
	}{
		"one member":                 {[]ctype.Field{at("a", f64, 0)}, "float64"},
		"two names":                  {[]ctype.Field{at("len", u8, 0), at("dlc", u8, 0)}, "uint8"},
		"a typedef":                  {[]ctype.Field{at("max", i64, 0), at("word", word, 0)}, "int64"},
		"unsigned parts":             {[]ctype.Field{at("b", array(16, u8), 0), at("s", array(8, u16), 0), at("w", array(4, u32), 0)}, "[16]uint8"},
		"a struct of the same":       {[]ctype.Field{at("all", u64, 0), at("", rec("", 8, at("lo", u32, 0), at("hi", u32, 4)), 0)}, "uint64"},
		"bits of a byte":             {[]ctype.Field{at("flags", u8, 0), at("", rec("", 1, bits("a", u8, 0, 0, 3), bits("b", u8, 0, 3, 5)), 0)}, "uint8"},
		"texts of the same room":     {[]ctype.Field{at("name", array(8, text), 0), at("alias", array(8, text), 0)}, "string"},
		"a union in it":              {[]ctype.Field{at("a", u32, 0), at("u", union("", at("b", u32, 0), at("c", array(2, u16), 0)), 0)}, "uint32"},
		"the same type, unreadable":  {[]ctype.Field{at("a", i32, 0), at("b", i32, 0)}, "int32"},
		"fewer bits":                 {[]ctype.Field{at("a", u32, 0), at("b", u16, 0)}, ""},
		"bits left between":          {[]ctype.Field{at("a", u64, 0), at("", rec("", 8, at("x", u8, 0), at("y", u32, 4)), 0)}, ""},
		"a sign":                     {[]ctype.Field{at("a", i32, 0), at("b", u32, 0)}, ""},
		"parts with a sign":          {[]ctype.Field{at("a", i64, 0), at("b", array(2, i32), 0)}, ""},
		"another number":             {[]ctype.Field{at("a", i32, 0), at("b", f32, 0)}, ""},
		"text and numbers":           {[]ctype.Field{at("a", array(4, text), 0), at("b", u32, 0)}, ""},
		"pointers to different ones": {[]ctype.Field{at("a", to(i32), 0), at("b", to(f32), 0)}, ""},
		"a number too long":          {[]ctype.Field{at("a", u64, 0), at("b", hidden, 0)}, ""},
		"a union that is none":       {[]ctype.Field{at("a", u32, 0), at("u", union("", at("b", u32, 0), at("c", f32, 0)), 0)}, ""},
	} {
		named := rec("struct s", 32, at("n", i32, 0), at("u", union("", tt.fields...), 16))
		p, refused := derive(named, Options{})
		switch {
		case tt.want == "":
			if !strings.Contains(refused, "s.u (union without a name) is a union, and C does not say which member holds") {
				t.Errorf("%s: it says %q", name, refused)
			}
		case refused != "":
			t.Errorf("%s: it says %q", name, refused)
		case p.Structs[0].Fields[1].Rule.Go != tt.want || p.Structs[0].Fields[1].C != "u."+tt.fields[0].Name || p.Structs[0].Fields[1].Go != "U":
			t.Errorf("%s: %+v", name, p.Structs[0].Fields[1])
		}
		if tt.want == "" || tt.fields[0].Name == "" {
			continue
		}
		nameless := rec("struct s", 32, at("n", i32, 0), at("", union("", tt.fields...), 16))
		p, refused = derive(nameless, Options{})
		if refused != "" || p.Structs[0].Fields[1].C != tt.fields[0].Name || p.Structs[0].Fields[1].Offset != 16 {
			t.Errorf("%s, without a name: %+v, %q", name, p, refused)
		}
		if list := Members(nameless); len(list) != 2 || list[1].Name != tt.fields[0].Name || list[1].Offset != 16 {
			t.Errorf("%s: members %+v", name, list)
		}
	}
}

// TestAlikeTag checks that the members of an anonymous struct in an anonymous union belong to the struct
// around it, also as counts, and that tags can omit them or select the members of a union.
func TestAlikeTag(t *testing.T) {
	u8, i32 := num("unsigned char", ctype.Uint, 1), num("int", ctype.Int, 4)
	s := rec("struct s", 16, at("kind", i32, 0), at("", union("", at("", rec("", 2, at("n", u8, 0), at("m", u8, 1)), 0), at("", rec("", 2, at("count", u8, 0), at("most", u8, 1)), 0)), 4),
		at("data", &ctype.Type{Kind: ctype.Array, Count: 8, Elem: u8, Size: 8}, 8))
	p, refused := derive(s, Options{Tags: map[string]Tag{"s.data": {Len: "n"}}})
	if refused != "" || len(p.Structs[0].Fields) != 4 || p.Structs[0].Fields[2].C != "m" || p.Structs[0].Fields[2].Offset != 5 || p.Structs[0].Fields[3].Rule.Len.Offset != 4 {
		t.Errorf("%+v, %q", p, refused)
	}
	if p, refused = derive(s, Options{Tags: map[string]Tag{"s.m": {Skip: true}}}); refused != "" || len(p.Structs[0].Fields) != 3 {
		t.Errorf("one left out: %+v, %q", p, refused)
	}
	two := rec("struct s", 8, at("kind", i32, 0), at("u", union("", at("a", u8, 0), at("b", u8, 0)), 4))
	p, refused = derive(two, Options{Tags: map[string]Tag{"s.u": {On: "kind", Cases: map[int64]string{0: "a", 1: "b"}}}})
	if refused != "" || p.Structs[0].Fields[1].Rule.Op != Union {
		t.Errorf("a tag: %+v, %q", p, refused)
	}
}

// TestEvent checks unions with their own discriminant: one tag makes them a struct in Go, in all types
// that contain them.
func TestEvent(t *testing.T) {
	i32, u16, f32 := num("int", ctype.Int, 4), num("unsigned short", ctype.Uint, 2), num("float", ctype.Float, 4)
	key := rec("struct key", 8, at("type", i32, 0), at("code", i32, 4))
	move := rec("struct move", 12, at("head", rec("struct head", 4, at("type", i32, 0)), 0), at("x", f32, 4), at("y", f32, 8))
	odd := rec("struct odd", 4, at("a", u16, 0), at("b", u16, 2))
	ev := union("union ev", at("type", i32, 0), at("key", key, 0), at("move", move, 0), at("odd", odd, 0), at("raw", f32, 0))
	tag := func(on string, cases map[int64]string) Options {
		return Options{Word: 8, Tags: map[string]Tag{"ev": {On: on, Cases: cases}}}
	}
	queue := rec("struct queue", 28, at("n", i32, 0), at("e", &ctype.Type{Kind: ctype.Array, Count: 2, Elem: ev, Size: 24}, 4))
	p, err := Derive([]Wanted{{"queue", queue}}, tag("type", map[int64]string{2: "key", 3: "move", 4: "key"}))
	if err != nil || len(p.Structs) != 5 {
		t.Fatalf("%+v, %v", p, err)
	}
	e := p.Structs[3]
	if e.Go != "Ev" || len(e.Fields) != 2 || e.Fields[0].Go != "Type" || e.Fields[1].Rule.Go != "EvUnion" || len(e.Fields[1].Rule.Cases) != 3 || !e.Fails || e.Flat {
		t.Errorf("%+v", e)
	}
	if path, ok := FindNumber(e.Fields[1].Rule.Cases[1].Rule, 0, 4); path != ".Head.Type" || !ok {
		t.Errorf("the type in move is %q, %v", path, ok)
	}
	p, err = Derive([]Wanted{{"ev", ev}}, tag("key.type", map[int64]string{2: "move"}))
	if err != nil || p.Structs[len(p.Structs)-1].Fields[0].C != "key.type" || p.Structs[len(p.Structs)-1].Fields[0].Go != "KeyType" {
		t.Errorf("%+v, %v", p, err)
	}
	for want, tag := range map[string]Tag{
		"has the member odd, which has no number where type lies; name the members that begin with it":                  {On: "type", Cases: map[int64]string{2: "odd"}},
		"has the member raw, which has no number where key.code lies":                                                   {On: "key.code", Cases: map[int64]string{2: "raw"}},
		"has no member none; name one of its members":                                                                   {On: "type", Cases: map[int64]string{2: "none"}},
		"is counted by kind, which is no number next to it; numbers there: key.code, key.type, odd.a, odd.b, type":      {On: "kind", Cases: map[int64]string{2: "key"}},
		"has a tag that a union cannot have; there are union=MEMBER:0:first,1:second and free=FUNCTION":                 {On: "type", Cases: map[int64]string{2: "key"}, Opaque: true},
		"is a union, and nothing around it shows which member holds; where its members begin with a number that does, ": {Free: "drop"},
	} {
		if _, err := Derive([]Wanted{{"ev", ev}}, Options{Word: 8, Tags: map[string]Tag{"ev": tag}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestOmitPointers checks that pointers without a tag are omitted and listed, also in nested structs, that
// other members stay, and that other members that cannot be copied are still rejected.
func TestOmitPointers(t *testing.T) {
	i32 := num("int", ctype.Int, 4)
	text := &ctype.Type{Kind: ctype.Pointer, Size: 8, Elem: num("char", ctype.Char, 1)}
	any := &ctype.Type{Kind: ctype.Pointer, Size: 8}
	in := rec("struct in", 16, at("p", any, 0), at("n", i32, 8))
	s := rec("struct s", 80, at("n", i32, 0), at("name", text, 8), at("title", text, 16), at("many", &ctype.Type{Kind: ctype.Array, Count: 2, Elem: text, Size: 16}, 24),
		at("in", in, 40), at("", union("", at("a", any, 0), at("b", any, 0)), 56), at("u", union("", at("i", i32, 0), at("t", text, 0)), 64))
	p, refused := derive(s, Options{OmitPointers: true, Tags: map[string]Tag{"s.title": {}, "s.u": {On: "n", Cases: map[int64]string{0: "i", 1: "t"}}}})
	if want := "s.name (char *), s.many (char * [2]), in.p (void *), s.a (void *)"; refused != "" || strings.Join(p.Omitted, ", ") != want {
		t.Fatalf("left out: %v, %q", p, refused)
	}
	if last := p.Structs[1]; len(last.Fields) != 4 || last.Fields[1].C != "title" || !last.Part || !p.Structs[0].Part {
		t.Errorf("%+v", last)
	}
	if _, refused = derive(s, Options{OmitPointers: true}); !strings.Contains(refused, "s.u (union without a name) is a union") || strings.Contains(refused, "s.name") {
		t.Errorf("it says %q", refused)
	}
}
