package object

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const source = `
typedef struct { double x, y; } Point;
enum mode { IDLE, RUN = 5, BROKEN = -1 };
struct node { struct node *next; char name[8]; Point at[2][3]; const unsigned a : 3; int b : 7; enum mode mode; union { int i; float f; } u;
	void (*call)(int, const char *); _Bool on; _Atomic int torn; short tail[]; };
struct far;
typedef struct far *Far;
struct user { Far far; struct { int p, q; } in; };
struct node one; struct user two;
int (*__cgocopy__0)(struct node *, double);
`

// compiled returns the object file of source, compiled with flags.
func compiled(tb testing.TB, flags ...string) []byte {
	tb.Helper()
	testenv.Programs(tb, "gcc")
	dir := tb.TempDir()
	path := filepath.Join(dir, "a.o")
	c := exec.Command("gcc", append(append([]string{"-x", "c", "-", "-c", "-o", path}, "-g"), flags...)...)
	c.Stdin = strings.NewReader(source)
	if out, err := c.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestFrom checks the types of an object file, and that all their names find them.
func TestFrom(t *testing.T) {
	for _, flag := range []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"} {
		f, err := readFrom(bytes.NewReader(compiled(t, flag)), nil)
		if err != nil {
			t.Fatal(err)
		}
		node := f.Type("struct node")
		if node == nil || f.Type("node") != node || f.Type("Point").Strip().Size != 16 || f.Type("none") != nil {
			t.Fatalf("%s: %+v", flag, node)
		}
		var got []string
		for _, m := range node.Fields {
			got = append(got, fmt.Sprintf("%s %d:%d+%d %s %d", m.Name, m.Offset, m.BitOffset, m.BitSize, m.Type, SizeOf(m.Type)))
		}
		want := "next 0:0+0 struct node * 8; name 8:0+0 char [8] 8; at 16:0+0 Point [2][3] 96; a 112:0+3 unsigned int 4; b 112:3+7 int 4; mode 116:0+0 enum mode 4; u 120:0+0 union without a name 4; call 128:0+0 function * 8; on 136:0+0 _Bool 1; torn 140:0+0 type without a name 0; tail 144:0+0 short [] 0"
		if flag != "-gdwarf-5" { // before it there is no word for _Atomic
			want = strings.Replace(want, "type without a name 0", "int 4", 1)
		}
		if text := strings.Join(got, "; "); f.Arch == "amd64" && text != want {
			t.Errorf("%s:\n%s\n%s", flag, text, want)
		}
		if far := f.Type("far"); !isIncomplete(far) || !isIncomplete(f.Type("Far").Strip().Elem) {
			t.Errorf("%s: %+v", flag, far)
		}
		fn := f.Anchor("__cgocopy__0")
		if fn == nil || fn.Kind != ctype.Func || len(fn.Params) != 2 || fn.Elem.String() != "int" || fn.Params[1].String() != "double" || fn.Variadic {
			t.Errorf("%s: %+v", flag, fn)
		}
	}
}

// TestMutated checks that an object file with changed bytes is read, or is an error: it causes no
// panic and no endless loop.
func TestMutated(t *testing.T) {
	n := 300
	if os.Getenv("TARE_SOAK") == "1" {
		n = 3000
	}
	r := rand.New(rand.NewPCG(6, 6))
	for _, flag := range []string{"-gdwarf-2", "-gdwarf-5"} {
		data := compiled(t, flag)
		errs := 0
		for range n {
			b := bytes.Clone(data)
			for range 1 + r.IntN(8) {
				b[64+r.IntN(len(b)-64)] = byte(r.Uint32())
			}
			f, err := readFrom(bytes.NewReader(b[:len(b)-r.IntN(2)*r.IntN(len(b)/2)]), nil)
			if err != nil {
				errs++
				continue
			}
			walk(f)
		}
		if errs == 0 || errs == n {
			t.Errorf("%s: %d of %d are errors", flag, errs, n)
		}
	}
}

// walk calls the functions that other packages call on every type.
func walk(f *File) {
	for _, t := range f.Types {
		_ = t.String()
		_ = t.Tag()
		_ = AlignOf(t)
		_ = f.Type(t.Name)
		for _, m := range t.Fields {
			_ = m.Type.String()
			_ = SizeOf(m.Type)
			_ = AlignOf(m.Type)
		}
	}
}

// FuzzFrom checks that no input makes readFrom panic or loop for ever.
func FuzzFrom(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(arMagic + "a.o/            0           0     0     644     4         `\nabcd"))
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add([]byte("MZ"))
	if err := testenv.Missing("gcc"); err == nil {
		f.Add(compiled(f, "-gdwarf-4", "-gz"))
		f.Add(compiled(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("larger than what is looked for")
		}
		file, err := readFrom(bytes.NewReader(data), nil)
		if err == nil {
			walk(file)
		}
	})
}

// header returns the header of an archive member with size bytes of data.
func header(name string, size int) string {
	return fmt.Sprintf("%-16s%-12s%-6s%-6s%-8s%-10d`\n", name, "0", "0", "0", "644", size)
}

