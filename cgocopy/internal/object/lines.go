package object

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
)

// lineTables reads the names of source files from the line tables of an object file. Messages about types
// name these files.
//
// [dwarf.LineReader] allocates room for as many names as a table claims to have. So a few bytes of a
// hostile file could use up all memory.
type lineTables struct {
	line, lineStr, str []byte // sections .debug_line, .debug_line_str and .debug_str
	order              binary.ByteOrder

	read  map[int64][]lineFile // files by the offset of their table
	files int                  // files and directories of all tables
	bytes int                  // bytes of all table headers
	names int                  // bytes of all paths that pathOf has made
}

// Limits for all line tables of an object file together, and for one name.
const (
	maxFiles     = 4 << 20   // files and directories
	maxNames     = 256 << 20 // bytes of paths
	maxNameBytes = 4 << 10   // of one path
)

type lineFile struct {
	dir, name []byte
	inUnitDir bool // dir is relative to the directory of the unit

	full string // path, computed by pathOf; all units of a table have the same directory
}

// newLineTables takes the sections from data by reflection: data has unpacked them, but does not export
// them.
func newLineTables(data *dwarf.Data) *lineTables {
	fields := reflect.ValueOf(data).Elem()
	section := func(name string) []byte { return fields.FieldByName(name).Bytes() }
	t := &lineTables{line: section("line"), lineStr: section("lineStr"), str: section("str"), order: binary.LittleEndian, read: map[int64][]lineFile{}}
	if fields.FieldByName("bigEndian").Bool() {
		t.order = binary.BigEndian
	}
	return t
}

// filesOf returns the source files of a unit, a compiled source file. Entries refer to a file by its index.
// It returns nil without a line table.
func (t *lineTables) filesOf(unit *dwarf.Entry) ([]lineFile, error) {
	off, ok := unit.Val(dwarf.AttrStmtList).(int64)
	if !ok || off < 0 || off >= int64(len(t.line)) {
		return nil, nil
	}
	files, done := t.read[off]
	if !done {
		var err error
		if files, err = t.parseTable(off); err != nil {
			return nil, fmt.Errorf("line table at byte %d: %w", off, err)
		}
		t.read[off] = files
	}
	return files, nil
}

// pathOf returns the path of a source file, or "" if it is too long. unitDir is the directory in which the
// unit was compiled.
func (t *lineTables) pathOf(f *lineFile, unitDir string) (string, error) {
	if f.full == "" && len(unitDir)+len(f.dir)+len(f.name) <= maxNameBytes {
		f.full = string(f.dir)
		if f.inUnitDir {
			f.full = joinPath(unitDir, f.full)
		}
		f.full = joinPath(f.full, string(f.name))
		if t.names += len(f.full); t.names > maxNames {
			return "", fmt.Errorf("names of source files of more than %d bytes", maxNames)
		}
	}
	return f.full, nil
}

