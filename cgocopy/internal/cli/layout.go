package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tarebench/tare/cgocopy/internal/cc"
	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
	"github.com/tarebench/tare/cgocopy/internal/ctype"
	"github.com/tarebench/tare/cgocopy/internal/object"
)

const layoutHelp = `cgocopy layout prints the offsets and sizes of the members of structs.

  cgocopy layout game.h GameObject
  cgocopy layout -json game.h GameObject -- -Iinclude
  cgocopy layout libsensor.o Sensor

  -json   print JSON: [{name, size, align, members: [{name, type, offset, size}]}]
  -c++    the header is C++

If you name no type, it prints all structs in an object file that have a name.
`

// shape is a struct or union as -json prints it. Sizes and offsets are in bytes.
type shape struct {
	Name    string   `json:"name"`
	Size    int64    `json:"size"`
	Align   int64    `json:"align"`
	Padding int64    `json:"padding"` // bytes of a struct that belong to no member; 0 for a union
	Members []member `json:"members"`
}

type member struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Offset    int64  `json:"offset"`
	Size      int64  `json:"size"`
	BitOffset int64  `json:"bit_offset,omitempty"`
	BitSize   int64  `json:"bit_size,omitempty"`
}

func runLayout(ctx context.Context, args []string, out io.Writer) error {
	ours, compilerFlags := splitArgs(args)
	f := newFlagSet("layout")
	asJSON := f.Bool("json", false, "")
	cxx := f.Bool("c++", false, "")
	rest, err := parseFlags(f, ours)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usageErrorf("no header or object file")
	}
	var list []shape
	if isHeader(rest[0]) {
		list, err = headerShapes(ctx, rest[0], rest[1:], compilerFlags, *cxx)
	} else {
		list, err = objectShapes(rest[0], rest[1:])
	}
	if err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	return printShapes(out, list)
}

// isHeader reports whether path is a header or C source, and not an object file.
func isHeader(path string) bool {
	switch filepath.Ext(path) {
	case ".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp":
		return true
	}
	return strings.HasPrefix(path, "<")
}

func headerShapes(ctx context.Context, header string, types, compilerFlags []string, cxx bool) ([]shape, error) {
	if len(types) == 0 {
		return nil, usageErrorf("name the types to look at in %s, e.g. cgocopy layout %s GameObject", header, header)
	}
	read := cgoflags.Read
	if cxx {
		read = cgoflags.ReadCXX
	}
	flags, err := read(ctx, ".", "", nil)
	if err != nil {
		return nil, err
	}
	_, found, err := cc.Read(ctx, cc.Config{Headers: []string{header}, Types: types, Flags: append(flags, compilerFlags...), CXX: cxx})
	if err != nil {
		return nil, err
	}
	return makeShapes(types, found)
}

// objectShapes returns the shapes of types in an object file. Without types it returns all structs with a
// name.
func objectShapes(path string, types []string) ([]shape, error) {
	f, err := object.Open(path, nil)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		for _, t := range f.Types {
			if s := t.Strip(); s != nil && s.Kind == ctype.Struct && !s.Incomplete && t.Name != "" && !slices.Contains(types, t.Name) {
				types = append(types, t.Name)
			}
		}
	}
	found := map[string]*ctype.Type{}
	for _, name := range types {
		if found[name] = f.Type(name); found[name] == nil {
			return nil, &cc.UnknownError{Types: []string{name}, Headers: []string{path}, Object: true}
		}
	}
	return makeShapes(types, found)
}

// makeShapes returns the shapes of the types called names. found has the types by name. The padding of a
// struct is its size without the bytes of its members. A byte with several bit-fields counts once.
func makeShapes(names []string, found map[string]*ctype.Type) ([]shape, error) {
	var list []shape
	for _, name := range names {
		t := found[name].Strip()
		if t == nil || t.Kind != ctype.Struct && t.Kind != ctype.Union {
			return nil, fmt.Errorf("%s is no struct or union", name)
		}
		s := shape{Name: name, Size: t.Size, Align: t.Align, Members: []member{}}
		var end, used int64 // end of the members so far, and the bytes in them
		for _, m := range t.Fields {
			size := object.SizeOf(m.Type)
			s.Members = append(s.Members, member{cmp.Or(m.Name, "(without a name)"), m.Type.String(), m.Offset, size, m.BitOffset, m.BitSize})
			memberEnd := m.Offset + size
			if m.BitSize > 0 {
				memberEnd = m.Offset + (m.BitOffset+m.BitSize+7)/8
			}
			used += max(0, memberEnd-max(end, m.Offset))
			end = max(end, memberEnd)
		}
		if t.Kind == ctype.Struct {
			s.Padding = t.Size - used
		}
		list = append(list, s)
	}
	return list, nil
}

// printShapes prints a table per shape. The offset of a bit-field is BYTE:BIT.
func printShapes(out io.Writer, list []shape) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, s := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %d bytes, aligned to %d, %d of padding\n", s.Name, s.Size, s.Align, s.Padding)
		fmt.Fprintln(w, "  offset\tbytes\tmember\ttype")
		for _, m := range s.Members {
			offset, size := fmt.Sprint(m.Offset), fmt.Sprint(m.Size)
			if m.BitSize > 0 {
				offset, size = fmt.Sprintf("%d:%d", m.Offset, m.BitOffset), fmt.Sprintf("%d bits", m.BitSize)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", offset, size, m.Name, m.Type)
		}
	}
	return w.Flush()
}