func TestMembers(t *testing.T) {
	long := "a name of more than fifteen bytes.o"
	text := arMagic +
		header("/", 4) + "\x00\x00\x00\x00" +
		header("//", len(long)+2) + long + "/\n" + "\n" +
		header("/0", 3) + "one\n" +
		header("two.o/", 4) + "two!" +
		header("#1/8", 13) + "three.o\x00" + "three\n" +
		header("__.SYMDEF", 2) + "xx"
	list, err := readMembers(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		b := make([]byte, m.data.Size())
		if _, err := m.data.ReadAt(b, 0); err != nil {
			t.Error(err)
		}
		got = append(got, m.name+"="+string(b))
	}
	if strings.Join(got, "|") != long+"=one|two.o=two!|three.o=three" {
		t.Errorf("%q", got)
	}
	for name, text := range map[string]string{
		"cut":         arMagic + header("a.o/", 4)[:50],
		"no size":     arMagic + strings.Replace(header("a.o/", 4), "4         `", "x         `", 1),
		"no end":      arMagic + strings.Replace(header("a.o/", 4), "`\n", "xx", 1) + "abcd",
		"no name":     arMagic + header("/9", 4) + "abcd",
		"a long name": arMagic + header("#1/99", 4) + "abcd",
		"many names":  arMagic + header("//", 1<<30),
	} {
		if list, err := readMembers(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "archive: ") {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	if _, err := readFrom(strings.NewReader(arThin), nil); err == nil || !strings.Contains(err.Error(), "thin archive") {
		t.Error(err)
	}
	if _, err := readFrom(strings.NewReader(arMagic), nil); !errors.Is(err, ErrNoDWARF) {
		t.Error(err)
	}
}

// TestCircles checks that a type that only consists of itself is an error, and that a type that
// refers to itself through a struct is not.
func TestCircles(t *testing.T) {
	a := &ctype.Type{Kind: ctype.Typedef}
	b := &ctype.Type{Kind: ctype.Pointer, Elem: &ctype.Type{Kind: ctype.Array, Elem: a}}
	a.Elem = b
	if !isCircular(a) || !isCircular(b) {
		t.Error("a circle is none")
	}
	s := &ctype.Type{Kind: ctype.Struct, Size: 8}
	s.Fields = []ctype.Field{{Name: "next", Type: &ctype.Type{Kind: ctype.Pointer, Elem: s, Size: 8}}}
	if isCircular(s.Fields[0].Type) {
		t.Error("a list is a circle")
	}
	resolver := sizeResolver{state: map[*ctype.Type]int{}}
	if err := resolver.resolve(s, 0); err != nil || s.Align != 8 {
		t.Errorf("%v, aligned to %d", err, s.Align)
	}
	s.Fields[0].Type = &ctype.Type{Kind: ctype.Array, Count: 2, Elem: s}
	if err := (sizeResolver{state: map[*ctype.Type]int{}}).resolve(s, 0); err == nil {
		t.Error("a struct holds itself")
	}
	huge := &ctype.Type{Kind: ctype.Array, Count: 1 << 62, Elem: &ctype.Type{Kind: ctype.Int, Size: 8}}
	if err := (sizeResolver{state: map[*ctype.Type]int{}}).resolve(huge, 0); err == nil {
		t.Error("an array is larger than memory")
	}
}

// TestEnds checks the limit for ends of lists, and that other entries between ends reset the count.
func TestEnds(t *testing.T) {
	unit := []byte{1, byte(dwarf.TagCompileUnit), 1, 0, 0, 0} // abbreviation 1: with children, no attributes
	for _, c := range []struct {
		ends, again int
		want        string
	}{{maxEnds, 0, ""}, {maxEnds, maxEnds, ""}, {maxEnds + 1, 0, "too many lists end at once"}, {1, maxEnds + 1, "too many lists end at once"}} {
		body := []byte{4, 0, 0, 0, 0, 0, 8} // DWARF 4, addresses of 8 bytes
		for _, n := range []int{c.ends, c.again} {
			body = append(append(body, 1), make([]byte, n)...)
		}
		data, err := dwarf.New(unit, nil, nil, append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...), nil, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = (&reader{data: data}).findUnits()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d and %d ends: %v, want %q", c.ends, c.again, err, c.want)
		}
	}
}

// TestInherited checks the limit for inherited fields. Each of n classes inherits twice from the class
// before it, so that the last class has 2^n times the fields of the first.
func TestInherited(t *testing.T) {
	testenv.Programs(t, "g++")
	for n, want := range map[int]string{8: "", 9: "read DWARF: classes inherit more than 1048576 fields in all"} {
		path := filepath.Join(t.TempDir(), "a.o")
		c := exec.Command("g++", "-x", "c++", "-", "-c", "-g", "-o", path)
		c.Stdin = strings.NewReader(chain(n))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, err := Open(path, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%d classes: %v, want %q", n, err, want)
		}
	}
}

// chain returns C++ source of n classes that each inherit twice from the class before.
func chain(n int) string {
	text := "struct A0 {"
	for i := range 1024 {
		text += fmt.Sprintf(" char c%d;", i)
	}
	text += " };\n"
	for i := range n {
		text += fmt.Sprintf("struct L%d : A%d {}; struct R%d : A%d {}; struct A%d : L%d, R%d {};\n", i, i, i, i, i+1, i, i)
	}
	return text + fmt.Sprintf("A%d *one;\n", n)
}

// TestUnpacked checks that the unpacked sizes in the headers of sections are added up before any
// section is unpacked.
func TestUnpacked(t *testing.T) {
	for _, flag := range []string{"-gz=zlib", "-gz=zlib-gnu"} {
		data := compiled(t, flag)
		if _, err := readFrom(bytes.NewReader(data), nil); err != nil {
			t.Fatal(err)
		}
		e, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		packed := 0
		for _, s := range e.Sections {
			switch {
			case s.Flags&elf.SHF_COMPRESSED != 0: // a type and 4 bytes of nothing, then the size
				binary.LittleEndian.PutUint64(data[s.Offset+8:], 1<<29)
			case strings.HasPrefix(s.Name, ".zdebug_"):
				binary.BigEndian.PutUint64(data[s.Offset+4:], 1<<29)
			default:
				continue
			}
			packed++
		}
		if _, err := readFrom(bytes.NewReader(data), nil); packed < 3 || err == nil || err.Error() != "sections for debuggers of more than 1073741824 bytes when they are unpacked" {
			t.Errorf("%s, %d packed sections: %v", flag, packed, err)
		}
	}
	var sum unpackedSize
	sum.addSection(4, strings.NewReader("ZLIB\x00\x00\x00\x00\x40\x00\x00\x00"))
	if err := sum.checkSize(); err != nil {
		t.Error(err)
	}
	if sum.addSection(1, nil); sum.checkSize() == nil {
		t.Error("a byte more is not refused")
	}
}

func TestParseOffset(t *testing.T) {
	for _, tt := range []struct {
		b    []byte
		want int64
		ok   bool
	}{
		{[]byte{0x23, 8}, 8, true}, {[]byte{0x23, 0x80, 1}, 128, true}, {[]byte{0x23}, 0, false}, {[]byte{0x22, 8}, 0, false}, {[]byte{0x23, 0x80}, 0, false}, {[]byte{0x23, 1, 2}, 1, false},
	} {
		if got, ok := parseOffset(tt.b); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%x: %d, %v", tt.b, got, ok)
		}
	}
}

