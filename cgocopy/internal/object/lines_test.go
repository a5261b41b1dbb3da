package object

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// namesOf returns the source files of all units as lineTables and as the standard library read them.
func namesOf(t *testing.T, data *dwarf.Data) (ours, theirs []string) {
	t.Helper()
	tables := newLineTables(data)
	for r := data.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return ours, theirs
		}
		lines, err := data.LineReader(e)
		if lines == nil && err == nil {
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", e, err)
		}
		for _, f := range lines.Files() {
			if f == nil {
				f = &dwarf.LineFile{}
			}
			theirs = append(theirs, f.Name)
		}
		files, err := tables.filesOf(e)
		if err != nil {
			t.Fatal(err)
		}
		dir, _ := e.Val(dwarf.AttrCompDir).(string)
		for i := range files {
			name, err := tables.pathOf(&files[i], dir)
			if err != nil {
				t.Fatal(err)
			}
			ours = append(ours, name)
		}
	}
}

// TestLineTables checks that the names are those that the standard library reads.
func TestLineTables(t *testing.T) {
	if err := testenv.Missing("gcc"); err != nil {
		t.Skip(err)
	}
	for _, flags := range [][]string{{"-gdwarf-2"}, {"-gdwarf-3"}, {"-gdwarf-4", "-gz"}, {"-gdwarf-5"}, {"-gdwarf-5", "-gdwarf64"}, {"-gdwarf-4", "-gdwarf64"}} {
		data, _, err := openContainer(bytes.NewReader(compiled(t, flags...)))
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := namesOf(t, data)
		if !slices.Equal(ours, theirs) || len(ours) < 2 {
			t.Errorf("%q: %q, want %q", flags, ours, theirs)
		}
	}
}

// table returns a line table of a version. rest are its directories and files.
func table(version uint16, rest string) []byte {
	body := binary.LittleEndian.AppendUint16(nil, version)
	if version == 5 {
		body = append(body, 8, 0)
	}
	body = append(body, 0, 0, 0, 0, 1, 1, 0, 1) // length of the head, to the range of lines
	if version >= 4 {
		body = append(body, 1)
	}
	body = append(body, 1) // no opcodes
	body = append(body, rest...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestLineTablesAreBounded(t *testing.T) {
	huge := string(binary.AppendUvarint(nil, 1<<62))
	many := strings.Repeat("f\x00\x00\x00\x00", maxFiles+1)
	for name, c := range map[string]struct {
		version uint16
		rest    string
		want    string
	}{
		"good":              {5, "\x01\x01\x08\x01/d\x00\x02\x01\x08\x02\x0b\x01a.c\x00\x00", ""},
		"directories":       {5, "\x01\x01\x08" + huge, "more than 4194304"},
		"files":             {5, "\x00\x00\x01\x01\x08" + huge, "more than 4194304"},
		"files of nothing":  {5, "\x00\x00\x00" + huge, "more than 4194304"},
		"more than is here": {5, "\x01\x01\x08\x02/d\x00", "ends too early"},
		"form":              {5, "\x01\x01\x70\x01", "unknown form 0x70"},
		"directory":         {5, "\x00\x00\x02\x01\x08\x02\x0b\x01a.c\x00\x01", "no directory 1"},
		"text":              {5, "\x01\x01\x1f\x01\x01\x00\x00\x00", "no text at byte 1"},
		"version":           {6, "", "unknown version 6"},
		"old":               {4, "d\x00\x00a.c\x00\x01\x00\x00\x00", ""},
		"old directory":     {4, "d\x00\x00a.c\x00\x02\x00\x00\x00", "no directory 2"},
		"many":              {3, "\x00" + many, "more than 4194304"},
		"cut":               {3, "d", "ends too early"},
	} {
		tables := &lineTables{line: table(c.version, c.rest), order: binary.LittleEndian}
		files, err := tables.parseTable(0)
		if c.want == "" {
			if err != nil || len(files) == 0 || string(files[len(files)-1].name) != "a.c" {
				t.Errorf("%s: %+v, %v", name, files, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestLineTablesEndSoon checks that overlapping tables are rejected, and that a long text that many
// files share is not searched to its end for each of them.
func TestLineTablesEndSoon(t *testing.T) {
	one := table(4, "\x00a.c\x00\x00\x00\x00\x00")
	tables := &lineTables{line: slices.Concat(one, one), order: binary.LittleEndian}
	for i, want := range []bool{true, true, false} {
		if _, err := tables.parseTable(int64(i % 2 * len(one))); (err == nil) != want {
			t.Errorf("table %d: %v", i, err)
		}
	}
	tables = &lineTables{order: binary.LittleEndian, lineStr: bytes.Repeat([]byte("x"), 100<<20), line: table(5, "\x00\x00\x01\x01\x1f"+
		string(binary.AppendUvarint(nil, 1<<20))+strings.Repeat("\x00\x00\x00\x00", 1<<20))} // 100 TB in total
	files, err := tables.parseTable(0)
	if err != nil || len(files) != 1<<20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if name, err := tables.pathOf(&files[7], ""); name != "" || err != nil {
		t.Errorf("a path too long: %d bytes, %v", len(name), err)
	}
}

func TestNamesOfFilesAreBounded(t *testing.T) {
	tables, long := &lineTables{}, bytes.Repeat([]byte("x"), maxNameBytes)
	if got, err := tables.pathOf(&lineFile{dir: long, name: []byte("a.c")}, ""); got != "" || err != nil {
		t.Errorf("a path too long: %d bytes, %v", len(got), err)
	}
	var err error
	n := 0
	for ; err == nil && n <= maxNames/maxNameBytes; n++ {
		_, err = tables.pathOf(&lineFile{name: long}, "")
	}
	if err == nil || n != maxNames/maxNameBytes+1 {
		t.Errorf("after %d names: %v", n, err)
	}
	for _, c := range [][3]string{
		{"/d", "a.c", "/d/a.c"}, {"/d/", "../a.c", "/a.c"}, {"/d", "/e/a.c", "/e/a.c"}, {"", "a.c", "a.c"},
		{`C:\d`, "a.c", `C:\d\a.c`}, {"C:/d", "a.c", "C:/d/a.c"}, {`C:\d`, "D:/a.c", "D:/a.c"}, {`C:\d`, `\a.c`, `\a.c`},
	} {
		if got := joinPath(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
