package object

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Static libraries and Rust's .rlib files have the format of ar: a magic number, then members. Each has a
// header of 60 bytes, at an even offset, and data.
const (
	arMagic  = "!<arch>\n"
	arThin   = "!<thin>\n" // only names the members, which are separate files
	arHeader = 60          // bytes

	maxNameTable  = 1 << 24 // bytes
	maxMemberName = 1 << 16 // bytes
)

type archiveMember struct {
	name string
	data *io.SectionReader
}

// isArchive reports whether r begins as an archive does. It rejects thin archives.
func isArchive(r io.ReaderAt) (bool, error) {
	magic := make([]byte, len(arMagic))
	if n, _ := r.ReadAt(magic, 0); n < len(magic) {
		return false, nil // too short for an archive; openContainer reports the error
	}
	if string(magic) == arThin {
		return false, errors.New("a thin archive, which only names its objects: read one of those")
	}
	return string(magic) == arMagic, nil
}

// readMembers returns the members of an archive, without the tables of symbols and of names.
func readMembers(r io.ReaderAt) ([]archiveMember, error) {
	var list []archiveMember
	var longNames []byte // names that are too long for a header
	for offset := int64(len(arMagic)); ; {
		head := make([]byte, arHeader)
		if n, err := r.ReadAt(head, offset); n < arHeader {
			if n == 0 && errors.Is(err, io.EOF) {
				return list, nil
			}
			return nil, fmt.Errorf("archive: no complete header at %d", offset)
		}
		// The header has the name in 0-15, the size of the data in 48-57 and an end mark in 58-59.
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 || string(head[58:]) != "`\n" {
			return nil, fmt.Errorf("archive: no header at %d", offset)
		}
		name := strings.TrimRight(string(head[:16]), " ")
		from := offset + arHeader
		offset = from + size + size%2
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"): // the table of symbols
			continue
		case name == "//":
			if size > maxNameTable {
				return nil, fmt.Errorf("archive: %d bytes of names", size)
			}
			longNames = make([]byte, size)
			if _, err := r.ReadAt(longNames, from); err != nil {
				return nil, fmt.Errorf("archive: its names end early: %w", err)
			}
			continue
		case strings.HasPrefix(name, "#1/"): // BSD: the name is the beginning of the data
			n, err := strconv.ParseInt(name[3:], 10, 64)
			if err != nil || n < 0 || n > size || n > maxMemberName {
				return nil, fmt.Errorf("archive: a name of %s bytes", name[3:])
			}
			b := make([]byte, n)
			if _, err := r.ReadAt(b, from); err != nil {
				return nil, fmt.Errorf("archive: a name ends early: %w", err)
			}
			name, from, size = strings.TrimRight(string(b), "\x00"), from+n, size-n
			if strings.HasPrefix(name, "__.SYMDEF") {
				continue
			}
		case strings.HasPrefix(name, "/"): // an offset into the table of names
			n, err := strconv.Atoi(name[1:])
			if err != nil || n < 0 || n >= len(longNames) {
				return nil, fmt.Errorf("archive: no name at %s", name[1:])
			}
			name, _, _ = strings.Cut(string(longNames[n:]), "\n")
		}
		list = append(list, archiveMember{strings.TrimSuffix(name, "/"), io.NewSectionReader(r, from, size)})
	}
}
