package object

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Archives as ar writes them, which static libraries and Rust's .rlib are: a
// magic, and for each member a header of 60 bytes and its data, from an even
// offset on.
const (
	arMagic  = "!<arch>\n"
	arThin   = "!<thin>\n"
	arHeader = 60
)

// archiveMember is one member of an archive.
type archiveMember struct {
	name string
	data *io.SectionReader
}

// isArchive reports whether r begins as an archive does.
func isArchive(r io.ReaderAt) (bool, error) {
	magic := make([]byte, len(arMagic))
	if n, _ := r.ReadAt(magic, 0); n < len(magic) {
		return false, nil // what it is instead is found out elsewhere
	}
	if string(magic) == arThin {
		return false, errors.New("a thin archive, which only names its objects: read one of those")
	}
	return string(magic) == arMagic, nil
}

// readMembers returns the members of an archive, without its tables of symbols and names.
func readMembers(r io.ReaderAt) ([]archiveMember, error) {
	var list []archiveMember
	var long []byte // names too long for a header
	for at := int64(len(arMagic)); ; {
		head := make([]byte, arHeader)
		if n, err := r.ReadAt(head, at); n < arHeader {
			if n == 0 && errors.Is(err, io.EOF) {
				return list, nil
			}
			return nil, fmt.Errorf("archive: no whole header at %d", at)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 || string(head[58:]) != "`\n" {
			return nil, fmt.Errorf("archive: no header at %d", at)
		}
		name := strings.TrimRight(string(head[:16]), " ")
		from := at + arHeader
		at = from + size + size%2
		switch {
		case name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF"):
			continue
		case name == "//":
			if size > 1<<24 {
				return nil, fmt.Errorf("archive: %d bytes of names", size)
			}
			long = make([]byte, size)
			if _, err := r.ReadAt(long, from); err != nil {
				return nil, fmt.Errorf("archive: its names end early: %w", err)
			}
			continue
		case strings.HasPrefix(name, "#1/"): // BSD: the name is the beginning of the data
			n, err := strconv.ParseInt(name[3:], 10, 64)
			if err != nil || n < 0 || n > size || n > 1<<16 {
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
		case strings.HasPrefix(name, "/"): // an offset into the long names
			n, err := strconv.Atoi(name[1:])
			if err != nil || n < 0 || n >= len(long) {
				return nil, fmt.Errorf("archive: no name at %s", name[1:])
			}
			name, _, _ = strings.Cut(string(long[n:]), "\n")
		}
		list = append(list, archiveMember{strings.TrimSuffix(name, "/"), io.NewSectionReader(r, from, size)})
	}
}