// joinPath joins paths in the notation that they have, of Unix or Windows. An object file may come from
// another system.
func joinPath(dir, name string) string {
	switch {
	case dir == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) || len(name) > 1 && name[1] == ':':
		return name
	case strings.Contains(dir, `\`):
		return strings.TrimSuffix(dir, `\`) + `\` + name
	case len(dir) > 1 && dir[1] == ':':
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return path.Join(dir, name)
}

// Forms and contents of the entries of a line table of DWARF 5, tables 7.6 and 7.27.
const (
	formData2, formData4, formData8, formString, formBlock, formData1 = 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b
	formStrp, formUdata, formStrx, formStrpSup, formData16            = 0x0e, 0x0f, 0x1a, 0x1d, 0x1e
	formLineStrp, formStrx1, formStrx2, formStrx3, formStrx4          = 0x1f, 0x25, 0x26, 0x27, 0x28

	contentPath, contentDirectory = 1, 2
)

// parseTable parses the header of the table at off up to the files (DWARF 5, section 6.2.4). It rejects
// overlapping tables: in a hostile file many units could state nearly the same large table.
func (t *lineTables) parseTable(off int64) ([]lineFile, error) {
	c := &cursor{b: t.line[off:], order: t.order}
	offsetSize := 4 // bytes
	size := c.readUint(4)
	if size == 0xffffffff { // marks 64-bit DWARF; the size follows
		offsetSize, size = 8, c.readUint(8)
	}
	c.b = c.readBytes(size)
	tableSize := len(c.b)
	version := c.readUint(2)
	if c.err == nil && (version < 2 || version > 5) {
		return nil, fmt.Errorf("unknown version %d", version)
	}
	if version == 5 {
		c.readBytes(2) // sizes of addresses and of segment selectors
	}
	c.readUint(offsetSize)   // length of the header
	fixedFields := uint64(4) // from minimum_instruction_length to line_range, a byte each
	if version >= 4 {
		fixedFields++
	}
	c.readBytes(fixedFields)
	if opcodes := c.readUint(1); opcodes > 1 {
		c.readBytes(opcodes - 1) // lengths of the standard opcodes
	}
	var files []lineFile
	var err error
	if version == 5 {
		files, err = t.readEntriesV5(c, offsetSize)
	} else {
		files, err = t.readEntriesV2(c)
	}
	if err = cmp.Or(c.err, err); err != nil {
		return nil, err
	}
	if t.bytes += tableSize - len(c.b); t.bytes > len(t.line) {
		return nil, errors.New("it overlaps others")
	}
	return files, nil
}

// readEntriesV2 reads the directories and files of a table of version 2 to 4, numbered from 1. Directory 0
// is the directory of the unit.
func (t *lineTables) readEntriesV2(c *cursor) ([]lineFile, error) {
	dirs := [][]byte{nil} // the directory of the unit
	for {
		dir := c.readText()
		if len(dir) == 0 {
			break
		}
		if err := t.addFiles(1); err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	files := []lineFile{{}}
	for {
		name := c.readText()
		if len(name) == 0 {
			return files, nil
		}
		dir := c.readULEB()
		c.readULEB() // time
		c.readULEB() // size
		if dir >= uint64(len(dirs)) {
			return nil, fmt.Errorf("there is no directory %d", dir)
		}
		if err := t.addFiles(1); err != nil {
			return nil, err
		}
		files = append(files, lineFile{dir: dirs[dir], name: name, inUnitDir: true})
	}
}

// readEntriesV5 reads the directories and files of a table of version 5, numbered from 0. The table states
// the format of their entries. offsetSize is the size of an offset in bytes.
func (t *lineTables) readEntriesV5(c *cursor, offsetSize int) ([]lineFile, error) {
	type valueFormat struct{ content, form uint64 } // meaning and encoding of a value
	var lists [2][]lineFile                         // directories, files
	for i := range lists {
		format := make([]valueFormat, c.readUint(1)) // of the values of each entry
		for j := range format {
			format[j] = valueFormat{content: c.readULEB(), form: c.readULEB()}
		}
		n := c.readULEB()
		if err := t.addFiles(n); err != nil {
			return nil, err
		}
		for range n {
			var f lineFile
			for _, v := range format {
				text, number, err := t.readValue(c, v.form, offsetSize)
				if err != nil {
					return nil, err
				}
				switch v.content {
				case contentPath:
					f.name = text
				case contentDirectory:
					if number >= uint64(len(lists[0])) {
						return nil, fmt.Errorf("there is no directory %d", number)
					}
					f.dir = lists[0][number].name
				}
			}
			if c.err != nil {
				return nil, c.err
			}
			lists[i] = append(lists[i], f)
		}
	}
	return lists[1], nil
}

// readValue reads a value of an entry, a text or a number by its form. For values that no path needs it
// returns nil and 0.
func (t *lineTables) readValue(c *cursor, form uint64, offsetSize int) (text []byte, number uint64, err error) {
	switch form {
	case formString:
		return c.readText(), 0, nil
	case formStrp, formLineStrp, formStrpSup:
		off, section := c.readUint(offsetSize), t.str
		switch {
		case form == formStrpSup: // a text in another file
			return nil, 0, nil
		case form == formLineStrp:
			section = t.lineStr
		}
		if off > uint64(len(section)) {
			return nil, 0, fmt.Errorf("there is no text at byte %d", off)
		}
		rest := section[off:min(uint64(len(section)), off+maxNameBytes+1)]
		if bytes.IndexByte(rest, 0) < 0 && len(rest) > maxNameBytes {
			return rest, 0, nil // too long: pathOf returns no path for it
		}
		texts := cursor{b: rest}
		return texts.readText(), 0, texts.err
	case formUdata, formStrx:
		return nil, c.readULEB(), nil
	case formBlock:
		c.readBytes(c.readULEB())
		return nil, 0, nil
	case formData16:
		c.readBytes(16)
		return nil, 0, nil
	}
	width, ok := map[uint64]int{formData1: 1, formData2: 2, formData4: 4, formData8: 8, formStrx1: 1, formStrx2: 2, formStrx3: 3, formStrx4: 4}[form]
	if !ok {
		return nil, 0, fmt.Errorf("unknown form %#x", form)
	}
	return nil, c.readUint(width), nil
}

func (t *lineTables) addFiles(n uint64) error {
	t.files += int(min(n, maxFiles+1))
	if t.files > maxFiles {
		return fmt.Errorf("more than %d source files and directories", maxFiles)
	}
	return nil
}

// cursor reads numbers and texts from b. Reads beyond the end return zeros and set err.
type cursor struct {
	b     []byte
	order binary.ByteOrder
	err   error
}

var errCut = errors.New("it ends too early")

func (c *cursor) readBytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.err = nil, errCut
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

// readUint reads an unsigned number of at most 8 bytes.
func (c *cursor) readUint(width int) uint64 {
	var b [8]byte
	number := c.readBytes(uint64(width))
	if c.order == binary.BigEndian {
		copy(b[8-width:], number)
		return binary.BigEndian.Uint64(b[:])
	}
	copy(b[:], number)
	return binary.LittleEndian.Uint64(b[:])
}

// readULEB reads an unsigned number in LEB128, at most 64 bits.
func (c *cursor) readULEB() uint64 {
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.b, c.err = nil, errCut
		return 0
	}
	c.b = c.b[size:]
	return n
}

// readText reads a text up to a zero byte.
func (c *cursor) readText() []byte {
	end := bytes.IndexByte(c.b, 0)
	if end < 0 {
		c.b, c.err = nil, errCut
		return nil
	}
	return c.readBytes(uint64(end) + 1)[:end]
}