// TestUsual checks that the names of number types, and the positions of members, are the same for gcc
// and clang.
func TestUsual(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte("struct a {\n\tshort s; unsigned short us; long l; unsigned long ul; long long ll; unsigned long long ull;\n\tunion { int i; };\n} one;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"gcc", "clang"} {
		if err := testenv.Missing(compiler); err != nil {
			t.Log(err)
			continue
		}
		path := filepath.Join(dir, compiler+".o")
		if out, err := exec.Command(compiler, "-g", "-c", "-o", path, filepath.Join(dir, "a.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f, err := Open(path, filepath.Base)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range f.Type("a").Fields {
			got = append(got, m.Type.String()+" "+m.Pos())
		}
		want := "short a.c:2, unsigned short a.c:2, long a.c:2, unsigned long a.c:2, long long a.c:2, unsigned long long a.c:2, union without a name a.c:3"
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s", compiler, text)
		}
	}
}

// TestSplit checks the error for an object file whose types are in another file.
func TestSplit(t *testing.T) {
	for _, flag := range []string{"-gdwarf-4", "-gdwarf-5"} {
		if _, err := readFrom(bytes.NewReader(compiled(t, flag, "-gsplit-dwarf")), nil); !errors.Is(err, errSplit) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestAtomicName checks which struct names belong to atomic types.
func TestAtomicName(t *testing.T) {
	for _, c := range []struct {
		language ctype.Language
		name     string
		want     string
	}{
		{ctype.CXX, "struct std::atomic<int>", "std::atomic"},
		{ctype.CXX, "struct std::__1::atomic<bool>", "std::atomic"},
		{ctype.CXX, "struct std::atomic_flag", "std::atomic_flag"},
		{ctype.CXX, "struct std::atomic_ref<long>", "std::atomic_ref"},
		{ctype.CXX, "struct boost::atomics::atomic<int>", "boost::atomics::atomic"},
		{ctype.CXX, "struct std::atomic_thing", ""},
		{ctype.CXX, "struct geo::atomic<int>", ""},
		{ctype.CXX, "struct std::array<std::atomic<int>, 2>", ""},
		{ctype.Rust, "struct AtomicU32", "AtomicU32"},
		{ctype.Rust, "struct AtomicBool", "AtomicBool"},
		{ctype.Rust, "struct AtomicPtr<u8>", "AtomicPtr<u8>"},
		{ctype.Rust, "struct Atomic<u32>", "Atomic<u32>"},
		{ctype.Rust, "struct AtomicClock", ""},
		{ctype.C, "struct AtomicU32", ""},
	} {
		if got := atomicName(&ctype.Type{Name: c.name, Language: c.language}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.language, c.name, got, c.want)
		}
	}
}
